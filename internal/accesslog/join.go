package accesslog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/times"
)

// Options say how to interpret a row.
type Options struct {
	Time     string // name of the field with the time of the request
	Duration string // name of the field with its duration
	AtStart  bool   // the time is the start of the request; false: its end
	// Unit is the unit of durations without one; 0 means milliseconds.
	Unit time.Duration
}

// The names of the added fields.
const (
	pauseField   = "gc_pause_ms" // how long the program was paused during the request
	countField   = "gc_count"    // number of pauses that overlap it, even partly
	numbersField = "gc_numbers"  // numbers of the collections of those pauses
)

// mostNumbers is how many collections are listed in a row: a request that is open for days overlaps
// a hundred thousand.
const mostNumbers = 100

// A layout is the format of a log's rows.
type layout interface {
	// row returns the length of the first row of b, including the end of its line; 0: the row does
	// not end in b. last means that b will not get any longer.
	row(b []byte, last bool) int
	// find finds the fields in a row.
	find(row []byte) problem
	// time and duration return what find found.
	time() []byte
	duration() []byte
	// add appends a row with what is known of its pauses; nil: nothing is known.
	add(dst, row []byte, g *pauses) []byte
	// names returns the names of the fields in a row.
	names(row []byte) []string
}

// pauses is what is added to a row.
type pauses struct {
	analysis.Overlap
	numbers []uint32
}

// Join writes the log in r to w with the pauses of t. sync is the wall-clock time of time stamp 0
// of t. The Report is valid even if there is an error.
func Join(w io.Writer, r io.Reader, t *analysis.Timeline, sync time.Time, o Options) (*Report, error) {
	j := &joiner{
		w: w, rows: rows{src: r}, timeline: t, sync: sync.UnixNano(), o: o,
		unit: int64(cmp.Or(o.Unit, time.Millisecond)), report: &Report{o: o},
	}
	return j.report, j.run()
}

type joiner struct {
	w        io.Writer
	rows     rows
	layout   layout
	timeline *analysis.Timeline
	sync     int64 // nanoseconds since 1970
	o        Options
	unit     int64 // of durations
	report   *Report
	out      []byte // written when it is large enough
	line     int64  // number of the row's first line
	gcs      pauses
}

const writeSize = 64 << 10

func (j *joiner) run() error {
	if err := j.begin(); err != nil {
		return err
	}
	for {
		row, whole, err := j.rows.next(j.layout.row)
		if len(row) == 0 {
			return errors.Join(err, j.flush())
		}
		switch {
		case !whole:
			if err := j.tooLong(row); err != nil {
				return err
			}
			continue
		case blank(row):
			j.out = append(j.out, row...)
		default:
			j.report.Rows++
			j.out = j.layout.add(j.out, row, j.pausesOf(row))
		}
		j.line += lines(row)
		if len(j.out) >= writeSize {
			if err := j.flush(); err != nil {
				return err
			}
		}
	}
}

// begin determines the format of the rows.
func (j *joiner) begin() error {
	j.line = 1
	head, err := j.rows.head()
	if err != nil {
		return err
	}
	head = bytes.TrimLeft(bytes.TrimPrefix(head, byteOrderMark), " \t\r\n")
	switch {
	case len(head) == 0 || head[0] == '{':
		j.layout = &ndjson{o: j.o}
		return nil
	case head[0] == '[':
		return &FormatError{"it is a JSON array: jq -c '.[]' converts it to NDJSON, one object per line"}
	}
	c := &csv{separator: ','}
	row, whole, err := j.rows.next(c.row)
	if err != nil {
		return err
	}
	if !whole {
		return &FormatError{"it is neither NDJSON nor CSV: its first line is longer than 1 MB"}
	}
	if err := c.head(row, j.o); err != nil {
		return err
	}
	j.layout = c
	j.line += lines(row)
	j.out = c.addHead(j.out, row)
	return nil
}

var byteOrderMark = []byte("\ufeff")

// tooLong passes on a row that is too long to be parsed: piece is its start.
func (j *joiner) tooLong(piece []byte) error {
	j.report.Rows++
	j.report.note(problemLong, j.line, nil)
	for {
		n := endOfLine(piece)
		ended := n > 0
		if !ended {
			n = len(piece)
		}
		j.rows.back(len(piece) - n)
		j.line += lines(piece[:n])
		j.out = append(j.out, piece[:n]...)
		if ended {
			return nil
		}
		if err := j.flush(); err != nil {
			return err
		}
		var err error
		if piece, err = j.rows.piece(); len(piece) == 0 {
			return err
		}
	}
}

func (j *joiner) flush() error {
	_, err := j.w.Write(j.out)
	j.out = j.out[:0]
	if err != nil {
		return fmt.Errorf("writing what was joined: %w", err)
	}
	return nil
}

// pausesOf returns what is known of the pauses during a row's request, or nil if nothing is.
func (j *joiner) pausesOf(row []byte) *pauses {
	r, l := j.report, j.layout
	if p := l.find(row); p != problemNone {
		if p == problemNoTime || p == problemNoDuration {
			r.learn(l, row)
		}
		r.note(p, j.line, nil)
		if p != problemNarrow {
			return nil
		}
	}
	at, ok := r.at(l.time())
	if !ok {
		r.note(problemTime, j.line, l.time())
		return nil
	}
	d, bare, ok := times.ParseDuration(l.duration(), j.unit)
	if !ok {
		r.note(problemDuration, j.line, l.duration())
		return nil
	}
	if bare {
		r.bare++
	}
	from, to := at-d, at
	if j.o.AtStart {
		from, to = at, at+d
	}
	r.span(from, to)
	from, to = from-j.sync, to-j.sync
	j.gcs.Overlap = j.timeline.Overlap(from, to)
	switch {
	case j.gcs.Outside:
		r.note(problemOutside, j.line, nil)
		return nil
	case j.gcs.Gap:
		r.note(problemGap, j.line, nil)
		return nil
	}
	j.gcs.numbers = j.timeline.AppendNumbers(j.gcs.numbers[:0], j.gcs.Overlap, mostNumbers)
	r.add(d, &j.gcs.Overlap)
	return &j.gcs
}

// appendMillis appends nanoseconds as milliseconds with three decimals, and zero as 0.
func appendMillis(dst []byte, ns int64) []byte {
	if ns == 0 {
		return append(dst, '0')
	}
	us := (ns + 500) / 1000
	dst = strconv.AppendInt(dst, us/1000, 10)
	us %= 1000
	return append(dst, '.', byte('0'+us/100), byte('0'+us/10%10), byte('0'+us%10))
}
