package host

import (
	"cmp"
	"context"
	"os"
)

// A MemoryReader reads the memory usage of a process and of its control group. It keeps the files
// open, so that a read takes microseconds and does not allocate. It must not be used by several
// goroutines at once.
type MemoryReader struct {
	statm, usage int   // files
	limits       []int // of the group and its ancestors
	page         uint64
	buf          []byte
}

// OpenMemory opens the files. A value whose file cannot be opened is unknown. The group is the one
// that the process is in now. Close the result.
func (p *Process) OpenMemory() *MemoryReader {
	r, err := look(context.Background(), p,
		func() (*MemoryReader, error) { return p.openMemory(), nil }, (*MemoryReader).Close)
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
	proc, _ := p.openProc() // if it is noFile, everything is unknown
	defer closeFile(&proc)
	r.statm, _ = openIn(proc, "statm")
	group := openGroup(proc, p.guard(proc), memoryController)
	defer group.close()
	r.usage, r.limits = group.openUsage()
	return r
}

// Read returns the resident memory of the process, the memory of its control group, and the
// smallest limit of the group and its ancestors, all in bytes. 0 means unknown, or for the limit
// also that there is none.
func (r *MemoryReader) Read() (resident, cgroup, limit uint64) {
	_, rest := nextWord(readAgain(r.statm, r.buf))
	pages, _ := nextWord(rest)
	resident = decimal(pages) * r.page
	cgroup = r.number(r.usage)
	for _, fd := range r.limits {
		if n := r.number(fd); n > 0 && n < noLimit {
			limit = min(n, cmp.Or(limit, n))
		}
	}
	return resident, cgroup, limit
}

// noLimit is below the number with which version 1 represents no limit; version 2 has the word max.
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
