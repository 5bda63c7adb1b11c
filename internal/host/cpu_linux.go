package host

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strconv"

	"golang.org/x/sys/unix"
)

// A CPUReader reads how much a process, its control group and its host want processors. It keeps the
// files open, so that Read takes microseconds and does not allocate. It must not be used by several
// goroutines at once.
type CPUReader struct {
	tasks         int   // directory of the process's threads
	all           int   // file with the pressure of the host
	groupPressure int   // file with that of the group
	throttling    []int // files of the group and its ancestors, of those with a quota
	processors    int
	buf           []byte
}

// A CPUReading is what the kernel has counted until some moment. It does not count everything
// everywhere: -1 is unknown.
type CPUReading struct {
	// Pressure is how long any thread of the host has waited for a processor, GroupPressure the same of
	// the process's control group, in nanoseconds (PSI, "some").
	Pressure, GroupPressure int64
	// Throttled is for how long control groups of the process were kept from running by their quotas, in
	// nanoseconds, summed over their processors; Throttles is in how many periods.
	Throttled, Throttles int64
}

// maxThrottling is how many groups of a process are read, its own first.
const maxThrottling = 3

// OpenCPU opens the files. A value whose file cannot be opened is unknown. The group is the one that
// the process is in now. Close the result.
func (p *Process) OpenCPU() *CPUReader {
	r, err := look(context.Background(), p,
		func() (*CPUReader, error) { return p.openCPU(), nil }, (*CPUReader).Close)
	if err != nil {
		return newCPUReader()
	}
	return r
}

func newCPUReader() *CPUReader {
	return &CPUReader{tasks: noFile, all: noFile, groupPressure: noFile, buf: make([]byte, 1024)}
}

func (p *Process) openCPU() *CPUReader {
	r := newCPUReader()
	proc, err := p.openProc()
	if err != nil {
		return r
	}
	defer closeFile(&proc)
	r.tasks, _ = openAs(proc, "task", openRead|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	r.processors = p.Processors()
	r.all, _ = openIn(unix.AT_FDCWD, procRoot+"/pressure/cpu")
	g := openGroup(proc, p.guard(proc), cpuController)
	defer g.close()
	r.groupPressure, r.throttling = g.openCPU()
	return r
}

// openCPU opens the file with the pressure of the group, and those with the throttling of the group and
// its ancestors.
func (g *group) openCPU() (pressure int, throttling []int) {
	pressure = noFile
	for i, dir := range g.dirs {
		if i == 0 && g.version == 2 && hasGroupFile(dir, "cgroup.type") { // the root, the whole host, has not
			pressure = openGroupFile(dir, "cpu.pressure")
		}
		if len(throttling) == maxThrottling || !g.hasQuota(dir) {
			continue
		}
		if fd := openGroupFile(dir, "cpu.stat"); fd != noFile {
			throttling = append(throttling, fd)
		}
	}
	return pressure, throttling
}

// hasQuota reports whether a group may use processors for part of the time only.
func (g *group) hasQuota(dir int) bool {
	name := "cpu.max" // quota and period, or max and the period
	if g.version == 1 {
		name = "cpu.cfs_quota_us" // or -1
	}
	fd := openGroupFile(dir, name)
	defer closeFile(&fd)
	var buf [64]byte
	word, _ := nextWord(readAgain(fd, buf[:]))
	return decimal(word) > 0
}

// Processors returns how many processors the process could use when the reader was opened, 0 if that is
// unknown.
func (r *CPUReader) Processors() int { return r.processors }

// Read reads what the kernel has counted.
func (r *CPUReader) Read() CPUReading {
	x := CPUReading{r.stalled(r.all), r.stalled(r.groupPressure), -1, -1}
	for _, fd := range r.throttling {
		x.addThrottling(readAgain(fd, r.buf))
	}
	return x
}

// Runnable returns how many threads of the host run or wait for a processor at the moment, 0 if that is
// unknown.
func (r *CPUReader) Runnable() int {
	// 0.20 0.18 0.12 1/80 11206: the fourth is how many threads are runnable, and how many there are.
	load, _ := readIn(unix.AT_FDCWD, procRoot+"/loadavg", r.buf)
	for range 3 {
		_, load = nextWord(load)
	}
	n, _, _ := bytes.Cut(load, []byte("/"))
	return int(decimal(bytes.TrimSpace(n)) & math.MaxInt32)
}

// stalled reads the first line of a file about pressure: some avg10=0.00 avg60=0.00 avg300=0.00
// total=1200, which is in microseconds.
func (r *CPUReader) stalled(fd int) int64 {
	line, _, whole := bytes.Cut(readAgain(fd, r.buf), []byte("\n"))
	_, total, ok := bytes.Cut(line, []byte(" total="))
	us, isNumber := count(total)
	if !whole || !ok || !isNumber || !bytes.HasPrefix(line, []byte("some ")) {
		return -1
	}
	return us * 1000
}

// addThrottling adds a cpu.stat, whose times are in nanoseconds in version 1, otherwise in microseconds.
func (x *CPUReading) addThrottling(stat []byte) {
	add := func(sum *int64, n int64) { *sum = max(0, *sum) + n }
	for len(stat) > 0 {
		line, rest, whole := bytes.Cut(stat, []byte("\n"))
		stat = rest
		name, value, ok := bytes.Cut(line, []byte(" "))
		n, isNumber := count(value)
		if !whole || !ok || !isNumber {
			continue
		}
		switch string(name) {
		case "nr_throttled":
			add(&x.Throttles, n)
		case "throttled_time":
			add(&x.Throttled, n)
		case "throttled_usec":
			add(&x.Throttled, n*1000)
		}
	}
}

// count parses a number that a counter has.
func count(b []byte) (n int64, ok bool) {
	v := decimal(b)
	return int64(min(v, math.MaxInt64)), v <= math.MaxInt64 && (v > 0 || string(b) == "0")
}

// Threads returns how many threads the process has, 0 if that is unknown. It does not allocate: the
// kernel counts them among the links of their directory.
func (r *CPUReader) Threads() int {
	const own = 2 // of any directory
	return max(0, int(status(r.tasks).Nlink)-own)
}

// Waited returns how long the threads of the process have been runnable without a processor, in
// nanoseconds in all. known is false if the kernel does not say. What threads have waited that have
// ended is not in it. It takes microseconds for each thread.
func (r *CPUReader) Waited() (ns int64, known bool) {
	n := 0
	if _, err := unix.Seek(r.tasks, 0, unix.SEEK_SET); err != nil {
		return 0, false
	}
	var names []string
	list, path := make([]byte, 4096), make([]byte, 0, 32)
	for n < maxThreads {
		got, err := unix.ReadDirent(r.tasks, list)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || got <= 0 {
			break
		}
		_, _, names = unix.ParseDirent(list[:got], -1, names[:0])
		for _, id := range names {
			if _, err := strconv.Atoi(id); err != nil {
				continue
			}
			n++
			path = append(append(path[:0], id...), "/schedstat"...)
			// Time on a processor, time of waiting for one, number of turns.
			b, err := readIn(r.tasks, string(path), r.buf)
			_, rest := nextWord(b)
			word, _ := nextWord(rest)
			if waited, ok := count(word); err == nil && ok {
				ns, known = ns+waited, true
			}
		}
	}
	return ns, known
}

// Close closes the files.
func (r *CPUReader) Close() {
	closeFile(&r.tasks)
	closeFile(&r.all)
	closeFile(&r.groupPressure)
	closeFiles(r.throttling)
}
