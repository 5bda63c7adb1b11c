package logs

import (
	"fmt"
	"slices"

	"github.com/gclog/gclog/gclog"
)

// An OverlapError says that a collection of one life of a process is told a second time:
// the log is there twice, or sessions that were on at the same time wrote what is read.
// Counted twice, all numbers would be wrong.
type OverlapError struct {
	ProcessID int64 // 0: unknown
	Number    uint32
	Line      int64 // that tells it again, from 1
	Before    int   // the file that told it first: of those that were read, from 0
}

func (e *OverlapError) Error() string {
	of := ""
	if e.ProcessID != 0 {
		of = fmt.Sprintf(" of process %d", e.ProcessID)
	}
	return fmt.Sprintf("line %d: it tells collection %d%s a second time", e.Line, e.Number, of)
}

// A reading is how far a Reader is.
type reading struct {
	file    int
	line    int64
	overlap *OverlapError // that was found
	plain   bool          // a collection of a unified log had no DotNet line in this file
	details bool          // another had
}

// again notes that what is told there was told before.
func (r *reading) again(pid int64, number uint32, before int) {
	r.overlap = &OverlapError{ProcessID: pid, Number: number, Line: r.line, Before: before}
}

// A tally remembers which collections of one life of a process were told: runs of numbers,
// in ascending order.
type tally []run

// A run is numbers that one file told, none of them missing, and when the collections ended.
type run struct {
	from, to       uint32
	oldest, newest int64
	file           int
}

// maxRuns is how many runs are remembered: those of the highest numbers.
const maxRuns = 4096

// add notes that a file tells a collection, and finds the file that has told it before. A
// number that comes again at another time is of another life of the process, of which the
// log does not tell. A collection that two sessions have seen one half each may come twice.
func (t *tally) add(d *gclog.GCDetails, end int64, file int) (before int, again bool) {
	if !d.HasNumber || d.Flaws&(gclog.FlawNoStart|gclog.FlawNoEnd) != 0 {
		return 0, false
	}
	i, found := slices.BinarySearchFunc(*t, d.Number, func(r run, n uint32) int {
		switch {
		case r.to < n:
			return -1
		case r.from > n:
			return 1
		}
		return 0
	})
	if found {
		r := &(*t)[i]
		return r.file, r.oldest <= end && end <= r.newest
	}
	*t = slices.Insert(*t, i, run{d.Number, d.Number, end, end, file})
	t.join(i)
	if i > 0 {
		t.join(i - 1)
	}
	if len(*t) > maxRuns {
		*t = slices.Delete(*t, 0, 1)
	}
	return 0, false
}

// join makes one run of that at i and the next if no number is between them.
func (t *tally) join(i int) {
	if i+1 >= len(*t) {
		return
	}
	a, b := &(*t)[i], &(*t)[i+1]
	if a.to+1 == b.from && a.file == b.file {
		a.to, a.oldest, a.newest = b.to, min(a.oldest, b.oldest), max(a.newest, b.newest)
		*t = slices.Delete(*t, i+1, i+2)
	}
}
