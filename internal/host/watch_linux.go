package host

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"
)

// A Watch determines how a process ended, after it has.
type Watch struct {
	unseen bool
	dir    int // directory of the socket; noFile: cannot be read
	socket string
	stat   int // /proc/PID/stat
	// mayKnow: gclog may read the wait status of the process after it has ended, until its parent
	// reaps it.
	mayKnow bool
	pidfd   int
	kills   int    // file with the count of processes killed by the OOM killer
	killed  uint64 // the OOM kill count when the watch started
}

// Watch starts to watch the process. Close the result.
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
	proc, _ := p.openProc() // if it is noFile, everything is unknown
	defer closeFile(&proc)
	g := p.guard(proc)
	// On a file system that may not answer, it is not checked whether the socket still exists.
	if r, err := (&request{Kind: watchDir, Path: p.tempDir}).perform(proc, g); err == nil {
		w.dir = r.FD
	}
	w.stat, _ = openIn(proc, "stat")
	group := openGroup(proc, g, memoryController)
	defer group.close()
	w.kills = group.openKills()
	w.killed, _ = oomKills(w.kills)
	w.pidfd, _ = unix.PidfdOpen(p.PID, 0) // on an error pidfd is noFile
	if s, ok := w.readStat(new([statSize]byte)); ok {
		w.mayKnow = s.code > 1
	} else {
		closeFile(&w.pidfd) // it has ended meanwhile: the pid may have been reused
	}
	return w
}

func (w *Watch) readStat(buf *[statSize]byte) (procStat, bool) {
	return parseStat(readAgain(w.stat, buf[:]))
}

// Outcome returns how the process ended. Call it after the process has ended.
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

// status returns the wait status. After a process has ended, its stat contains the wait status
// until its parent reaps it; after that, a pidfd has it, from Linux 6.15 on.
func (w *Watch) status() (unix.WaitStatus, bool) {
	if s, known := w.lastStatus(); known {
		return s, true
	}
	var buf [statSize]byte
	if s, ok := w.readStat(&buf); ok && s.ended() && w.mayKnow {
		return unix.WaitStatus(s.exit), true
	}
	return w.lastStatus() // the parent may have reaped it just now
}

func (w *Watch) lastStatus() (unix.WaitStatus, bool) {
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	known := unix.IoctlPidfdInfo(w.pidfd, &info) == nil && info.Mask&unix.PIDFD_INFO_EXIT != 0
	return unix.WaitStatus(info.Exit_code), known
}

// SocketLeft reports whether the socket still exists, and whether that is known. A process that
// exits removes its socket; one that is killed does not.
func (w *Watch) SocketLeft() (left, known bool) {
	fd, err := openFile(w.dir, w.socket) // touches only the directory
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
