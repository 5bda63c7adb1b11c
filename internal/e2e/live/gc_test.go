//go:build linux

package live

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
)

// TestLiveInduce makes each runtime collect, in a process in which another tool has a session too,
// and compares the number of collections with the program's own count.
func TestLiveInduce(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	for _, c := range cells(t, "wks", "svr") {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			liveInduce(t, c.Runtime, c.flavour)
		})
	}
}

func liveInduce(t *testing.T, r *gcload.Runtime, flavour string) {
	p, err := r.Start(program.SocketDir(t), flavour, nil, "idle", "--quiet")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if _, err := p.Send("leak 100000"); err != nil {
		t.Fatal(err)
	}
	gen2 := func(label string) int {
		l, err := p.Mark(label)
		if err != nil {
			t.Fatal(err)
		}
		return l.Gen2
	}
	begin := gen2("begin")
	gclog := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, messages bytes.Buffer
		cmd := exec.Command("gclog", append([]string{"gc", strconv.Itoa(p.PID)}, args...)...)
		cmd.Stdout, cmd.Stderr = &out, &messages
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Fatalf("gclog gc %v ended with %d, want %d: %s", args, got, want, &messages)
		}
		return out.String(), messages.String()
	}
	if p.Ready.AOT && r.Major < 10 {
		if _, stderr := gclog(4, "--wait"); !strings.Contains(stderr, "is a NativeAOT program") {
			t.Errorf("it says %q", stderr)
		}
		if n := gen2("end") - begin; n != 0 {
			t.Errorf("%d collections", n)
		}
		return
	}
	each := 2 // one when the session begins, one when it ends
	major, _, _ := strings.Cut(p.Ready.Runtime, ".")
	if n, err := strconv.Atoi(major); err == nil && n >= 10 {
		each = 1
	}
	stdout, stderr := gclog(0, "--wait", "-f", "json")
	var record struct {
		DotNET struct {
			GC struct {
				Generation   int
				Type, Reason string
				Complete     bool
				Pause        struct{ Total struct{ NS int64 } }
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &record); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	if gc := record.DotNET.GC; gc.Generation != 2 || gc.Type != "blocking" || gc.Reason != "Induced" || !gc.Complete || gc.Pause.Total.NS <= 0 {
		t.Errorf("the record is %s", stdout)
	}
	if n := gen2("first") - begin; n != each {
		t.Errorf("%d collections, want %d", n, each)
	}
	if reported := strings.Contains(stderr, "when the request ended"); reported != (each == 2) {
		t.Errorf("it says %q", stderr)
	}
	if _, stderr := gclog(0); !strings.Contains(stderr, "full blocking collection: GC ") {
		t.Errorf("it says %q", stderr)
	}
	if n := gen2("second") - begin; n != 2*each {
		t.Errorf("%d collections, want %d", n, 2*each)
	}
	if err := p.Exit(0); err != nil {
		t.Errorf("the program: %v", err)
	}
}
