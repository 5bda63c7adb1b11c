//go:build linux

package live

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
)

// A liveProcess is a real runtime that the daemon is to log.
type liveProcess struct {
	*gcload.Process
	name string
	host int    // its pid in the host's namespace
	log  string // the file of its log
	end  func() // ends it
	want string // what its last record must contain
	// What it has not sent when it ends is lost.
	abrupt   bool
	reported int // collections in its log before its end
}

// liveNode starts processes of all kinds: one of each runtime, and of the first runtime also some
// that are hard to find, and some that do not exit normally.
type liveNode struct {
	t         *testing.T
	unique    string
	processes []*liveProcess
}

func (n *liveNode) start(r *gcload.Runtime, flavour, name string, wrap func(exe string, args, env []string) *exec.Cmd) *liveProcess {
	n.t.Helper()
	knobs, args := program.Load(r, flavour)
	args = append(args, "--rate", "40") // per process: all of them together must leave the machine some CPU time
	env := append(r.Environment(os.Environ(), flavour, knobs...), "OTEL_SERVICE_NAME="+n.unique+"-"+name)
	var cmd *exec.Cmd
	if wrap == nil {
		cmd = exec.Command(r.Program(flavour), append(args, "--wait")...)
		cmd.Env = append(env, "TMPDIR="+program.SocketDir(n.t))
	} else {
		cmd = wrap(r.Program(flavour), append(args, "--wait"), env)
	}
	p, err := gcload.StartCommand(cmd)
	if err != nil {
		n.t.Fatalf("%s: %v", name, err)
	}
	n.t.Cleanup(p.Kill)
	x := &liveProcess{Process: p, name: name, host: hostPID(n.t, cmd.Process.Pid)}
	x.want, x.end = `"reason":"exited"`, func() { _ = p.Exit(0) }
	n.processes = append(n.processes, x)
	return x
}

// hostPID returns the pid of a process, or of the process that it has started in other namespaces.
func hostPID(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	if f := strings.Fields(string(b)); len(f) > 0 && isUnshare(pid) {
		child, err := strconv.Atoi(f[0])
		if err != nil {
			t.Fatal(err)
		}
		return child
	}
	return pid
}

func isUnshare(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return err == nil && string(b) == "unshare\n"
}

// apart runs a program in mount and pid namespaces of its own, with its own /tmp and with tmp as
// its temporary directory.
func apart(tmp string) func(exe string, args, env []string) *exec.Cmd {
	return func(exe string, args, env []string) *exec.Cmd {
		// The program may be below the /tmp that is hidden.
		script := `mount --bind "${0%/*}" /mnt && mount -t tmpfs none /tmp && mkdir -p "$TMPDIR" && exec "/mnt/${0##*/}" "$@"`
		flags := append(strings.Fields(program.Namespaces("--mount", "--pid", "--fork", "--kill-child", "--mount-proc"))[1:], "sh", "-c", script, exe)
		cmd := exec.Command("unshare", append(flags, args...)...)
		cmd.Env = append(env, "TMPDIR="+tmp)
		return cmd
	}
}

