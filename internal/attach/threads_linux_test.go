package attach

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/session"
)

// TestServerThreads: the names of its threads show whether CoreCLR uses server GC. Their absence
// means something only in versions that name them.
func TestServerThreads(t *testing.T) {
	server := func(flavor, version string) gclog.Known {
		p := gclog.Process{Flavor: flavor}
		target := &host.Target{Process: alive(t)}
		target.Environ = map[string]string{}
		var info *session.ProcessInfo
		if version != "" {
			info = &session.ProcessInfo{Version: version}
		}
		settingsFromOutside(t.Context(), t.Context(), target, info, &p)
		return p.Server
	}
	expect := func(what string, want map[string]gclog.Known) {
		t.Helper()
		for version, want := range want {
			if self := alive(t); want == gclog.Unknown && self.Processors() == 1 {
				want = gclog.No
			}
			if got := server(gclog.FlavorCoreCLR, version); got != want {
				t.Errorf("%s, %q: %v, want %v", what, version, got, want)
			}
		}
	}
	expect("it is starting", map[string]gclog.Known{"8.0.1": gclog.Unknown})
	thread(t, ".NET Finalizer")
	expect("no such threads", map[string]gclog.Known{
		"7.0.1": gclog.Unknown, "8.0.1": gclog.No, "10.0.1": gclog.No, "11.0.0": gclog.No, "": gclog.Unknown,
	})
	if self := alive(t); self.Processors() > 1 {
		for version, want := range map[string]gclog.Known{"9.0.1": gclog.Unknown, "10.0.12": gclog.No, "11.0.0": gclog.No} {
			if got := server(gclog.FlavorNativeAOT, version); got != want {
				t.Errorf("NativeAOT %s without such threads: %v, want %v", version, got, want)
			}
		}
	}
	thread(t, ".NET Server GC")
	expect("one", map[string]gclog.Known{"7.0.1": gclog.Yes, "8.0.1": gclog.Yes, "11.0.0": gclog.Yes, "": gclog.Yes})
	if got := server(gclog.FlavorNativeAOT, "10.0.12"); got != gclog.Yes {
		t.Errorf("a NativeAOT program: %v", got)
	}
}

// TestOpenEarly: a runtime that has not finished its startup gets a session only from a caller that
// knows that no other port suspends it.
func TestOpenEarly(t *testing.T) {
	thread(t, ".NET EventPipe")
	for early, begins := range map[bool]bool{true: true, false: false} {
		synctest.Test(t, func(t *testing.T) {
			target := onStage(t, fakeruntime.Config{Version: "8.0.1"}, (*stage).untilStopped)
			s, err := Open(t.Context(), target, SessionOptions{Config: configOf(t, "light"), Early: early})
			if _, refused := errors.AsType[*host.TargetError](err); refused == begins || begins && err != nil {
				t.Errorf("early %v: %v", early, err)
			}
			if s != nil {
				s.discard()
			}
		})
	}
}

// thread runs a thread with a name until the test ends.
func thread(t *testing.T, name string) {
	t.Helper()
	named, end, ended := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		before, err := os.ReadFile("/proc/thread-self/comm")
		named <- errors.Join(err, os.WriteFile("/proc/thread-self/comm", []byte(name), 0))
		<-end
		_ = os.WriteFile("/proc/thread-self/comm", before, 0)
	}()
	t.Cleanup(func() {
		close(end)
		<-ended
	})
	if err := <-named; err != nil {
		t.Fatal(err)
	}
}

// TestWalkRefusal: NativeAOT walks its heap from .NET 10 on, and .NET 10 with server GC crashes of that: it
// must be known that a program of that version has none.
func TestWalkRefusal(t *testing.T) {
	self := alive(t)
	const never, perhaps, server = "neither collects nor walks its heap", "may be a NativeAOT program of .NET 10 with server GC", "is a NativeAOT program of .NET 10 with server GC"
	expect := func(what string, want map[[2]string]string) {
		t.Helper()
		for process, want := range want {
			err := WalkRefusal(&self, &gclog.Process{Flavor: process[0], RuntimeVersion: process[1]})
			switch {
			case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("%s, %q: %v, want %q", what, process, err, want)
			}
		}
	}
	const native, core = gclog.FlavorNativeAOT, gclog.FlavorCoreCLR
	expect("any", map[[2]string]string{
		{core, ""}: "", {core, "3.1.3"}: "", {core, "10.0.14"}: "", {core, "11.0.0"}: "", {"", ""}: "", {"", "9.0.1"}: "",
		{native, ""}: never, {native, "8.0.33"}: never, {native, "9.0.22"}: never, {native, "11.0.0"}: "", {native, "12.0.0"}: "",
	})
	expect("it is starting", map[[2]string]string{{native, "10.0.12"}: perhaps, {"", "10.0.12"}: perhaps})
	thread(t, ".NET Finalizer")
	expect("without server GC", map[[2]string]string{{native, "10.0.12"}: "", {"", "10.0.12"}: ""})
	thread(t, ".NET Server GC")
	expect("with server GC", map[[2]string]string{
		{native, "10.0.12"}: server, {native, "10.0.0-rc.1"}: server, {"", "10.0.12"}: perhaps, {native, "11.0.0"}: "", {core, "10.0.14"}: "",
	})
}
