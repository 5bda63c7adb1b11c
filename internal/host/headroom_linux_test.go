package host_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/host"
	"golang.org/x/sys/unix"
)

// rooms returns the limits of a kind.
func rooms(p *host.Target, of string) []host.Room {
	return slices.DeleteFunc(p.Rooms(), func(r host.Room) bool { return r.Of != of })
}

// TestRoomsOfProcess: the limits of the process, with what it uses of each, and the memory of the
// host. No limit is none.
func TestRoomsOfProcess(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}, Take: 32 << 20})
	t.Cleanup(p.end)
	target := find(t, p)
	if list := rooms(target, "the process"); len(list) != 0 {
		t.Errorf("%+v without limits", list)
	}
	const data, space = 1 << 40, 1 << 42
	for which, limit := range map[int]uint64{unix.RLIMIT_DATA: data, unix.RLIMIT_AS: space} {
		if err := unix.Prlimit(p.pid, which, &unix.Rlimit{Cur: limit, Max: limit}, nil); err != nil {
			t.Fatal(err)
		}
	}
	list := rooms(target, "the process")
	if len(list) != 2 {
		t.Fatalf("%+v, want two limits", list)
	}
	used := map[uint64]uint64{data: kilobytes(t, p.pid, "VmData") + kilobytes(t, p.pid, "VmStk"), space: kilobytes(t, p.pid, "VmSize")}
	for _, r := range list {
		const grows = 64 << 20 // meanwhile
		if want, ok := used[r.Limit]; !ok || r.Used+grows < want || r.Used > want+grows || r.Free() != r.Limit-r.Used {
			t.Errorf("%+v, want %d used", r, want)
		}
	}

	var host unix.Sysinfo_t
	if err := unix.Sysinfo(&host); err != nil {
		t.Fatal(err)
	}
	total := host.Totalram * uint64(host.Unit)
	if list := rooms(target, "the host"); len(list) != 1 || list[0].Limit != total || list[0].Used == 0 || list[0].Used >= total {
		t.Errorf("the host: %+v, want %d bytes", list, total)
	}
}

// kilobytes returns a value of /proc/PID/status, in bytes.
func kilobytes(t *testing.T, pid int, name string) (bytes uint64) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if n, _ := fmt.Sscanf(line, name+": %d kB", &bytes); n == 1 {
			return bytes << 10
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

// TestRoomsOfGroup: the limits of the group and of the one above it, without what the kernel can
// reclaim at once.
func TestRoomsOfGroup(t *testing.T) {
	above := newGroup(t, nil)
	group := newGroup(t, above)
	group.limit(t, 512<<20)
	above.limit(t, 640<<20)
	const size = 64 << 20
	p := run(t, spec{Sockets: []string{exact}, Group: group.dir, Take: size})
	t.Cleanup(p.end)
	list := rooms(find(t, p), "its control group")
	if len(list) != 2 {
		t.Fatalf("%+v, want two limits", list)
	}
	for i, limit := range []uint64{512 << 20, 640 << 20} {
		if r := list[i]; r.Limit != limit || r.Used < size || r.Used > 2*size {
			t.Errorf("%+v, want a limit of %d with %d used", r, limit, size)
		}
	}
}

// TestRoomsOfNobody: the limits of a process that has ended are unknown.
func TestRoomsOfNobody(t *testing.T) {
	p := host.Process{PID: 99_999_999}
	if list := p.Rooms(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	if n := p.PrivateMemory(); n != 0 {
		t.Errorf("%d bytes of memory", n)
	}
}

// TestFree: more than the limit may be in use, if the limit was set later.
func TestFree(t *testing.T) {
	for used, want := range map[uint64]uint64{0: 100, 99: 1, 100: 0, 101: 0} {
		if n := (&host.Room{Limit: 100, Used: used}).Free(); n != want {
			t.Errorf("%d of 100 used: %d free, want %d", used, n, want)
		}
	}
}
