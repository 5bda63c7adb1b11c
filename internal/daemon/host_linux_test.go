package daemon

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/command"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/fakenode"
	"github.com/rs/zerolog"
)

// The tests here use real processes in real time.

// peerVariable contains the ports that a peer connects to.
const peerVariable = "GCLOG_DAEMON_TEST_PEER"

func TestMain(m *testing.M) {
	if code, isSupervisor := command.Supervise(os.Args); isSupervisor {
		os.Exit(code)
	}
	fakenode.Main()
	if ports := os.Getenv(peerVariable); ports != "" {
		peer(ports)
	}
	os.Exit(m.Run())
}

// peer is a program with a runtime that connects to ports, until its input ends. It reports when it
// is running.
func peer(ports string) {
	stream, err := fakeruntime.DemoStream()
	if err == nil {
		var r *fakeruntime.Runtime
		if r, err = fakeruntime.Start(fakeruntime.Config{Listener: &pipes{closed: make(chan struct{})}, Version: "8.0.0", Ports: ports, Stream: stream, Name: "peer"}); err == nil {
			<-r.Running()
			fmt.Println("running")
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// startPeer starts a peer, and returns when it is running.
func startPeer(t *testing.T, ports string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "peer-of-the-test")
	cmd.Env = append(os.Environ(), peerVariable+"="+ports)
	cmd.Stderr = os.Stderr
	child.Start(t, cmd)
	return cmd
}

// shortDir returns a folder whose name is short enough for sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "d")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// newHostNode returns a host with fake processes, and its folder, which becomes the temporary
// directory.
func newHostNode(t *testing.T) (*fakenode.Node, string) {
	t.Helper()
	dir := shortDir(t)
	n := fakenode.New(dir, 1)
	t.Cleanup(n.Close)
	t.Setenv("TMPDIR", dir)
	return n, dir
}

func startRuntime(t *testing.T, n *fakenode.Node, name string, env ...string) *fakenode.Runtime {
	t.Helper()
	r, err := n.Start(fakenode.Config{Name: name, Version: "8.0.0", Env: env})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// socketOf returns the socket of a runtime.
func socketOf(t *testing.T, dir string, r *fakenode.Runtime) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("dotnet-diagnostic-%d-*-socket", r.PID())))
	if err != nil || len(list) != 1 {
		t.Fatalf("its sockets are %q, %v", list, err)
	}
	return list[0]
}

// configured parses a configuration.
func configured(t *testing.T, text string) *config.Loaded {
	t.Helper()
	file := filepath.Join(t.TempDir(), "gclog.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A watched is a running daemon.
type watched struct {
	*Daemon
	t    *testing.T
	said lines
	stop func()
}

// runDaemon runs a daemon until the test ends.
func runDaemon(t *testing.T, c *config.Loaded) *watched {
	t.Helper()
	w := &watched{t: t}
	w.Daemon = New(Options{
		Config: c, Log: zerolog.New(&w.said), Version: "1", Session: "s", Host: "h",
		Load:    func() (*config.Loaded, error) { return c, nil },
		Explain: func(_ context.Context, _ *host.Target, err error) error { return err },
	})
	w.ending.shutdown = unhurried
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	w.stop = func() {
		cancel()
		if err, ok := <-ended; ok && err != nil {
			t.Error(err)
		}
		close(ended)
		w.stop = func() {}
	}
	t.Cleanup(func() { w.stop() })
	return w
}

// unhurried leaves the end of a daemon more time than the work takes on a busy machine. TestStop has
// the times themselves.
var unhurried = shutdown{time.Minute, time.Minute, time.Minute, time.Minute, 2 * time.Minute, 3 * time.Minute, time.Minute}

// await waits until a condition holds in the loop, with a long timeout: a loaded machine must not
// fail the test.
func (w *watched) await(what string, is func() bool) {
	w.t.Helper()
	ok := false
	for deadline := time.Now().Add(30 * time.Second); !ok; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) || !w.ask(w.t.Context(), func() { ok = is() }) {
			w.t.Fatalf("it is waited in vain for %s; the daemon says\n%s", what, w.said.take())
		}
	}
}

// in returns the status of a process; its state is "" if it is unknown.
func (w *watched) in(pid int) (s Status) {
	for _, x := range w.Daemon.status().Processes {
		if x.PID == pid {
			return x
		}
	}
	return s
}

