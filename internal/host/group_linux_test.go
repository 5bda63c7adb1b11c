package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/syscalls"
	"golang.org/x/sys/unix"
)

// folder creates a directory with files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestDecimal: a number in the kernel's format is parsed if it is valid and not too large.
func TestDecimal(t *testing.T) {
	for text, want := range map[string]uint64{
		"0": 0, "9": 9, "10": 10, "4711": 4711, "18446744073709551609": 1<<64 - 7, "18446744073709551615": 1<<64 - 1,
		"18446744073709551616": 0, "18446744073709551620": 0, "36893488147419103232": 0, "184467440737095516150": 0,
		"": 0, "max": 0, "1/": 0, "1:": 0, "-1": 0, "1x1": 0,
	} {
		if got := host.Decimal(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestReadStatus: what is read of a process before its kind is known.
func TestReadStatus(t *testing.T) {
	for text, want := range map[string]struct {
		process, uid, inner int
		err                 error
	}{
		"Name:\tx\nTgid:\t7\nUid:\t1\t2\t3\t4\nNSpid:\t7\t5\t3\n":     {7, 2, 3, nil},
		"Name:\tx\nTgid:\t7\nUid:\t1\t2\nNSpid:\t7\n":                 {7, 2, 7, nil},
		"Name:\tx\nTgid:\t7\nUid:\t1\t2":                              {7, 2, 7, nil},
		"Name:\tx\nTgid:\t7\nUid:\t1\t2\nNSpid:\t7\tx\n":              {7, 2, 7, nil},
		"Name:\tx\nTgid:\t7\nUid:\t1\n":                               {err: unix.EIO},
		"Name:\tx\nUid:\t1\t2\n":                                      {err: unix.EIO},
		"Name:\tx\nTgid:\tx\nUid:\t1\t2\n":                            {err: unix.EIO},
		"Name:\tx\nXTgid:\t8\nTgid:\t7\nTgid:\t9\nUid:\t1\t2\t3\t4\n": {7, 2, 7, nil},
		"": {err: unix.EIO},
	} {
		process, uid, inner, err := host.ReadStatus(folder(t, map[string]string{"status": text}))
		if process != want.process || uid != want.uid || inner != want.inner || !errors.Is(err, want.err) {
			t.Errorf("%q: process %d (%d) of user %d, error %v; want %+v", text, process, inner, uid, err, want)
		}
	}
	if _, _, _, err := host.ReadStatus(t.TempDir()); !errors.Is(err, unix.ENOENT) {
		t.Errorf("without a file: %v", err)
	}
	for text, want := range map[string]error{statText("app", "S", "0", "4711"): nil, "1 (app) S 1 2": unix.EIO, "1 (app)": unix.EIO, "": unix.EIO} {
		if start, err := host.ReadStat(folder(t, map[string]string{"stat": text})); !errors.Is(err, want) || want == nil && start != 4711 {
			t.Errorf("%q: start %d, error %v, want %v", text, start, err, want)
		}
	}
	if _, err := host.ReadStat(t.TempDir()); !errors.Is(err, unix.ENOENT) {
		t.Errorf("without a file: %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "stat"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := host.ReadStat(dir); !errors.Is(err, unix.EISDIR) {
		t.Errorf("what cannot be read: %v", err)
	}
}

// TestReadBounded: files of any length are read up to their limit, to the byte, and no further.
func TestReadBounded(t *testing.T) {
	for _, more := range []int{0, 1} {
		// padded returns a file whose last byte is exactly at the limit, or after it.
		padded := func(name string, size int, before, pad, end string) string {
			n := size - len(before) - len(end) + more
			return folder(t, map[string]string{name: before + strings.Repeat(pad, n/len(pad)) + pad[:n%len(pad)] + end})
		}
		status := padded("status", 1<<20, "Name:\tx\nTgid:\t7\nUid:\t1\t2\nGroups:\t", "1 ", "\nNSpid:\t7\t53")
		if _, _, inner, err := host.ReadStatus(status); err != nil || inner != []int{53, 5}[more] {
			t.Errorf("%d more: a status with the number %d, error %v", more, inner, err)
		}
		group := padded("cgroup", 64<<10, "", "1:a:/\n", "\n0::/app")
		if path, _, _ := host.GroupPath(group); path != []string{"/app", "/ap"}[more] {
			t.Errorf("%d more: the group %q", more, path)
		}
		mounts := padded("mountinfo", 1<<20, "", "x\n", "\n30 20 0:26 / /point rw - ext4 x r")
		if got := len(host.ReadMounts(mounts)); got != []int{1, 0}[more] {
			t.Errorf("%d more: %d mounts", more, got)
		}
		stat := padded("stat", 2048, "1 (", "x", ") S"+strings.Repeat(" 0", 18)+" 4711")
		if start, err := host.ReadStat(stat); err != nil || start != []uint64{4711, 471}[more] {
			t.Errorf("%d more: a start of %d, error %v", more, start, err)
		}
	}
}

// TestGroupPath: of the hierarchies of a process the one with the memory controller counts, and
// that of version 2 only if there is none.
func TestGroupPath(t *testing.T) {
	for text, want := range map[string]struct {
		path    string
		version int
	}{
		"0::/app\n":                  {"/app", 2},
		"0::/app":                    {"/app", 2},
		"0::/\n":                     {"/", 2},
		"0::/a:b\n":                  {"/a:b", 2},
		"4:memory:/app\n0::/other\n": {"/app", 1},
		"0::/other\n4:memory:/app\n": {"/app", 1},
		"4:cpu,memory:/a:b\n":        {"/a:b", 1},
		"4:memory,cpu:/app\n":        {"/app", 1},
		"4:memoryx:/app\n":           {},
		"4:cpu,cpuacct:/app\n":       {},
		"1:name=systemd:/app\n":      {},
		"1::/app\n":                  {},
		"0:cpu:/app\n":               {},
		"memory:/app\n":              {},
		"0:/app\n0::/x\n":            {"/x", 2},
		"":                           {},
	} {
		path, version, ok := host.GroupPath(folder(t, map[string]string{"cgroup": text}))
		if path != want.path || version != want.version || ok != (want.version != 0) {
			t.Errorf("%q: %q, version %d, %v; want %q, version %d", text, path, version, ok, want.path, want.version)
		}
	}
	if path, version, ok := host.GroupPath(t.TempDir()); path != "" || version != 0 || ok {
		t.Errorf("without a file: %q, version %d, %v", path, version, ok)
	}
}

// TestOpenGroup: the directories of a group are opened as far up as they are mounted for gclog,
// else for the process, and only those of the kernel.
func TestOpenGroup(t *testing.T) {
	group := newGroup(t, nil)
	steps := 2 // the process's group and the root, where all groups are mounted
	path := "/" + filepath.Base(group.dir)
	line := map[int]string{1: "5:memory:", 2: "0::"}[group.version]
	for name, tc := range map[string]struct {
		files map[string]string
		want  int
	}{
		"ours":          {map[string]string{"cgroup": line + path + "\n"}, steps},
		"the root":      {map[string]string{"cgroup": line + "/\n"}, 1},
		"a missing one": {map[string]string{"cgroup": line + path + "-\n"}, 0},
		"no group":      {map[string]string{"cgroup": "1:name=systemd:/\n"}, 0},
		"nothing known": {nil, 0},
	} {
		syscalls.LeavesNothing(t, os.Getpid(), func() {
			if got := host.OpenGroup(folder(t, tc.files)); got != tc.want {
				t.Errorf("%s: %d folders, want %d", name, got, tc.want)
			}
		})
	}
}

// TestGroupMounts: where memory control groups are mounted.
func TestGroupMounts(t *testing.T) {
	line := func(system, options string) string {
		return "30 20 0:26 / /sys/fs/cgroup rw,relatime shared:4 - " + system + " cgroup " + options
	}
	for text, want := range map[string][2]bool{
		line("cgroup2", "rw,nsdelegate"):    {false, true},
		line("cgroup2", "rw,memory"):        {false, true},
		line("cgroup", "rw,memory"):         {true, false},
		line("cgroup", "rw,cpu,memory,pid"): {true, false},
		line("cgroup", "rw,cpu"):            {false, false},
		line("cgroup", "rw,memory_x"):       {false, false},
		line("tmpfs", "rw,memory"):          {false, false},
	} {
		if got := [2]bool{host.HasMemory(text, 1), host.HasMemory(text, 2)}; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestGroupMemory: the group that accounts for a process, and its limits. Its ancestors follow, up
// to the root, which accounts for nothing.
func TestGroupMemory(t *testing.T) {
	type files = map[string]string
	type result struct {
		usage, limit, kills uint64
		known               bool
	}
	none := files{"cgroup.procs": "1\n"}
	events := func(n string) string { return "low 1\noom 7\noom_kill " + n + "\noom_group_kill 8\n" }
	v1 := func(usage, limit string) files {
		return files{"memory.usage_in_bytes": usage + "\n", "memory.limit_in_bytes": limit + "\n", "memory.oom_control": "oom_kill_disable 0\nunder_oom 9\noom_kill 2\n"}
	}
	const noLimit = "9223372036854771712"
	rootV1 := v1("99", noLimit)
	rootV1["release_agent"] = "\n"
	for name, tc := range map[string]struct {
		version int
		dirs    []files
		want    result
	}{
		"no limit":      {2, []files{{"memory.current": "100\n", "memory.max": "max\n", "memory.events": events("0")}, none}, result{100, 0, 0, true}},
		"its own limit": {2, []files{{"memory.current": "100\n", "memory.max": "200\n", "memory.events": events("3")}, none}, result{100, 200, 3, true}},
		"one above": {2, []files{
			{"memory.current": "100\n", "memory.max": "200\n"},
			{"memory.current": "110\n", "memory.max": "150\n", "memory.events": events("4")},
			{"memory.current": "120\n", "memory.max": "180\n"},
		}, result{100, 150, 0, false}},
		"the one above accounts for it": {2, []files{
			none,
			{"memory.current": "110\n", "memory.max": "300\n", "memory.events": events("4")},
			{"memory.current": "120\n", "memory.max": "max\n", "memory.events": events("5")},
		}, result{110, 300, 4, true}},
		"nobody accounts":            {2, []files{none, none}, result{}},
		"no group at all":            {2, nil, result{}},
		"a limit of nothing":         {2, []files{{"memory.current": "1\n", "memory.max": "0\n"}}, result{1, 0, 0, false}},
		"a limit of a byte":          {2, []files{{"memory.current": "1\n", "memory.max": "1\n"}}, result{1, 1, 0, false}},
		"the largest limit":          {2, []files{{"memory.current": "1\n", "memory.max": "1152921504606846975\n"}}, result{1, 1<<60 - 1, 0, false}},
		"more than there can be":     {2, []files{{"memory.current": "1\n", "memory.max": "1152921504606846976\n"}}, result{1, 0, 0, false}},
		"version 1":                  {1, []files{v1("100", "200"), rootV1}, result{100, 200, 2, true}},
		"version 1, no limit":        {1, []files{v1("100", noLimit), v1("110", noLimit)}, result{100, 0, 2, true}},
		"version 1, one above":       {1, []files{v1("100", noLimit), v1("110", "150")}, result{100, 150, 2, true}},
		"version 1, the root":        {1, []files{rootV1}, result{}},
		"version 1 with files of 2":  {1, []files{{"memory.current": "100\n", "memory.max": "200\n", "memory.events": events("3")}}, result{}},
		"version 2 with files of 1":  {2, []files{v1("100", "200")}, result{}},
		"version 2, release_agent":   {2, []files{{"release_agent": "", "memory.current": "7\n"}}, result{usage: 7}},
		"a count that is not there":  {2, []files{{"memory.current": "1\n", "memory.events": "oom 1\noom_kills 3\nxoom_kill 4\n"}}, result{usage: 1}},
		"a count that is all":        {2, []files{{"memory.current": "1\n", "memory.events": "oom_kill 12"}}, result{1, 0, 12, true}},
		"a count at the end of many": {2, []files{{"memory.current": "1\n", "memory.events": strings.Repeat("max 1\n", 80) + "oom_kill 12\n"}}, result{1, 0, 12, true}},
	} {
		var dirs []string
		for _, f := range tc.dirs {
			dirs = append(dirs, folder(t, f))
		}
		var got result
		if got.usage, got.limit, got.kills, got.known = host.GroupMemory(tc.version, dirs...); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

// TestGroupPlanted: a file mounted over a file of a group is not opened.
func TestGroupPlanted(t *testing.T) {
	if !child.First(t) {
		return
	}
	dir := folder(t, map[string]string{"memory.current": "1\n", "memory.max": "2\n", "other": "3\n"})
	if _, limit, _, _ := host.GroupMemory(2, dir); limit != 2 {
		t.Errorf("a limit of %d", limit)
	}
	over := filepath.Join(dir, "memory.max")
	if err := unix.Mount(filepath.Join(dir, "other"), over, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(over, 0)
	if usage, limit, _, _ := host.GroupMemory(2, dir); usage != 1 || limit != 0 {
		t.Errorf("%d bytes, and a limit of %d", usage, limit)
	}
}

// TestResidentMemory: the second number of a statm, in pages.
func TestResidentMemory(t *testing.T) {
	page := uint64(os.Getpagesize())
	for text, want := range map[string]uint64{
		"1000 25 3 4 5 6 7\n": 25 * page, "1 2": 2 * page, " 1  2 ": 2 * page, "7\n": 0, "": 0, "1 x 3": 0,
		strings.Repeat("1", 20) + " " + strings.Repeat("0", 15) + "77 1": 77 * page,
	} {
		if got := host.ResidentMemory(filepath.Join(folder(t, map[string]string{"statm": text}), "statm")); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
