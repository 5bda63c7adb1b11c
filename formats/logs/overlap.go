package logs

import (
	"fmt"
	"slices"

	"github.com/gclog/gclog/gclog"
)

// An OverlapError reports that a collection of one process instance was read twice: the input
// contains the same log twice, or logs of sessions that ran at the same time. If collections were
// counted twice, all numbers would be wrong.
type OverlapError struct {
	ProcessID int64 // 0: unknown
	Number    uint32
	Line      int64 // line with the repetition, from 1
	Before    int   // the first file with the collection: index into the files that were read, from 0
}

func (e *OverlapError) Error() string {
	of := ""
	if e.ProcessID != 0 {
		of = fmt.Sprintf(" of process %d", e.ProcessID)
	}
	return fmt.Sprintf("line %d: it contains collection %d%s a second time", e.Line, e.Number, of)
}

// A reading is the position of a Reader.
type reading struct {
	file    int
	line    int64
	overlap *OverlapError // the error found, if any
	plain   bool          // a collection of a unified log had no DotNet line in this file
	details bool          // another collection had one
}

// again records that the collection at this position was already emitted.
func (r *reading) again(pid int64, number uint32, before int) {
	r.overlap = &OverlapError{ProcessID: pid, Number: number, Line: r.line, Before: before}
}

// A tally remembers which collections of one process instance were emitted: runs of numbers in
// ascending order.
type tally []run

// A run is consecutive numbers from one file, and when the collections ended.
type run struct {
	from, to       uint32
	oldest, newest int64
	file           int
}

// maxRuns is how many runs are remembered: those with the highest numbers.
const maxRuns = 4096

// add records that a file contains a collection, and returns the file that contained it before. A
// number that is repeated at another time belongs to another process instance, which the log does
// not identify. A collection of which two sessions saw one half each may occur twice.
func (t *tally) add(d *gclog.GCDetails, end int64, file int) (before int, again bool) {
	if !d.Known.Has(gclog.GroupNumber) || d.Flaws&(gclog.FlawNoStart|gclog.FlawNoEnd) != 0 {
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

// join merges the run at i with the next one if no number is between them.
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
