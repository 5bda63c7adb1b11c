package session

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"
)

// A Watch can tell, when a process has ended, how it did.
type Watch struct {
	unseen bool
	dir    int // of the socket; noFile: cannot be looked at
	socket string
	stat   int // /proc/PID/stat
	// mayKnow: the kernel tells us the wait status of a process that has ended, as long
	// as its parent has not taken notice.
	mayKnow bool
	pidfd   int
	kills   int    // file with the count of processes that were killed for want of memory
	killed  uint64 // that count when the watch began
}

// Watch begins to watch the process. Close the result.
func (p *Process) Watch() *Watch {
	w, err := look(context.Background(), p, func() (*Watch, error) { return p.watch(), nil }, (*Watch).Close)
	if err != nil {
		return newWatch(p)
	}
	return w
}

func newWatch(p *Process) *Watch {
	return &Watch{unseen: p.peer != nil, socket: p.socket, dir: noFile, stat: noFile, pidfd: noFile, kills: noFile}
}

func (p *Process) watch() *Watch {
	w := newWatch(p)
	proc, err := p.openProc()
	if err != nil {
		return w
	}
	defer unix.Close(proc)
	g := p.guard(proc)
	// Where a file system may not answer it is not asked whether the socket is still there.
	if r, err := (&request{Kind: watchDir, Path: p.tempDir}).perform(proc, g); err == nil {
		w.dir = r.FD
	}
	w.stat, _ = openIn(proc, "stat")
	group := openMemoryGroup(proc, g)
	defer group.close()
	w.kills = group.openKills()
	w.killed, _ = oomKills(w.kills)
	w.pidfd, _ = unix.PidfdOpen(p.PID, 0) // no file, with an error
	if s, ok := w.readStat(new([statSize]byte)); ok {
		w.mayKnow = s.code > 1
	} else {
		closeFile(&w.pidfd) // it has ended meanwhile: the number may be another's
	}
	return w
}

func (w *Watch) readStat(buf *[statSize]byte) (procStat, bool) {
	return parseStat(readAgain(w.stat, buf[:]))
}

// Outcome tells how the process ended. It is asked when that has happened.
func (w *Watch) Outcome() Outcome {
	if w.unseen {
		return Outcome{Unseen: true}
	}
	var o Outcome
	if status, known := w.status(); known {
		o = Outcome{Known: true, Exited: status.Exited()}
		if o.Exited {
			o.Code = status.ExitStatus()
		} else {
			o.Signal = int(status.Signal())
		}
	} else {
		left, known := w.SocketLeft()
		o.Exited = !left || !known
	}
	if kills, known := oomKills(w.kills); known && kills > w.killed {
		o.OOM = o.Signal == int(unix.SIGKILL) || !o.Known && !o.Exited
	}
	return o
}

// status is the wait status. A process that has ended has it in its stat until its
// parent takes notice; from then on a pidfd has it, from Linux 6.15 on.
func (w *Watch) status() (unix.WaitStatus, bool) {
	if s, known := w.lastStatus(); known {
		return s, true
	}
	var buf [statSize]byte
	if s, ok := w.readStat(&buf); ok && s.ended() && w.mayKnow {
		return unix.WaitStatus(s.exit), true
	}
	return w.lastStatus() // the parent may have taken notice just now
}

func (w *Watch) lastStatus() (unix.WaitStatus, bool) {
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	known := unix.IoctlPidfdInfo(w.pidfd, &info) == nil && info.Mask&unix.PIDFD_INFO_EXIT != 0
	return unix.WaitStatus(info.Exit_code), known
}

// SocketLeft reports whether the socket is still there, and whether that is known. A
// process that exits removes it, one that is killed does not.
func (w *Watch) SocketLeft() (left, known bool) {
	fd, err := openFile(w.dir, w.socket) // it touches no more than the folder
	closeFile(&fd)
	return err == nil, w.socket != "" && (err == nil || errors.Is(err, unix.ENOENT))
}

// Close ends the watch.
func (w *Watch) Close() {
	closeFile(&w.dir)
	closeFile(&w.stat)
	closeFile(&w.pidfd)
	closeFile(&w.kills)
}
