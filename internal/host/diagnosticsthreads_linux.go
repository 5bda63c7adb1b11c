package host

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// eventPipeThread is the name that CoreCLR 8 and up gives to the thread of its diagnostics server,
// and to those that write the streams of sessions.
const eventPipeThread = ".NET EventPipe"

// synchronizationThread is the name of a thread that CoreCLR 8 to 10 have from their start to their
// end.
const synchronizationThread = ".NET SynchManag"

// maxDiagnosticsThreads is more than a runtime has: one, and one for each of at most 64 sessions.
const maxDiagnosticsThreads = 128

// DiagnosticsThreads returns the thread that carries out the requests of diagnostic tools, with ids
// as they are in events: those in the process's own pid namespace. The threads that write streams
// may be among them. nil means that the thread is unknown.
//
// .NET 8 and up is recognized by the names of its threads. In .NET Core 3.1 it is the thread that
// waits for a connection to the diagnostics socket, which only those may see who may debug the
// process.
func (p *Process) DiagnosticsThreads() []uint64 {
	list, _ := look(context.Background(), p, func() ([]uint64, error) { return p.diagnosticsThreads(), nil }, keep)
	return list
}

func (p *Process) diagnosticsThreads() []uint64 {
	list, named := p.eventPipeThreads()
	if named {
		return list
	}
	if _, core := p.runtimeLibrary(); !core {
		return nil
	}
	// The server is waiting for a request, except for a moment after it has answered one.
	const tries, pause = 3, 2 * time.Millisecond
	for range tries {
		if list = p.servers(); list != nil {
			break
		}
		time.Sleep(pause)
	}
	return list
}

// eventPipeThreads returns the threads with that name. named reports whether the runtime names its
// threads.
func (p *Process) eventPipeThreads() (list []uint64, named bool) {
	_, _ = p.threads(func(t *thread) bool {
		named = named || strings.HasPrefix(t.name, ".NET ")
		if t.name == eventPipeThread {
			list = t.appendID(list)
		}
		return len(list) < maxDiagnosticsThreads
	})
	return list, named
}

// appendID appends the id of the thread in its own pid namespace, if it is known.
func (t *thread) appendID(list []uint64) []uint64 {
	if ids := t.status("NSpid"); len(ids) > 0 {
		list = append(list, uint64(ids[len(ids)-1]))
	}
	return list
}

// servers returns the threads that wait for a connection to the diagnostics socket.
func (p *Process) servers() []uint64 {
	sockets := map[string][]uint64{}
	_, _ = p.threads(func(t *thread) bool {
		if socket := t.accepts(); socket != "" {
			sockets[socket] = t.appendID(sockets[socket])
		}
		return len(sockets) < maxDiagnosticsThreads
	})
	var found []uint64
	if len(sockets) > 0 { // the kernel lists every socket of the machine
		p.listens(p.socket, func(inode string) bool {
			found = sockets["socket:["+inode+"]"]
			return found != nil
		})
	}
	return found
}

// accepts returns the socket to which the thread waits for a connection, as /proc/PID/fd names it.
func (t *thread) accepts() string {
	b, _ := t.read("syscall") // nothing if that is not permitted
	// 43 0x9 0x7f…: the number of the system call, its arguments
	call, rest := nextWord(b)
	if n := decimal(call); n != unix.SYS_ACCEPT && n != unix.SYS_ACCEPT4 {
		return ""
	}
	first, _ := nextWord(rest)
	fd, err := strconv.ParseUint(string(first), 0, 31)
	if err != nil {
		return ""
	}
	link := make([]byte, 64)
	n, _ := unix.Readlinkat(t.all, fmt.Sprintf("%s/fd/%d", t.id, fd), link)
	return string(link[:max(0, n)])
}
