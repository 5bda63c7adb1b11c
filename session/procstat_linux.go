package session

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// A procStat is what gclog needs of /proc/PID/stat. Its fields are counted as
// proc(5) does, from 1 on.
type procStat struct {
	name     []byte // 2, in the memory that was read
	state    byte   // 3
	flags    uint64 // 9
	startKey uint64 // 22
	code     uint64 // 26: where the code begins; 1 for those who may not know the rest
	exit     int    // 52: wait status; only to those who may know it
}

const (
	flagKernelThread = 0x200000 // PF_KTHREAD
	// statSize holds any stat: 52 numbers, and a name of at most 64 bytes.
	statSize = 2048
)

func (s *procStat) ended() bool { return s.state == 'Z' || s.state == 'X' }

// parseStat reads a stat. The name may hold anything, brackets and line ends too, so
// the last bracket counts.
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

// readStatIn reads the stat of a process whose folder is open.
func readStatIn(dir int) (procStat, error) {
	b, err := readIn(dir, "stat", make([]byte, statSize))
	s, ok := parseStat(b)
	if err == nil && !ok {
		err = unix.EIO
	}
	return s, err
}

// openProcess opens the folder of a process in /proc. It goes dead with the process, whoever gets
// its number next.
func openProcess(pid int) (int, error) {
	return openFolder(unix.AT_FDCWD, procRoot+"/"+strconv.Itoa(pid))
}

// A procStatus is what gclog needs of /proc/PID/status.
type procStatus struct {
	process  int // that the number is a thread of: its own, of a process
	uid      int // effective
	innerPID int // in its own pid namespace
}

// maxStatus is how much of a status is read; the groups of a user make it long.
const maxStatus = 1 << 20

// readStatus reads the status of a process whose folder is open.
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

// statusNumbers are the numbers of a line of a status.
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

// nextWord cuts b after its first word. Words are between blanks and line ends.
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

// decimal reads a number; what is none is 0.
func decimal(b []byte) (n uint64) {
	for _, c := range b {
		next := n*10 + uint64(c-'0')
		if c < '0' || c > '9' || next/10 != n { // too large
			return 0
		}
		n = next
	}
	return n
}

// openProc opens /proc/PID of this very process. The folder goes dead with it,
// whoever gets its number next.
func (p *Process) openProc() (int, error) {
	fd, err := openProcess(p.procPID())
	if err != nil {
		return noFile, err
	}
	// Without a start it is not known who it is.
	if s, err := readStatIn(fd); err != nil || s.startKey != p.StartKey || p.StartKey == 0 {
		_ = unix.Close(fd)
		return noFile, unix.ESRCH
	}
	return fd, nil
}
