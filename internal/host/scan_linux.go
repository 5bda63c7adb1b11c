package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"golang.org/x/sys/unix"
)

// A Scanner scans the processes of the host repeatedly. A scan takes some microseconds per process.
// It must not be used by several goroutines at once.
type Scanner struct {
	proc      int // directory /proc
	list, old []Sighting
	entries   []byte
	stat      [statSize]byte
	// kernel contains the pids of the kernel's own threads, of which a large host has thousands.
	// They are only checked again in one of kernelScans scans, in case the pid now belongs to a
	// process.
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

// Scan returns the processes in the order in which the kernel lists them: by pid. It omits kernel
// threads and processes that have ended or end during the scan. A process that cannot be read has
// the values of the previous scan. An error says nothing about any process: the next Scan compares
// with the one before it. The list is valid until the next Scan that returns no error.
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

// scan appends the processes to list. old is the list of the previous scan.
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

// look reads a process; known is what the previous scan saw of it, if it did. It returns the zero
// Sighting for a process that is not to be listed. An error means that gclog itself lacks
// resources.
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
	now := Sighting{PID: pid, StartKey: stat.startKey, Name: known.Name, OneThread: stat.threads == 1}
	if string(stat.name) != known.Name {
		now.Name = string(stat.name)
	}
	return now, nil
}

// readStat reads the stat of a process and returns its length, 0 on an error.
func (s *Scanner) readStat(pid int) (int, error) {
	fd, err := openIn(s.proc, strconv.Itoa(pid)+"/stat")
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, s.stat[:])
	return max(0, n), err
}

// nextEntry cuts off a directory entry in the kernel's format: u64 inode, i64 offset, u16 length,
// u8 type, and the name, terminated by a 0. If the entry is not a process, pid is 0.
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
