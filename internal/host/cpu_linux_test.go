package host_test

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/host"
)

// TestThreads: the threads of a process are counted as its directory lists them. Reading does not
// allocate.
func TestThreads(t *testing.T) {
	p := run(t, spec{Sockets: []string{exact}, Threads: []string{"a", "b", "c"}})
	r := find(t, p).OpenCPU()
	defer r.Close()
	if r.Processors() < 1 || r.Runnable() < 1 { // this test runs
		t.Errorf("%d processors, %d runnable threads", r.Processors(), r.Runnable())
	}
	for list, n := []os.DirEntry(nil), 0; len(list) < 4 || len(list) != n; time.Sleep(time.Millisecond) { // one may just start
		list, _ = os.ReadDir(filepath.Join("/proc", strconv.Itoa(p.pid), "task"))
		n = r.Threads()
	}
	if n := testing.AllocsPerRun(100, func() { r.Threads(); r.Read() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	p.end()
	if n := r.Threads(); n != 0 {
		t.Errorf("%d threads after the end", n)
	}
	if _, known := r.Waited(); known {
		t.Error("what its threads waited is known after the end")
	}
}

// TestWaited: threads that share a processor wait for each other.
func TestWaited(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("this kernel does not count how long threads wait for a processor")
	}
	p := run(t, spec{Sockets: []string{exact}, Spin: "spin"})
	r := find(t, p).OpenCPU()
	defer r.Close()
	before, known := r.Waited()
	if !known {
		t.Fatal("unknown")
	}
	var more []*process
	for range 2 * r.Processors() {
		more = append(more, run(t, spec{Sockets: []string{exact}, Spin: "spin"}))
	}
	for {
		if now, known := r.Waited(); !known || now < before {
			t.Fatalf("%d after %d, known %v", now, before, known)
		} else if now-before > int64(100*time.Millisecond) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, x := range more {
		x.end()
	}
}

// TestCPUOfNobody: nothing is known about a process that has ended, nor about one that reused its pid.
func TestCPUOfNobody(t *testing.T) {
	self := new(host.Host).Inspect(os.Getpid()).Process
	for name, change := range map[string]func(*host.Process){
		"ended":          func(p *host.Process) { p.PID = 99_999_999 },
		"another since":  func(p *host.Process) { p.StartKey++ },
		"who is unknown": func(p *host.Process) { p.StartKey = 0 },
	} {
		p := self
		change(&p)
		r := p.OpenCPU()
		_, known := r.Waited()
		if x := r.Read(); x != (host.CPUReading{Pressure: -1, GroupPressure: -1, Throttled: -1, Throttles: -1}) ||
			known || r.Threads() != 0 || r.Processors() != 0 {
			t.Errorf("%s: %+v", name, x)
		}
		r.Close()
		r.Close()
	}
}

// TestGroupCPU: what is read of the files of the kernel, and that nothing is made up where they are
// missing, cut off or not numbers.
func TestGroupCPU(t *testing.T) {
	type files = map[string]string
	v1 := func(quota, stat string) files { return files{"cpu.cfs_quota_us": quota + "\n", "cpu.stat": stat} }
	v2 := func(most, stat, pressure string) files {
		return files{"cgroup.type": "domain\n", "cpu.max": most + " 100000\n", "cpu.stat": stat, "cpu.pressure": pressure}
	}
	const (
		stat1 = "nr_periods 90\nnr_throttled 7\nthrottled_time 5000000001\n"
		stat2 = "usage_usec 1\nnr_periods 90\nnr_throttled 7\nthrottled_usec 5000\nnr_bursts 0\nburst_usec 0\n"
		psi   = "some avg10=1.00 avg60=0.50 avg300=0.10 total=1200\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n"
	)
	root2 := files{"cpu.stat": stat2, "cpu.pressure": psi}
	for name, c := range map[string]struct {
		version  int
		pressure string // of the host
		dirs     []files
		want     host.CPUReading
	}{
		"nothing":             {2, "", nil, host.CPUReading{-1, -1, -1, -1}},
		"only the host":       {2, psi, []files{root2}, host.CPUReading{1200e3, -1, -1, -1}},
		"no quota":            {2, psi, []files{v2("max", stat2, psi), root2}, host.CPUReading{1200e3, 1200e3, -1, -1}},
		"a quota":             {2, "", []files{v2("50000", stat2, psi), root2}, host.CPUReading{-1, 1200e3, 5000e3, 7}},
		"two quotas":          {2, "", []files{v2("1", stat2, ""), v2("2", stat2, psi), root2}, host.CPUReading{-1, -1, 10000e3, 14}},
		"four quotas":         {2, "", []files{v2("1", stat2, ""), v2("2", stat2, ""), v2("3", stat2, ""), v2("4", stat2, "")}, host.CPUReading{-1, -1, 15000e3, 21}},
		"never throttled":     {2, "", []files{v2("1", "nr_throttled 0\nthrottled_usec 0\n", "")}, host.CPUReading{-1, -1, 0, 0}},
		"version 1":           {1, psi, []files{v1("50000", stat1), v1("-1", stat1)}, host.CPUReading{1200e3, -1, 5000000001, 7}},
		"version 1, no quota": {1, psi, []files{v1("-1", stat1)}, host.CPUReading{1200e3, -1, -1, -1}},
		"no accounting":       {1, "", []files{{"cpu.cfs_quota_us": "1\n"}}, host.CPUReading{-1, -1, -1, -1}},
		"cut off":             {2, "some avg10=1.00 total=12", []files{v2("1", "nr_throttled 7\nthrottled_usec 50", "")}, host.CPUReading{-1, -1, -1, 7}},
		"not numbers":         {2, "some total=x\n", []files{v2("1", "nr_throttled -7\nthrottled_usec \n", "full total=1\n")}, host.CPUReading{-1, -1, -1, -1}},
		"too large":           {1, "some total=18446744073709551615\n", []files{v1("1", "nr_throttled 18446744073709551616\nthrottled_time 9223372036854775807\n")}, host.CPUReading{-1, -1, math.MaxInt64, -1}},
		"huge":                {1, strings.Repeat("x", 1<<20), []files{v1("1", stat1+strings.Repeat("nr_throttled 1\n", 1<<16))}, host.CPUReading{-1, -1, 5000000001, 7 + (1024-int64(len(stat1)))/15}},
	} {
		t.Run(name, func(t *testing.T) {
			var dirs []string
			for _, f := range c.dirs {
				dirs = append(dirs, folder(t, f))
			}
			pressure := filepath.Join(folder(t, files{"cpu": c.pressure}), "cpu")
			if got := host.GroupCPU(c.version, pressure, dirs...); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// TestThrottling: a group with a quota is throttled when it wants more.
func TestThrottling(t *testing.T) {
	const groups = "/sys/fs/cgroup/cpu"
	if _, err := os.Stat(filepath.Join(groups, "cpu.cfs_quota_us")); err != nil {
		t.Skip("no control groups of version 1 for processors are mounted here")
	}
	dir, err := os.MkdirTemp(groups, "gclog")
	if err != nil {
		t.Skipf("control groups cannot be made here: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, "cpu.cfs_quota_us"), []byte("10000"), 0); err != nil {
		t.Skipf("quotas cannot be set here: %v", err)
	}
	p := run(t, spec{Sockets: []string{exact}, Group: dir, Spin: "spin"})
	t.Cleanup(p.end)
	r := find(t, p).OpenCPU()
	defer r.Close()
	first := r.Read()
	if first.Throttled < 0 || first.Throttles < 0 {
		t.Fatalf("%+v", first)
	}
	for {
		if x := r.Read(); x.Throttles >= first.Throttles+3 && x.Throttled >= first.Throttled+int64(100*time.Millisecond) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func BenchmarkCPU(b *testing.B) {
	target := new(host.Host).Inspect(os.Getpid()).Process
	r := target.OpenCPU()
	defer r.Close()
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.Read()
		}
	})
	b.Run("threads", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.Threads()
		}
	})
	b.Run("waited", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.Waited()
		}
	})
}
