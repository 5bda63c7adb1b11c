package session

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// A Scanner looks through the processes of the host, again and again. A look costs
// some microseconds for each of them. One goroutine may use it.
type Scanner struct {
	proc      int // folder
	list, old []Sighting
	entries   []byte
	stat      [statSize]byte
	// kernel are the pids of the kernel's own threads, of which a large host has
	// thousands. They are only looked at again in one scan of kernelScans, in case
	// that their pid has become a process.
	kernel map[int]bool
	scans  int
}

const kernelScans = 16

// NewScanner returns a Scanner. Close it.
func NewScanner() (*Scanner, error) {
	fd, err := unix.Open(procRoot, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	return &Scanner{proc: fd, entries: make([]byte, 32<<10), kernel: map[int]bool{}}, nil
}

// Scan returns the processes, in the order in which the kernel lists them: by pid.
// Those that have ended, and threads of the kernel, are left out, as is what goes away
// meanwhile. The list is valid until the next Scan.
func (s *Scanner) Scan() ([]Sighting, error) {
	s.list, s.old = s.old[:0], s.list
	if _, err := unix.Seek(s.proc, 0, 0); err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	if s.scans++; s.scans%kernelScans == 0 {
		clear(s.kernel)
	}
	old := s.old
	for {
		n, err := unix.Getdents(s.proc, s.entries)
		if err != nil {
			return nil, fmt.Errorf("listing processes: %w", err)
		}
		if n == 0 {
			return s.list, nil
		}
		for rest := s.entries[:n]; len(rest) > 0; {
			var pid int
			pid, rest = nextEntry(rest)
			if pid == 0 || s.kernel[pid] {
				continue
			}
			for len(old) > 0 && old[0].PID < pid {
				old = old[1:]
			}
			known := ""
			if len(old) > 0 && old[0].PID == pid {
				known = old[0].Name
			}
			s.look(pid, known)
		}
	}
}

// look adds a process to the list. Its name is known, unless it has got another.
func (s *Scanner) look(pid int, known string) {
	fd, err := openIn(s.proc, strconv.Itoa(pid)+"/stat")
	if err != nil {
		return
	}
	n, err := unix.Read(fd, s.stat[:])
	_ = unix.Close(fd)
	if err != nil {
		return
	}
	stat, ok := parseStat(s.stat[:n])
	if !ok || stat.ended() {
		return
	}
	if stat.flags&flagKernelThread != 0 {
		s.kernel[pid] = true
		return
	}
	if string(stat.name) != known {
		known = string(stat.name)
	}
	s.list = append(s.list, Sighting{PID: pid, StartKey: stat.startKey, Name: known})
}

// nextEntry cuts an entry of a folder off: u64 inode, i64 offset, u16 length, u8 type,
// and the name, which ends with a 0. What is no process has the pid 0.
func nextEntry(b []byte) (pid int, rest []byte) {
	const lengthAt, nameAt = 16, 19
	if len(b) < nameAt {
		return 0, nil
	}
	length := int(binary.NativeEndian.Uint16(b[lengthAt:]))
	if length < nameAt || length > len(b) {
		return 0, nil
	}
	for _, c := range b[nameAt:length] {
		if c == 0 {
			return pid, b[length:]
		}
		if c < '0' || c > '9' {
			break
		}
		pid = pid*10 + int(c-'0')
	}
	return 0, b[length:]
}

// Close ends the scanner.
func (s *Scanner) Close() { closeFile(&s.proc) }
