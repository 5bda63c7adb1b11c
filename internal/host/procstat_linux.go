package host

import (
	"bytes"
	"errors"
	"io/fs"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A procStat contains the fields of /proc/PID/stat that gclog needs, numbered from 1 as in proc(5).
type procStat struct {
	name     []byte // 2, in the buffer that was read
	state    byte   // 3
	flags    uint64 // 9
	cpu      uint64 // 14 and 15: time on processors, in ticks of userHZ
	threads  uint64 // 20
	startKey uint64 // 22
	code     uint64 // 26: start address of the code; 1 if the reader may not see the protected fields
	exit     int    // 52: wait status; only if the reader may see it
}

const (
	flagKernelThread = 0x200000 // PF_KTHREAD
	// statSize is enough for any stat: 52 numbers, and a name of at most 64 bytes.
	statSize = 2048
)

func (s *procStat) ended() bool { return s.state == 'Z' || s.state == 'X' }

// busy reports whether it is running, or waits for a processor or a disk.
func (s *procStat) busy() bool { return s.state == 'R' || s.state == 'D' }

// parseStat parses a stat. The name may contain anything, even brackets and line ends, so the last
// bracket ends it.
func parseStat(b []byte) (s procStat, ok bool) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return s, false
	}
	s.name = b[open+1 : end]
	n := 2
	for field, rest := nextWord(b[end+1:]); len(field) > 0; field, rest = nextWord(rest) {
		switch n++; n {
		case 3:
			s.state = field[0]
		case 9:
			s.flags = decimal(field)
		case 14, 15:
			s.cpu += decimal(field)
		case 20:
			s.threads = decimal(field)
		case 22:
			s.startKey = decimal(field)
		case 26:
			s.code = decimal(field)
		case 52:
			s.exit = int(decimal(field))
		}
	}
	return s, n >= 22
}

// readStat reads the stat of a process.
func readStat(pid int) (procStat, error) {
	dir, err := openProcess(pid)
	if err != nil {
		return procStat{}, err
	}
	defer unix.Close(dir)
	return readStatIn(dir)
}

// readStatIn reads the stat of a process whose directory is open.
func readStatIn(dir int) (procStat, error) {
	b, err := readIn(dir, "stat", make([]byte, statSize))
	s, ok := parseStat(b)
	if err == nil && !ok {
		err = unix.EIO
	}
	return s, err
}

// openProcess opens the directory of a process in /proc. The descriptor becomes invalid when the
// process ends, even if the pid is reused.
func openProcess(pid int) (int, error) {
	return openFolder(unix.AT_FDCWD, procRoot+"/"+strconv.Itoa(pid))
}

// CPUTime returns how long the process has been on processors since it started.
func (p *Process) CPUTime() (d time.Duration, known bool) {
	if p.procPID() == 0 {
		return 0, false
	}
	s, err := readStat(p.PID)
	if err != nil || s.startKey != p.StartKey {
		return 0, false
	}
	return time.Duration(s.cpu) * (time.Second / userHZ), true
}

// A procStatus contains the fields of /proc/PID/status that gclog needs.
type procStatus struct {
	process  int // the process that the id is a thread of; the same id if it is a process
	uid      int // effective
	innerPID int // in its own pid namespace
}

// maxStatus is the number of bytes that are read of a status; a user's groups can make it long.
const maxStatus = 1 << 20

// readStatus reads the status of a process whose directory is open.
func readStatus(dir int) (s procStatus, err error) {
	b, err := readAllIn(dir, "status", maxStatus)
	if err != nil {
		return s, err
	}
	process, uids, inner := statusNumbers(b, "Tgid"), statusNumbers(b, "Uid"), statusNumbers(b, "NSpid")
	if len(process) == 0 || len(uids) < 2 {
		return s, unix.EIO
	}
	s.process, s.uid, s.innerPID = process[0], uids[1], process[0]
	if len(inner) > 0 {
		s.innerPID = inner[len(inner)-1]
	}
	return s, nil
}

// statusNumbers returns the numbers in a line of a status.
func statusNumbers(status []byte, name string) (list []int) {
	_, rest, _ := bytes.Cut(status, []byte("\n"+name+":"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	for field := range bytes.FieldsSeq(line) {
		n, err := strconv.Atoi(string(field))
		if err != nil {
			return list
		}
		list = append(list, n)
	}
	return list
}

// nextWord cuts b after its first word. Words are separated by blanks and line ends.
func nextWord(b []byte) (word, rest []byte) {
	from := 0
	for from < len(b) && (b[from] == ' ' || b[from] == '\n') {
		from++
	}
	to := from
	for to < len(b) && b[to] != ' ' && b[to] != '\n' {
		to++
	}
	return b[from:to], b[to:]
}

// decimal parses a number. It returns 0 if b is not a number.
func decimal(b []byte) (n uint64) {
	for _, c := range b {
		next := n*10 + uint64(c-'0')
		if c < '0' || c > '9' || next/10 != n { // not a digit, or too large
			return 0
		}
		n = next
	}
	return n
}

// openProc opens /proc/PID of exactly this process. The descriptor becomes invalid when the process
// ends, even if the pid is reused.
func (p *Process) openProc() (int, error) {
	fd, err := openProcess(p.procPID())
	if err != nil {
		return noFile, err
	}
	s, err := readStatIn(fd)
	if err == nil && (s.startKey != p.StartKey || p.StartKey == 0) { // without a start time it cannot be identified
		err = unix.ESRCH
	}
	if err != nil {
		_ = unix.Close(fd)
		return noFile, err
	}
	return fd, nil
}

// startTime converts field 22 of /proc/PID/stat, which counts from boot, including time asleep.
func startTime(key uint64) time.Time {
	var boot, now unix.Timespec
	_, _ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot), unix.ClockGettime(unix.CLOCK_REALTIME, &now)
	return time.Unix(0, now.Nano()-boot.Nano()+int64(key)*int64(time.Second/userHZ))
}

// StartedByNow returns when the process has started by the present clock. Started is by the clock of
// the time when the process was found.
func (p *Process) StartedByNow() time.Time {
	if p.StartKey == 0 {
		return p.Started
	}
	return startTime(p.StartKey)
}

// Stopped reports whether the process is stopped, by SIGSTOP or a debugger.
func (p *Process) Stopped() bool {
	s, err := readStat(p.procPID())
	return err == nil && (s.state == 'T' || s.state == 't')
}

// Tracer returns the pid of the process that is debugging this one, or 0 if there is none.
func (p *Process) Tracer() int {
	thread := statusNumber(p.procPID(), "TracerPid") // TracerPid is the id of the tracing thread
	if process := statusNumber(thread, "Tgid"); process != 0 {
		return process
	}
	return thread
}

// statusNumber reads a number of /proc/PID/status, or returns 0 if it cannot be read.
func statusNumber(pid int, name string) int {
	dir, _ := openProcess(pid)
	defer closeFile(&dir)
	b, _ := readAllIn(dir, "status", maxStatus) // if dir is noFile it reads nothing
	return append(statusNumbers(b, name), 0)[0]
}

// Alive reports whether the process is still running. For one that this host does not show, its
// connection to a port decides.
func (p *Process) Alive() bool {
	if p.peer != nil {
		select {
		case <-p.peer.Gone():
			return false
		default:
			return true
		}
	}
	s, err := readStat(p.procPID())
	if err != nil { // gclog may be out of descriptors
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH)
	}
	return !s.ended() && s.startKey == p.StartKey
}
