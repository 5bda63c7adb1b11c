package session

import (
	"errors"

	"golang.org/x/sys/unix"
)

// A Watch can tell, when a process has ended, how it did.
type Watch struct {
	unseen bool
	dir    int // of the socket; -1: cannot be looked at
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
	w := &Watch{unseen: p.peer != nil, socket: p.socket, stat: -1, pidfd: -1, kills: -1}
	var err error
	if w.dir, err = p.openDir(p.tempDir, unix.O_PATH); err != nil {
		w.dir = -1
	}
	proc, err := p.openProc()
	if err != nil {
		return w
	}
	defer unix.Close(proc)
	if w.stat, err = openIn(proc, "stat"); err != nil {
		w.stat = -1
	}
	group := openMemoryGroup(proc)
	defer group.close()
	w.kills = group.openKills()
	w.killed, _ = oomKills(w.kills)
	if w.pidfd, err = unix.PidfdOpen(p.PID, 0); err != nil {
		w.pidfd = -1
	}
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
	if w.pidfd < 0 {
		return 0, false
	}
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	if unix.IoctlPidfdInfo(w.pidfd, &info) != nil || info.Mask&unix.PIDFD_INFO_EXIT == 0 {
		return 0, false
	}
	return unix.WaitStatus(info.Exit_code), true
}

// SocketLeft tells whether the socket is still there, and whether that is known. A
// process that exits removes it, one that is killed does not.
func (w *Watch) SocketLeft() (left, known bool) {
	if w.dir < 0 || w.socket == "" {
		return false, false
	}
	var st unix.Stat_t
	err := unix.Fstatat(w.dir, w.socket, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil, err == nil || errors.Is(err, unix.ENOENT)
}

// Close ends the watch.
func (w *Watch) Close() {
	closeFile(&w.dir)
	closeFile(&w.stat)
	closeFile(&w.pidfd)
	closeFile(&w.kills)
}
