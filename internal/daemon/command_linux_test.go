package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// runAsGclog is what this program does when a test runs it as gclog: what the first argument says.
func runAsGclog(args []string) {
	switch args[0] {
	case "environ":
		for _, e := range os.Environ() {
			fmt.Println(e)
		}
	case "speak":
		fmt.Fprint(os.Stderr, "gclog: one\n\ngclog: two\x1b[2J\nthree")
		fmt.Print("result")
	case "fail":
		fmt.Fprint(os.Stderr, "gclog: it begins\ngclog: it fails\n")
		os.Exit(1)
	case "flood":
		for range 1000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("x", 100_000))
			fmt.Println(strings.Repeat("x", 100_000))
		}
	case "wait":
		fmt.Fprintln(os.Stderr, "ready\nset")
		time.Sleep(time.Minute) // ended by a signal
	}
	os.Exit(0)
}

// TestCommand: a command is this program with its own environment; its messages are passed on
// without what a terminal acts on, and its last one is the error instead if it fails.
func TestCommand(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "1MiB")
	t.Setenv("GCLOG_SESSION__LEVEL", "full")
	t.Setenv("TMPDIR", t.TempDir())
	run := func(ctx context.Context, what string) (string, []string, error) {
		var said []string
		out, err := runSelf(ctx, []string{what}, []string{"GCLOG_CONTROL__SOCKET=/run/x"}, func(s string) { said = append(said, s) })
		return string(out), said, err
	}
	out, _, err := run(t.Context(), "environ")
	if err != nil || !strings.Contains(out, "GCLOG_CONTROL__SOCKET=/run/x\n") || !strings.Contains(out, "TMPDIR="+os.Getenv("TMPDIR")+"\n") || strings.Contains(out, "GOMEMLIMIT") || strings.Contains(out, "GCLOG_SESSION") {
		t.Errorf("%v: %s", err, out)
	}
	if out, said, err := run(t.Context(), "speak"); err != nil || out != "result" || !slices.Equal(said, []string{"one", "two\uFFFD[2J", "three"}) {
		t.Errorf("%q, %q, %v", out, said, err)
	}
	if _, said, err := run(t.Context(), "fail"); err == nil || err.Error() != "it fails" || !slices.Equal(said, []string{"it begins"}) {
		t.Errorf("%q, %v", said, err)
	}
	_, said, err := run(t.Context(), "flood")
	if err == nil || !strings.Contains(err.Error(), "printed more than") || len(said) != commandLines || len([]rune(said[0])) != commandLineSize+1 {
		t.Errorf("%d lines, %v", len(said), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	began := time.Now()
	_, err = runSelf(ctx, []string{"wait"}, nil, func(string) { cancel() })
	if err == nil || time.Since(began) > 30*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	if _, _, err := run(ctx, "speak"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: started although nobody waits for it", err)
	}
}
