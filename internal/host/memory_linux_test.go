package host_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/child"
	"golang.org/x/sys/unix"
)

// A testGroup is a memory control group created by a test.
type testGroup struct {
	dir     string
	version int
}

// newGroup creates a group below another one, or below the root of all groups if above is nil. If
// that is not possible the test is skipped.
func newGroup(t testing.TB, above *testGroup) *testGroup {
	t.Helper()
	g := &testGroup{version: 1}
	if above != nil {
		*g = *above
	} else if _, err := os.Stat("/sys/fs/cgroup/memory/memory.limit_in_bytes"); err == nil {
		g.dir = "/sys/fs/cgroup/memory"
	} else if b, err := os.ReadFile("/sys/fs/cgroup/cgroup.controllers"); err == nil && strings.Contains(string(b), "memory") {
		*g = testGroup{"/sys/fs/cgroup", 2}
	} else {
		t.Skip("no control groups for memory are mounted here")
	}
	if g.version == 2 {
		if err := os.WriteFile(filepath.Join(g.dir, "cgroup.subtree_control"), []byte("+memory"), 0); err != nil {
			t.Skipf("control groups for memory cannot be made here: %v", err)
		}
	}
	dir, err := os.MkdirTemp(g.dir, "gclog")
	if err != nil {
		t.Skipf("control groups cannot be made here: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	g.dir = dir
	return g
}

func (g *testGroup) limit(t testing.TB, bytes int) {
	t.Helper()
	write := func(name string, n int) error {
		return os.WriteFile(filepath.Join(g.dir, name), []byte(strconv.Itoa(n)), 0)
	}
	if g.version == 2 {
		_ = write("memory.swap.max", 0) // else swapped-out memory does not count; not every kernel has it
		if err := write("memory.max", bytes); err != nil {
			t.Fatal(err)
		}
		return
	}
	// The limit that includes swap must never be lower than the one without it.
	_ = write("memory.memsw.limit_in_bytes", bytes)
	if err := write("memory.limit_in_bytes", bytes); err != nil {
		t.Fatal(err)
	}
	_ = write("memory.memsw.limit_in_bytes", bytes)
}

// TestMemoryOfProcess: the resident memory is what the process has allocated.
func TestMemoryOfProcess(t *testing.T) {
	target := new(host.Host).Inspect(os.Getpid())
	r := target.OpenMemory()
	defer r.Close()
	debug.FreeOSMemory() // what earlier tests left is not returned meanwhile
	before, _, _ := r.Read()
	const size = 64 << 20
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		t.Fatal(err)
	}
	after, _, _ := r.Read()
	if grown := int64(after) - int64(before); grown < size*9/10 || grown > size*2 {
		t.Errorf("%d bytes, then %d: grown by %d, want about %d", before, after, grown, size)
	}
	if err := unix.Munmap(b); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { r.Read() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestMemoryOfGroup: the limit is the smallest of the group and its ancestors, and is read again
// each time.
func TestMemoryOfGroup(t *testing.T) {
	above := newGroup(t, nil)
	group := newGroup(t, above)
	p := run(t, spec{Sockets: []string{exact}, Group: group.dir})
	t.Cleanup(p.end) // before the group is removed
	r := find(t, p).OpenMemory()
	defer r.Close()
	if resident, _, limit := r.Read(); resident == 0 || limit != 0 {
		t.Errorf("resident %d, limit %d, want some and none", resident, limit)
	}
	for _, step := range []struct {
		group *testGroup
		limit int
		want  uint64
	}{{group, 512 << 20, 512 << 20}, {above, 256 << 20, 256 << 20}, {above, 1 << 30, 512 << 20}} {
		step.group.limit(t, step.limit)
		if _, _, limit := r.Read(); limit != step.want {
			t.Errorf("limit %d, want %d", limit, step.want)
		}
	}
	// A process that joins a group leaves its present memory in the old one; what it allocates
	// afterwards counts.
	const size = 64 << 20
	taker := run(t, spec{Sockets: []string{exact}, Group: group.dir, Take: size})
	t.Cleanup(taker.end)
	if resident, cgroup, limit := r.Read(); cgroup < size || cgroup > 2*size || resident > cgroup || limit != 512<<20 {
		t.Errorf("resident %d, the group has %d of %d, want %d of %d", resident, cgroup, limit, size, 512<<20)
	}
	p.end()
	if resident, cgroup, _ := r.Read(); resident != 0 || cgroup == 0 {
		t.Errorf("at the end: resident %d, the group has %d", resident, cgroup)
	}
}

// TestMemoryOfNobody: nothing is known about a process that has ended, nor about one that reused
// its pid.
func TestMemoryOfNobody(t *testing.T) {
	self := new(host.Host).Inspect(os.Getpid()).Process
	for name, change := range map[string]func(*host.Process){
		"ended":          func(p *host.Process) { p.PID = 99_999_999 },
		"another since":  func(p *host.Process) { p.StartKey++ },
		"who is unknown": func(p *host.Process) { p.StartKey = 0 },
	} {
		p := self
		change(&p)
		r := p.OpenMemory()
		if resident, cgroup, limit := r.Read(); resident|cgroup|limit != 0 {
			t.Errorf("%s: %d, %d, %d", name, resident, cgroup, limit)
		}
		r.Close()
		r.Close()
		if resident, _, _ := r.Read(); resident != 0 {
			t.Errorf("%s: %d after Close", name, resident)
		}
	}
}

// TestMemoryOfContainer: a container shows its groups only to processes inside it, so they are read
// from there. Files that the container has created itself are not trusted.
func TestMemoryOfContainer(t *testing.T) {
	group := newGroup(t, newGroup(t, nil))
	group.limit(t, 300<<20)
	p := inNamespaces(t, spec{Group: group.dir, Groups: group.version, Take: 8 << 20}, unix.CLONE_NEWNS)
	t.Cleanup(p.end)
	if got := memoryWithoutGroups(t, p); !strings.HasSuffix(got, " 314572800\n") || strings.Contains(got, " 0") {
		t.Errorf("%q, want three numbers, the last one 300 MB", got)
	}
	fake := inNamespaces(t, spec{Group: group.dir, Tmpfs: "/sys/fs/cgroup", Write: map[string]string{
		filepath.Join(group.dir, "memory.current"):        "1",
		filepath.Join(group.dir, "memory.max"):            "2",
		filepath.Join(group.dir, "memory.usage_in_bytes"): "3",
		filepath.Join(group.dir, "memory.limit_in_bytes"): "4",
	}}, unix.CLONE_NEWNS)
	t.Cleanup(fake.end)
	if got := memoryWithoutGroups(t, fake); !strings.HasSuffix(got, " 0 0\n") || strings.HasPrefix(got, "0") {
		t.Errorf("%q, want nothing of the group", got)
	}
}

// memoryWithoutGroups reads the memory of a process from a place where no groups are mounted.
func memoryWithoutGroups(t *testing.T, of *process) string {
	t.Helper()
	b, err := json.Marshal(spec{Tmpfs: "/sys/fs/cgroup", Memory: of.pid})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = child.Environ("process", specVariable+"="+string(b))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	return child.Output(t, cmd)
}

func BenchmarkMemory(b *testing.B) {
	target := new(host.Host).Inspect(os.Getpid()).Process
	r := target.OpenMemory()
	defer r.Close()
	b.ReportAllocs()
	for b.Loop() {
		r.Read()
	}
}
