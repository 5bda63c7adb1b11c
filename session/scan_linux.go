package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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
func NewScanner() (*Scanner, error) { return newScanner(procRoot) }

func newScanner(proc string) (*Scanner, error) {
	fd, err := openIn(unix.AT_FDCWD, proc)
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	return &Scanner{proc: fd, entries: make([]byte, 32<<10), kernel: map[int]bool{}}, nil
}

// Scan returns the processes, in the order in which the kernel lists them: by pid.
// Those that have ended, and threads of the kernel, are left out, as is what goes away
// meanwhile. One that cannot be looked at is as it was in the Scan before. An error
// tells nothing of any process: the next Scan compares with the one before. The list is
// valid until the next Scan that has no error.
func (s *Scanner) Scan() ([]Sighting, error) {
	if s.scans++; s.scans%kernelScans == 0 {
		clear(s.kernel)
	}
	list, err := s.scan(s.old[:0], s.list)
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	s.list, s.old = list, s.list
	return list, nil
}

// scan adds the processes to the list.
func (s *Scanner) scan(list, old []Sighting) ([]Sighting, error) {
	_, _ = unix.Seek(s.proc, 0, io.SeekStart)
	for {
		n, err := unix.Getdents(s.proc, s.entries)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return list, nil
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
			var known Sighting
			if len(old) > 0 && old[0].PID == pid {
				known = old[0]
			}
			now, err := s.look(pid, known)
			if err != nil {
				return nil, err
			}
			if now.PID != 0 {
				list = append(list, now)
			}
		}
	}
}

// look looks at a process, of which is known what the last scan saw, if it did. One
// that is not to be listed is the zero Sighting. An error is one of ours.
func (s *Scanner) look(pid int, known Sighting) (Sighting, error) {
	n, err := s.readStat(pid)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ESRCH):
		return Sighting{}, nil
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE), errors.Is(err, unix.ENOMEM):
		return Sighting{}, fmt.Errorf("process %d: %w", pid, err)
	}
	stat, ok := parseStat(s.stat[:n])
	switch {
	case !ok:
		return known, nil
	case stat.ended():
		return Sighting{}, nil
	case stat.flags&flagKernelThread != 0:
		s.kernel[pid] = true
		return Sighting{}, nil
	}
	now := Sighting{PID: pid, StartKey: stat.startKey, Name: known.Name}
	if string(stat.name) != known.Name {
		now.Name = string(stat.name)
	}
	return now, nil
}

// readStat reads the stat of a process; on an error it reads nothing.
func (s *Scanner) readStat(pid int) (int, error) {
	fd, err := openIn(s.proc, strconv.Itoa(pid)+"/stat")
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, s.stat[:])
	return max(0, n), err
}

// nextEntry cuts an entry of a folder off, as the kernel writes it: u64 inode, i64 offset, u16
// length, u8 type, and the name, which ends with a 0. What is no process has the pid 0.
func nextEntry(b []byte) (pid int, rest []byte) {
	const lengthAt, nameAt = 16, 19
	rest = b[binary.NativeEndian.Uint16(b[lengthAt:]):]
	for at := nameAt; ; at++ {
		c := b[at]
		switch {
		case c == 0:
			return pid, rest
		case c < '0' || c > '9':
			return 0, rest
		}
		pid = pid*10 + int(c-'0')
	}
}

// Close ends the scanner.
func (s *Scanner) Close() { closeFile(&s.proc) }
