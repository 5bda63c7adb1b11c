package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/gclog/gclog/internal/host"
	"golang.org/x/sys/unix"
)

// TestOutcome: how a process ended is known before its parent reaps it and afterwards. If the
// kernel shows neither, the socket shows it.
func TestOutcome(t *testing.T) {
	signal := func(s syscall.Signal) func(*process) {
		return func(p *process) { _ = p.cmd.Process.Signal(s) }
	}
	for name, tc := range map[string]struct {
		s     spec
		end   func(*process)
		want  host.Outcome
		guess host.Outcome // without information from the kernel
	}{
		"exits": {
			spec{Sockets: []string{exact}, Exit: 3},
			func(p *process) { _ = p.hold.Close() },
			host.Outcome{Known: true, Exited: true, Code: 3},
			host.Outcome{Exited: true},
		},
		"exits with 0": {
			spec{Sockets: []string{exact}},
			func(p *process) { _ = p.hold.Close() },
			host.Outcome{Known: true, Exited: true},
			host.Outcome{Exited: true},
		},
		"is terminated": {
			spec{Sockets: []string{exact}},
			signal(syscall.SIGTERM),
			host.Outcome{Known: true, Signal: int(syscall.SIGTERM)},
			host.Outcome{},
		},
		"is killed": {
			spec{Sockets: []string{exact}},
			signal(syscall.SIGKILL),
			host.Outcome{Known: true, Signal: int(syscall.SIGKILL)},
			host.Outcome{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := run(t, tc.s)
			w, withoutStat, blind := find(t, p).Watch(), find(t, p).Watch(), find(t, p).Watch()
			defer w.Close()
			defer withoutStat.Close()
			defer blind.Close()
			withoutStat.WithoutStat()
			blind.WithoutPidfd()
			blind.WithoutStat()
			if o := w.Outcome(); o.Known || o.OOM {
				t.Errorf("while it runs: %+v", o)
			}
			tc.end(p)
			waitState(t, p.pid, "Z")
			if o := w.Outcome(); o != tc.want {
				t.Errorf("%+v, want %+v", o, tc.want)
			}
			if o := blind.Outcome(); o != tc.guess {
				t.Errorf("without the kernel: %+v, want %+v", o, tc.guess)
			}
			_ = p.cmd.Wait()
			if release := kernel(t); release < "006.015" {
				t.Skipf("this kernel, %s, is older than 6.15: it forgets how a process ended when its parent has taken notice", release)
			}
			if o := w.Outcome(); o != tc.want {
				t.Errorf("when its parent has taken notice: %+v, want %+v", o, tc.want)
			}
			if o := withoutStat.Outcome(); o != tc.want {
				t.Errorf("by pidfd alone: %+v, want %+v", o, tc.want)
			}
		})
	}
}

// kernel returns the version of the kernel, as 006.015.
func kernel(t *testing.T) string {
	t.Helper()
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		t.Fatal(err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(name.Release[:]), "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%03d.%03d", major, minor)
}

// TestOutcomeKills: if the kernel has OOM-killed processes of the group, this process counts as one
// of them if it was killed and did not end otherwise.
func TestOutcomeKills(t *testing.T) {
	signal := func(s syscall.Signal) func(*process) {
		return func(p *process) { _ = p.cmd.Process.Signal(s) }
	}
	for name, tc := range map[string]struct {
		end         func(*process)
		kills       string // at the end; "": cannot be read
		known, want bool   // OOM, if the kernel shows how the process ended
		guess       bool   // and if it does not
	}{
		"killed":                     {signal(syscall.SIGKILL), "oom_kill 3\n", true, true, true},
		"killed, and no other":       {signal(syscall.SIGKILL), "oom_kill 2\n", true, false, false},
		"killed, and nothing tells":  {signal(syscall.SIGKILL), "", true, false, false},
		"terminated":                 {signal(syscall.SIGTERM), "oom_kill 3\n", true, false, true},
		"exited":                     {func(p *process) { _ = p.hold.Close() }, "oom_kill 3\n", true, false, false},
		"killed, and some long past": {signal(syscall.SIGKILL), "oom_kill 1\n", true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := run(t, spec{Sockets: []string{exact}})
			file := filepath.Join(t.TempDir(), "memory.events")
			write := func(text string) {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("oom_kill 2\n")
			w, blind := find(t, p).Watch(), find(t, p).Watch()
			defer w.Close()
			defer blind.Close()
			w.CountKills(file)
			blind.CountKills(file)
			blind.WithoutPidfd()
			blind.WithoutStat()
			tc.end(p)
			waitState(t, p.pid, "Z")
			write(tc.kills)
			if o := w.Outcome(); o.Known != tc.known || o.OOM != tc.want {
				t.Errorf("%+v, want OOM: %v", o, tc.want)
			}
			if o := blind.Outcome(); o.Known || o.OOM != tc.guess {
				t.Errorf("without the kernel: %+v, want OOM: %v", o, tc.guess)
			}
		})
	}
}

// TestOutcomeOOM: the kernel counts the processes that it kills because memory ran out.
func TestOutcomeOOM(t *testing.T) {
	group := newGroup(t, nil)
	group.limit(t, 128<<20)
	other := run(t, spec{Sockets: []string{exact}, Group: group.dir})
	t.Cleanup(other.kill)
	p := run(t, spec{Sockets: []string{exact}, Group: group.dir, Grow: true})
	t.Cleanup(p.kill)
	w, blind, others := find(t, p).Watch(), find(t, p).Watch(), find(t, other).Watch()
	defer w.Close()
	defer blind.Close()
	defer others.Close()
	blind.WithoutPidfd()
	blind.WithoutStat()
	_ = other.cmd.Process.Signal(syscall.SIGSTOP) // it must not allocate memory when there is none
	waitState(t, other.pid, "T")
	_ = p.hold.Close()
	waitUntil(t, "process "+strconv.Itoa(p.pid)+" to be killed", func() bool { return w.Outcome().Known })
	if o, want := w.Outcome(), (host.Outcome{Known: true, Signal: int(syscall.SIGKILL), OOM: true}); o != want {
		t.Errorf("%+v, want %+v", o, want)
	}
	if o, want := blind.Outcome(), (host.Outcome{OOM: true}); o != want {
		t.Errorf("without the kernel: %+v, want %+v", o, want)
	}
	// The same group, and the process exits normally.
	_ = p.cmd.Wait()
	_ = other.cmd.Process.Signal(syscall.SIGCONT)
	other.end()
	if o := others.Outcome(); o.OOM || !o.Exited {
		t.Errorf("the other one of the group: %+v", o)
	}
}

// TestOutcomeOfNobody: a process that ended before the watch started is not mistaken for one that
// reused its pid.
func TestOutcomeOfNobody(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}})
	target := find(t, p)
	target.StartKey++
	w := target.Watch()
	defer w.Close()
	p.kill()
	if o := w.Outcome(); o.Known {
		t.Errorf("%+v", o)
	}
}
