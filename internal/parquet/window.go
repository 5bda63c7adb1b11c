package parquet

import "bytes"

// windowRows is how many rows of a process may be between two copies of a fact that are to be
// recognized as such.
const windowRows = 1024

// A window passes rows on, of the copies of a fact only the one that says most. Inputs may overlap, and
// their copies need not be equal: a format may contain less, a session may have had a lower level. Nor
// need their times be: a format may round them, and each session has a clock of its own. So the latest
// rows of a process wait for copies that say more.
type window struct {
	f       func(process int, span int64, r row) error
	process int
	span    int64
	rows    []row // a ring; an empty row has been replaced
	from    int   // number of the first row that waits, counted from the first row of all
	end     int   // number of the next row
	byID    map[[16]byte]int
}

func newWindow(rows int, f func(process int, span int64, r row) error) *window {
	return &window{f: f, process: -1, rows: make([]row, rows), byID: map[[16]byte]int{}}
}

// slot returns where the row with a number is.
func (w *window) slot(number int) *row { return &w.rows[number%len(w.rows)] }

// add adds a row.
func (w *window) add(process int, span int64, r row) error {
	if process != w.process || span != w.span {
		if err := w.flush(); err != nil {
			return err
		}
		w.process, w.span = process, span
	}
	id := [16]byte(r.id())
	if number, known := w.byID[id]; known {
		copied := w.slot(number)
		if !r.saysMoreThan(*copied) {
			return nil
		}
		*copied = (*copied)[:0]
	}
	if w.end-w.from == len(w.rows) {
		if err := w.pass(); err != nil {
			return err
		}
	}
	*w.slot(w.end) = append((*w.slot(w.end))[:0], r...)
	w.byID[id] = w.end
	w.end++
	return nil
}

// saysMoreThan reports whether a row that follows a copy of it is to replace the copy.
func (r row) saysMoreThan(before row) bool {
	n, _ := r.values()
	m, _ := before.values()
	// The result must not depend on the order of the inputs.
	return n > m || n == m && r.time() == before.time() && bytes.Compare(r, before) > 0
}

// pass passes on the first row that waits.
func (w *window) pass() error {
	r := *w.slot(w.from)
	w.from++
	if len(r) == 0 {
		return nil
	}
	delete(w.byID, [16]byte(r.id()))
	return w.f(w.process, w.span, r)
}

// flush passes on all rows that wait.
func (w *window) flush() error {
	for w.from < w.end {
		if err := w.pass(); err != nil {
			return err
		}
	}
	return nil
}
