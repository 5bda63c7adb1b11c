package session

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// A MemoryReader reads how much memory a process has, and its control group. It keeps
// the files open, so that reading takes microseconds and no memory. One goroutine may
// use it.
type MemoryReader struct {
	statm, usage int   // files
	limits       []int // of the group and of those above it
	page         uint64
	buf          []byte
}

// OpenMemory opens the files. What cannot be opened is not known. The group is the one
// that the process is in now. Close the result.
func (p *Process) OpenMemory() *MemoryReader {
	r, err := look(context.Background(), p, func() (*MemoryReader, error) { return p.openMemory(), nil }, (*MemoryReader).Close)
	if err != nil {
		return newMemoryReader()
	}
	return r
}

func newMemoryReader() *MemoryReader {
	return &MemoryReader{statm: noFile, usage: noFile, page: uint64(os.Getpagesize()), buf: make([]byte, 128)}
}

func (p *Process) openMemory() *MemoryReader {
	r := newMemoryReader()
	proc, err := p.openProc()
	if err != nil {
		return r
	}
	defer unix.Close(proc)
	r.statm, _ = openIn(proc, "statm")
	group := openMemoryGroup(proc, p.guard(proc))
	defer group.close()
	r.usage, r.limits = group.openUsage()
	return r
}

// Read returns the resident memory of the process, that of its control group, and the
// smallest limit of the group and of those above it, all in bytes. 0 is unknown; a group
// without a limit has none.
func (r *MemoryReader) Read() (resident, cgroup, limit uint64) {
	_, behindSize := nextWord(readAgain(r.statm, r.buf))
	pages, _ := nextWord(behindSize)
	resident = decimal(pages) * r.page
	cgroup = r.number(r.usage)
	for _, fd := range r.limits {
		if n := r.number(fd); n > 0 && n < noLimit && (limit == 0 || n < limit) {
			limit = n
		}
	}
	return resident, cgroup, limit
}

// noLimit is less than the number that stands for no limit in version 1; version 2 has
// the word max.
const noLimit = 1 << 60

func (r *MemoryReader) number(fd int) uint64 {
	word, _ := nextWord(readAgain(fd, r.buf))
	return decimal(word)
}

// Close closes the files.
func (r *MemoryReader) Close() {
	closeFile(&r.statm)
	closeFile(&r.usage)
	closeFiles(r.limits)
}