// TestHost: existing processes are found, and new ones as soon as they have created their sockets;
// those that cannot be reached are reported.
func TestHost(t *testing.T) {
	n, dir := newHostNode(t)
	there, mute := startRuntime(t, n, "there"), startRuntime(t, n, "mute", "DOTNET_EnableDiagnostics=0")
	if err := os.Remove(socketOf(t, dir, mute)); err != nil {
		t.Fatal(err)
	}
	w := runDaemon(t, configured(t, fmt.Sprintf(`version: 1
discovery: {interval: 1000h, include: [{command_line: %q}]}
outputs: [{path: "%s/%%p.json"}]
control: {socket: ""}
`, n.Pattern(), dir)))
	w.await("the first", func() bool { return w.discovery.swept && w.in(there.PID()).State == "on" && w.ready.Load() })
	w.await("one that cannot be reached", func() bool {
		list := w.Daemon.status().Unreachable
		return len(list) == 1 && list[0].PID == mute.PID() && list[0].State == "unreachable" && list[0].Why != ""
	})
	come := startRuntime(t, n, "come")
	w.await("one that comes", func() bool { return w.in(come.PID()).State == "on" })
	come.Exit(4)
	w.await("its end", func() bool { return w.in(come.PID()).State == "" })
	w.stop()
	said := w.said.take()
	for _, want := range []string{
		`"unreachable":1,"message":"ready"`, `"message":"cannot reach a .NET process: `, `"exit_code":4`, `"message":"ending"`, `"message":"gclog daemon stopped`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %s, but\n%s", want, said)
		}
	}
}

// TestPeers: processes that connect to a port are resumed and logged, once each, and those beyond
// the limit wait for a place.
func TestPeers(t *testing.T) {
	dir := shortDir(t)
	port := filepath.Join(dir, "p")
	w := runDaemon(t, configured(t, fmt.Sprintf(`version: 1
discovery: {interval: 1000h, listen: [%q], max_processes: 1, include: [{command_line: "*peer-of-the-test*"}]}
outputs: [{path: "%s/%%p.json"}]
control: {socket: ""}
`, port, dir)))
	w.await("the port", func() bool { return w.discovery.swept })
	first := startPeer(t, port+",suspend")
	w.await("the first", func() bool { return w.in(first.Process.Pid).State == "on" })
	second := startPeer(t, port+",suspend") // it is running, so it was resumed
	w.await("the second", func() bool { return len(w.queue.waiters) == 1 })
	w.await("the first alone", func() bool {
		for _, x := range w.queue.waiters {
			if x.peer == nil || x.peer.PID != second.Process.Pid {
				t.Errorf("%+v waits", x)
			}
		}
		return w.in(second.Process.Pid).State == ""
	})
	// The sweeper finds the first one too.
	known, err := new(host.Host).Describe(first.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	w.await("the same again", func() bool {
		w.found(&host.Target{Process: *known}, nil)
		places, _ := w.places()
		return places == 1 && w.in(first.Process.Pid).State == "on"
	})
	_ = first.Process.Kill()
	_, _ = first.Process.Wait()
	w.await("the place", func() bool { return w.in(second.Process.Pid).State == "on" && w.in(first.Process.Pid).State == "" })
	w.await("nobody to wait", func() bool { return len(w.queue.waiters) == 0 })
	_ = second.Process.Kill()
	_, _ = second.Process.Wait()
	w.await("the end", func() bool { return w.in(second.Process.Pid).State == "" })
	w.stop()
	said := w.said.take()
	for _, want := range []string{
		fmt.Sprintf(`{"level":"info","path":%q,"message":"listening on a diagnostic port"}`, port),
		"more than 1 processes (discovery.max_processes = 1): the rest are not logged",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %s, but\n%s", want, said)
		}
	}
	if strings.Contains(said, "cannot resume a process") {
		t.Errorf("it says %s", said)
	}
}

// TestRejected: connections that a port cannot accept are reported, each count once.
func TestRejected(t *testing.T) {
	dir := shortDir(t)
	path := filepath.Join(dir, "p")
	w := runDaemon(t, configured(t, fmt.Sprintf(`version: 1
discovery: {interval: 1000h, listen: [%q], include: [{pid: "0"}]}
control: {socket: ""}
`, path)))
	w.await("the port", func() bool { return w.discovery.swept })
	for i := range 6 { // of one process
		r, err := fakeruntime.Start(fakeruntime.Config{Listener: &pipes{closed: make(chan struct{})}, Version: "8.0.0", Ports: path + ",suspend", Instance: uint16(i), Stream: recording(t)})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		<-r.Running()
	}
	w.await("some to be turned away", func() bool { return w.ports.byPath[path].Rejected() > 0 })
	w.await("that", func() bool {
		w.tick()
		return true
	})
	said := w.said.take()
	if !strings.Contains(said, fmt.Sprintf("connections to %s rejected so far", path)) || strings.Contains(said, `"message":"0 connections`) {
		t.Errorf("it says %s", said)
	}
	var x *port
	w.await("it", func() bool {
		x = w.ports.byPath[path]
		return true
	})
	w.stop() // so that no more arrive
	w.ports.byPath[path] = x
	w.ports.tick()
	before := *w.limiter.things["port "+path]
	if w.ports.tick(); *w.limiter.things["port "+path] != before {
		t.Error("the same number is told again")
	}
}