// TestLiveDaemon runs the daemon with real runtimes of all available versions: it finds all of
// them, wherever they are, loses no collection when their level changes under load, and reports how
// each process ended.
func TestLiveDaemon(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	n := &liveNode{t: t, unique: "live" + strings.ToLower(rand.Text()[:10])}
	list := runtimes(t)
	for _, r := range list {
		n.start(r, "wks", r.Name+"-wks", nil)
		if everyCell() && r.Has("svr") {
			n.start(r, "svr", r.Name+"-svr", nil)
		}
	}
	// Not .NET Core 3.1, which may wait for itself forever when a session is stopped (docs/reliability.md).
	first := list[max(0, slices.IndexFunc(list, func(r *gcload.Runtime) bool { return r.Major > 3 }))]
	exits := n.start(first, "wks", "exits", nil)
	exits.want, exits.end = `"exit_code":3`, func() { _ = exits.Exit(3) }
	killed := n.start(first, "wks", "killed", nil)
	killed.want, killed.end, killed.abrupt = `"reason":"killed"`, killed.Kill, true
	if program.IsRoot() && program.MountWorks() && program.PIDNamespaceWorks() {
		n.start(first, "wks", "apart", apart("/tmp"))
		// The path of its socket has the maximum length, so the path through /proc/PID/root is too
		// long.
		long := n.start(first, "wks", "long", apart("/tmp/"+strings.Repeat("x", 107-len("/tmp//dotnet-diagnostic-1-1234567890-socket"))))
		if long.PID == long.host {
			t.Errorf("the process is in no namespace of its own")
		}
	} else {
		t.Log("without namespaces: these take root")
	}
	if group := memoryGroup(t); group != nil {
		x := n.start(first, "wks", "oom", group.wrap)
		x.want, x.end, x.abrupt = `"reason":"oom-killed"`, func() { group.exhaust(t, x) }, true
	} else {
		t.Log("without an end for want of memory: that takes root and a group for memory that can be written to")
	}

	dir := t.TempDir()
	config := func(level string) string {
		return fmt.Sprintf("discovery: {interval: 200ms, include: [{process: %q}]}\nsession: {level: %s}\noutputs: [{path: %s/%%s.json, filecount: 0}]\nhttp: {listen: \"\"}\n",
			n.unique+"-*", level, dir)
	}
	d := program.StartDaemon(t, dir, config("normal"))
	for _, p := range n.processes {
		p.log = filepath.Join(dir, n.unique+"-"+p.name+".json")
		program.WaitForFile(t, p.log, "gc-session-start")
	}
	type marks struct{ begin, end *gcload.Line }
	between := map[*liveProcess]marks{}
	for _, p := range n.processes {
		begin, err := p.Mark("a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Send("start"); err != nil {
			t.Fatal(err)
		}
		between[p] = marks{begin: begin}
	}
	collections := func(atLeast int) {
		t.Helper()
		program.Eventually(t, "collections", func() bool {
			for _, p := range n.processes {
				if len(recordsOf(t, p.log, "gc")) < atLeast {
					return false
				}
			}
			return true
		})
	}
	starts := func(count int) {
		t.Helper()
		program.Eventually(t, fmt.Sprintf("%d sessions with each", count), func() bool {
			for _, p := range n.processes {
				if len(recordsOf(t, p.log, "gc-session-start")) < count {
					return false
				}
			}
			return true
		})
	}
	collections(5)
	d.Reload(t, config("full"))
	starts(2)
	d.Reload(t, config("normal"))
	starts(3)
	for _, p := range n.processes {
		if err := p.StandStill(); err != nil {
			t.Fatal(err)
		}
		end, err := p.Mark("b")
		if err != nil {
			t.Fatal(err)
		}
		between[p] = marks{between[p].begin, end}
	}
	for _, p := range n.processes {
		if p.abrupt {
			last := uint32(between[p].end.Gen0)
			program.Eventually(t, fmt.Sprintf("collection #%d of %s", last, p.name), func() bool {
				return slices.ContainsFunc(recordsOf(t, p.log, "gc"), func(r liveRecord) bool { return r.number == last })
			})
		}
		p.reported = len(recordsOf(t, p.log, "gc"))
		p.end()
	}
	for _, p := range n.processes {
		m := between[p]
		program.Eventually(t, "the end of "+p.name, func() bool { return len(recordsOf(t, p.log, "gc-session-end")) == 3 })
		ends := recordsOf(t, p.log, "gc-session-end")
		if !bytes.Contains(ends[2].line, []byte(p.want)) {
			t.Errorf("%s: its end has no %s: %s", p.name, p.want, ends[2].line)
		}
		checkLive(t, p, m.begin, m.end)
	}
	d.Stop(t)
	for line := range bytes.Lines(d.Log()) {
		if bytes.Contains(line, []byte(`"message":"inspecting `)) {
			continue // processes of others, with file systems that do not answer; ours have been logged
		}
		for _, said := range []string{`"level":"error"`, "cannot", "could not"} {
			if bytes.Contains(line, []byte(said)) {
				t.Errorf("the daemon said: %s", line)
			}
		}
	}
}

