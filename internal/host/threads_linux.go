package host

import (
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// maxThreads is how many threads of a process are read, the oldest first: those of the runtime are
// among them.
const maxThreads = 4096

// A thread is one of a process's threads, while they are visited.
type thread struct {
	name string // at most 15 bytes
	id   string // in this host's pid namespace
	all  int    // directory of the process's threads
	buf  []byte
}

// read reads the start of a kernel file about the thread. The next read overwrites it.
func (t *thread) read(file string) ([]byte, error) { return readIn(t.all, t.id+"/"+file, t.buf) }

// stat reads the state of the thread. Its name is valid until the next read.
func (t *thread) stat() (s procStat, ok bool) {
	b, err := t.read("stat")
	if err != nil {
		return s, false
	}
	return parseStat(b)
}

// used returns the computing time of the thread in nanoseconds.
func (t *thread) used() uint64 {
	b, _ := t.read("schedstat")
	word, _ := nextWord(b)
	return decimal(word)
}

// status returns the numbers in a line of the thread's status.
func (t *thread) status(name string) []int {
	b, _ := readAllIn(t.all, t.id+"/status", maxStatus)
	return statusNumbers(b, name)
}

// threads calls visit for each thread until visit returns false. It returns the number of threads
// visited.
func (p *Process) threads(visit func(t *thread) bool) (n int, err error) {
	fd, err := openIn(unix.AT_FDCWD, p.procPath("task"))
	if err != nil {
		return 0, err
	}
	tasks := os.NewFile(uintptr(fd), "task")
	defer tasks.Close()
	buf := make([]byte, statSize)
	for {
		ids, err := tasks.Readdirnames(256)
		for _, id := range ids {
			t := thread{id: id, all: fd, buf: buf}
			name, err := t.read("comm")
			if err != nil {
				continue // it has ended
			}
			t.name = strings.TrimSuffix(string(name), "\n")
			if n++; !visit(&t) || n == maxThreads {
				return n, nil
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		}
	}
}

// ServerGCThreads returns the number of server GC threads of the process, by the names that .NET 8 and
// later give them, and NativeAOT 10 and later. known is false if the number cannot be determined: a
// runtime that is starting has not created the threads yet. There is one for each heap, unless DATAS
// changes their number.
func (p *Process) ServerGCThreads() (n int, known bool) {
	_, _ = p.threads(func(t *thread) bool {
		switch {
		case strings.HasPrefix(t.name, ".NET Server GC"):
			n++
		case strings.HasPrefix(t.name, ".NET Finalizer"): // started after the GC
			known = true
		}
		return true
	})
	return n, known || n > 0
}

// Processors returns how many processors the process may use, 0 if that is unknown. The share of them
// that a control group allows is not taken into account.
func (p *Process) Processors() int {
	var set unix.CPUSet
	if p.procPID() == 0 || unix.SchedGetaffinity(p.procPID(), &set) != nil {
		return 0
	}
	return set.Count()
}

// IsLate reports whether a request to the runtime may only be late: the thread of its diagnostics
// server waits for a processor or for a disk, or any thread does if the runtime does not name its
// threads.
func (p *Process) IsLate() bool {
	var named, server, other bool
	_, _ = p.threads(func(t *thread) bool {
		named = named || strings.HasPrefix(t.name, ".NET ")
		if t.name != eventPipeThread && named {
			return true
		}
		stat, _ := t.stat()
		if t.name == eventPipeThread {
			server = server || stat.busy()
		} else {
			other = other || stat.busy()
		}
		return !server
	})
	return server || !named && other
}
