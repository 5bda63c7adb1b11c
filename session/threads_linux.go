package session

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

// threads calls visit with the name of each thread until visit returns false. It returns the number
// of threads visited.
func (p *Process) threads(visit func(name string) bool) (n int, err error) {
	return p.eachThread(func(_ int, _, name string) bool { return visit(name) })
}

// eachThread does the same, also with the thread's id and the open directory of all threads.
func (p *Process) eachThread(visit func(tasks int, thread, name string) bool) (n int, err error) {
	fd, err := openIn(unix.AT_FDCWD, p.procPath("task"))
	if err != nil {
		return 0, err
	}
	tasks := os.NewFile(uintptr(fd), "task")
	defer tasks.Close()
	var buf [64]byte
	for {
		names, err := tasks.Readdirnames(256)
		for _, thread := range names {
			name, err := readIn(fd, thread+"/comm", buf[:])
			if err != nil {
				continue // it has ended
			}
			if n++; !visit(fd, thread, strings.TrimSuffix(string(name), "\n")) || n == maxThreads {
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

// ServerGCThreads returns the number of server GC threads of the process, by the names that .NET 8
// to 10 give them. known is false if the number cannot be determined: a runtime that is starting
// has not created the threads yet. There is one for each heap, unless DATAS changes their number.
func (p *Process) ServerGCThreads() (n int, known bool) {
	_, _ = p.threads(func(name string) bool {
		switch {
		case strings.HasPrefix(name, ".NET Server GC"):
			n++
		case strings.HasPrefix(name, ".NET Finalizer"): // started after the GC
			known = true
		}
		return true
	})
	return n, known || n > 0
}