// checkLive compares the log of a process with the process's own account.
func checkLive(t *testing.T, p *liveProcess, begin, end *gcload.Line) {
	t.Helper()
	first, last := begin.Gen0, end.Gen0 // of collections: each counts as one of gen0
	times := map[uint32]int{}
	for i, r := range recordsOf(t, p.log, "gc") {
		times[r.number]++
		if r.pid != p.host {
			t.Fatalf("%s: the record tells process %d, not %d", p.name, r.pid, p.host)
		}
		if i < p.reported && (r.rss == 0 || r.rss > 16<<30) {
			t.Fatalf("%s: #%d tells %d bytes of memory", p.name, r.number, r.rss)
		}
	}
	// The runtime numbers its collections from 1.
	for number := first + 1; number <= last; number++ {
		if n := times[uint32(number)]; n != 1 {
			t.Errorf("%s: collection #%d of #%d to #%d is in the log %d times:\n%s", p.name, number, first+1, last, n,
				logAround(t, p.log, uint32(number)))
		}
	}
	for number, n := range times {
		if n > 1 {
			t.Errorf("%s: collection #%d is in the log %d times", p.name, number, n)
		}
	}
	if gaps := recordsOf(t, p.log, "gc-gap"); len(gaps) > 0 {
		t.Errorf("%s: something is missing: %s", p.name, gaps[0].line)
	}
	t.Logf("%s: %d collections", p.name, last-first)
}

// logAround returns the part of a log from the record of the collection before number to that of the one
// after it.
func logAround(t *testing.T, path string, number uint32) []byte {
	var part [][]byte
	from, to := 0, -1
	for _, r := range recordsOf(t, path, "") {
		part = append(part, r.line)
		switch r.number {
		case number - 1:
			from = len(part) - 1
		case number + 1:
			to = len(part)
		}
	}
	if to < from {
		to = len(part)
	}
	return bytes.Join(part[from:to], nil)
}

// A liveRecord contains what the test needs from a record.
type liveRecord struct {
	line   []byte
	number uint32
	pid    int
	rss    uint64
}

// recordsOf reads the records of an action; "": all.
func recordsOf(t *testing.T, path, action string) (list []liveRecord) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var r struct {
			Event   struct{ Action string }
			Process struct {
				PID    int
				Memory struct{ RSS unit }
			}
			DotNet struct{ GC struct{ Number uint32 } }
		}
		if !bytes.HasSuffix(line, []byte("\n")) { // it is being written
			break
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v in %s", path, err, line)
		}
		if action == "" || r.Event.Action == action {
			list = append(list, liveRecord{line, r.DotNet.GC.Number, r.Process.PID, r.Process.Memory.RSS.Bytes})
		}
	}
	return list
}

// A liveGroup is a control group for the memory of a process.
type liveGroup struct {
	dir   string
	limit string // file of the limit
}

// memoryGroup creates a group, or returns nil where that is not possible.
func memoryGroup(t *testing.T) *liveGroup {
	t.Helper()
	for _, g := range []liveGroup{{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"}} {
		dir, err := os.MkdirTemp(g.dir, "gclog-live-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { _ = syscall.Rmdir(dir) })
		g.dir = dir
		if f, err := os.OpenFile(filepath.Join(g.dir, g.limit), os.O_WRONLY, 0); err == nil {
			_ = f.Close()
			return &g
		}
	}
	return nil
}

// wrap runs a program in the group.
func (g *liveGroup) wrap(exe string, args, env []string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-c", `echo $$ >"$GROUP/cgroup.procs" && exec "$0" "$@"`, exe}, args...)...)
	cmd.Env = append(env, "GROUP="+g.dir, "TMPDIR="+os.TempDir())
	return cmd
}

// exhaust makes the process ask for more memory than the limit.
func (g *liveGroup) exhaust(t *testing.T, p *liveProcess) {
	t.Helper()
	const limit = 256 << 20
	if err := os.WriteFile(filepath.Join(g.dir, g.limit), []byte(strconv.Itoa(limit)), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Send("leak 1000000"); err == nil {
		t.Errorf("it has a gigabyte where there are %d bytes", limit)
	}
}
