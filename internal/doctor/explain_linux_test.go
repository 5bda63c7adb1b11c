package doctor

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/session"
)

// TestHangUp: a process that closes a connection may be about to exit, because connections of a
// killed process are closed before it exits. Only if it continues to run does it not answer as a
// runtime does.
func TestHangUp(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := (&host.Host{}).Describe(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	target := &host.Target{Process: *p}
	hangUp := &session.AnswerError{Command: "ProcessInfo3", Err: syscall.ECONNRESET}
	if got := CauseOf(Explain(t.Context(), target, hangUp)); got != "hang-up" {
		t.Errorf("a process that goes on: %q", got)
	}
	explained := make(chan error)
	go func() { explained <- Explain(t.Context(), target, hangUp) }()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	err = <-explained
	if gone, ok := errors.AsType[*host.TargetError](err); !ok || gone.Cause != host.CauseNoSuchProcess || CauseOf(err) != "no-process" {
		t.Errorf("a process that ends: %v", err)
	}
}