// TestOnce: what the daemon would do is reported for each process, without a session.
func TestOnce(t *testing.T) {
	n, dir := newHostNode(t)
	// The kernel shows 15 bytes of a name: anything longer is what the process reports about
	// itself.
	const more, shown = "-with-a-long-name", 15
	var list []*fakenode.Runtime
	for name, env := range map[string][]string{
		"plain": nil, "named": {"OTEL_SERVICE_NAME=shop"}, "ignored": {"GCLOG_IGNORE=1"}, "refused": nil, "excluded": {"OTEL_SERVICE_NAME=bank"}, "mute": {"DOTNET_EnableDiagnostics=0"}, "silent": nil, "plain2": nil, "plain3": nil, "plain4": nil,
	} {
		r := startRuntime(t, n, name+more, env...)
		list = append(list, r)
		switch name {
		case "mute":
			if err := os.Remove(socketOf(t, dir, r)); err != nil {
				t.Fatal(err)
			}
		case "silent":
			r.Garble(time.Hour)
		}
	}
	text := fmt.Sprintf(`version: 1
discovery: {max_processes: %%d, include: [{command_line: %q}], exclude: [{command_line: "refused*"}, {service: bank}]}
services: [{match: {service: shop}, name: store, level: full}]
outputs: [{path: "%[2]s/%%%%s-%%%%p-%%%%hn.json"}, {path: "%[2]s/%%%%p.csv", only: [{service: store}]}]
control: {socket: ""}
`, n.Pattern(), dir)
	explained := fmt.Errorf("explained")
	for _, most := range []int{10, 1} {
		c := configured(t, fmt.Sprintf(text, most))
		verdicts, err := Once(t.Context(), Options{
			Config: c, Host: "h", Processes: &host.Host{}, Explain: func(context.Context, *host.Target, error) error { return explained },
		})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]Verdict{}
		logged := 0
		for _, v := range verdicts {
			for _, r := range list {
				if r.PID() == v.PID {
					got[r.Ledger().Name] = v
				}
			}
			if v.Why == "" {
				logged++
			}
		}
		if want := min(most, 5); logged != want {
			t.Errorf("%d are logged, want %d: %+v", logged, want, verdicts)
		}
		for _, r := range list {
			v, name := got[r.Ledger().Name], strings.TrimSuffix(r.Ledger().Name, more)
			file := func(pattern string) string { return fmt.Sprintf(dir+"/"+pattern, r.PID()) }
			want := Verdict{PID: r.PID(), Process: name + more}
			switch name {
			case "plain", "plain2", "plain3", "plain4":
				want.Service, want.Level, want.Outputs = name+more, "normal", []string{file(name + more + "-%d-h.json")}
			case "named":
				want.Service, want.Level, want.Outputs = "store", "full", []string{file("store-%d-h.json"), file("%d.csv")}
			case "ignored":
				want.Why = "it was started with GCLOG_IGNORE=1"
			case "refused":
				want.Why = "excluded by discovery.exclude[0] (" + c.File + ":2)"
			case "excluded":
				want.Service, want.Why = "bank", "excluded by discovery.exclude[1] ("+c.File+":2)"
			case "silent":
				want.Why = "explained"
			case "mute":
				want.Why = v.Why
				if v.Why == "" || strings.HasPrefix(v.Why, "process ") {
					t.Errorf("mute: %q", v.Why)
				}
			}
			if most == 1 && want.Why == "" && v.Why != "" {
				want.Level, want.Why = "", "more processes than discovery.max_processes = 1"
			}
			asked := name != "mute" && name != "ignored" && name != "refused"
			if !asked || name == "silent" { // it has not reported what it runs
				want.Process = want.Process[:shown]
			}
			if !reflect.DeepEqual(v, want) {
				t.Errorf("%s: %+v, want %+v", name, v, want)
			}
			if n := r.RequestsOf(os.Getpid()); (n > 0) != asked {
				t.Errorf("%s was asked %d times", name, n)
			}
			if n := len(r.Ledger().Sessions); n != 0 {
				t.Errorf("%s has had %d sessions", name, n)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Once(ctx, Options{Config: configured(t, fmt.Sprintf(text, 1)), Processes: &host.Host{}}); err == nil {
		t.Error("an end that was asked for is no error")
	}
}
