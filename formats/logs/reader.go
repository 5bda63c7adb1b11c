package logs

import (
	"bytes"
	"errors"
	"io"
	"math"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// An Observer is told what is in a log of one process, in the order of the log.
// What it is given is valid during the call only.
type Observer interface {
	gclog.Observer
	Start(*formats.Start)
	Stall(*gclog.Stall)
	Suspension(*gclog.Suspension)
	End(*formats.End) // of a session
}

// A Head is what the begin of a file says.
type Head struct {
	Format string // name of the format: see formats.Find
	// Time puts the files of a log into order: it is that of the first line, of logs with
	// one record for each collection the latest end of one in the head. Where a log has no
	// dates, only uptimes, it is that long after the start of 1970. Its zone is that which
	// the log is written in, where its lines are one by one as they happened.
	Time  time.Time
	Dated bool
	// ProcessID is that of the process that the file is of, 0 if the head does not say
	// it, or if a file may hold several.
	ProcessID int64
	// Sessions: the log holds more than collections: pauses without one and, if it is Dated, from
	// when on and until when the process was observed. In unified they are lines of [gc,init],
	// as the head is: -Xlog may have left them out.
	Sessions bool
	File     int64 // the number of the file in its session, from 1; 0 if the head does not say it
	// JavaOnly: gclog has written it for Java tools, which ask for less, and does not read it
	// back: jdk8, and unified without DotNet lines.
	JavaOnly bool
}

// Err returns a JavaOnlyError for a log that is not read back, nil for others.
func (h Head) Err() error {
	if h.JavaOnly {
		return &JavaOnlyError{h.Format}
	}
	return nil
}

// A JavaOnlyError says that a log was written for Java tools, and lacks what gclog needs: the
// numbers of the collections, or their generations.
type JavaOnlyError struct {
	Format string // jdk8, or unified: without DotNet lines
}

func (e *JavaOnlyError) Error() string {
	if e.Format == "unified" {
		return "it is a unified log without DotNet: lines, which gclog writes for Java tools but does not read back: use unified with gc+stats, json or csv"
	}
	return "it is a " + e.Format + " log, which gclog writes for Java tools but does not read back: use unified, json or csv"
}

// HeadSize is how many bytes of a file Recognize needs to see, unless lines of others
// stand before the first one of ours.
const HeadSize = 64 << 10

// Recognize tells of what format a file is by its start.
func Recognize(head []byte) (h Head, ok bool) {
	rest := bytes.TrimPrefix(head, byteOrderMark)
	for len(rest) > 0 {
		var line []byte
		line, rest, _ = bytes.Cut(rest, newline)
		line = bytes.TrimSuffix(line, carriageReturn)
		for i := range table {
			f := &table[i]
			if ok && f.name != h.Format {
				continue
			}
			at, recognized := f.recognize(line)
			if !recognized {
				continue
			}
			h.Format, ok = f.name, true
			if at.After(h.Time) {
				h.Time = at
			}
			if !f.byEnd && !h.Time.IsZero() {
				rest = nil
			}
			break
		}
	}
	h.Dated = h.Time.Year() > 1971
	if f, err := formats.Find(h.Format); err == nil && !f.ManyProcesses() {
		h.ProcessID = numberIn(head, ", process ")
	}
	if first, _, _ := bytes.Cut(head, newline); h.Format == "json" && bytes.Contains(first, []byte(" of this session")) {
		h.File = numberIn(first, ", file ")
	}
	h.Sessions = h.Format == "json" || h.Format == "unified" && h.ProcessID != 0
	h.JavaOnly = h.Format == "jdk8" || h.Format == "unified" && isPlain(head)
	return h, ok
}

// numberIn returns the number after a text in the first lines of a file, such as "process 4711" in
// the heads of the JDK formats; 0 if there is none.
func numberIn(head []byte, text string) int64 {
	_, rest, found := bytes.Cut(head, []byte(text))
	n, _, ok := number(rest)
	if !found || !ok || n > math.MaxInt64 {
		return 0
	}
	return int64(n)
}

var (
	newline, carriageReturn = []byte{'\n'}, []byte{'\r'}
	byteOrderMark           = []byte("\ufeff")
)

// Lacks says in one sentence for people what logs of a format do not hold.
func Lacks(format string) string {
	for i := range table {
		if table[i].name == format {
			return table[i].lacks
		}
	}
	return ""
}

// A formatReader is how the logs of one format are recognized and read.
type formatReader struct {
	name  string
	lacks string
	byEnd bool // lines are in the order in which what they tell has ended
	// recognize reports whether a line is of this format, and its time: zero if it has
	// none.
	recognize func(line []byte) (time.Time, bool)
	new       func(observe func(*gclog.Process) Observer, at *reading) parser
}

// A parser reads the lines of a log.
type parser interface {
	// line takes a line without its end, which is not empty, and keeps nothing of it.
	// It is false for one that is not of this format, or damaged.
	line(b []byte) bool
	// finish tells what is open when the log has ended.
	finish()
}

var table = []formatReader{
	{name: "unified", lacks: unifiedLacks, recognize: recognizeUnified, new: newUnified},
	{name: "jdk8", recognize: recognizeJDK8},
	{name: "csv", byEnd: true, lacks: csvLacks, recognize: recognizeCSV, new: newCSV},
	{name: "json", byEnd: true, lacks: jsonLacks, recognize: recognizeJSON, new: newJSON},
}

// A Reader reads a log: a file, or the files of a series.
type Reader struct {
	p   parser
	at  *reading
	buf []byte
}

// NewReader returns a Reader for logs of the format of h. observe is called for each
// process in them before its first record, with what is known of it by then; with
// nil from it the records of a process are left out. The Process is the Reader's.
func NewReader(h Head, observe func(*gclog.Process) Observer) (*Reader, error) {
	if err := h.Err(); err != nil {
		return nil, err
	}
	for i := range table {
		if table[i].name == h.Format && table[i].new != nil {
			at := &reading{file: -1}
			return &Reader{p: table[i].new(observe, at), at: at}, nil
		}
	}
	return nil, errors.New("logs of the format " + h.Format + " cannot be read")
}

// Skipped are the lines of a file that were passed over: damaged ones, and those of
// others.
type Skipped struct {
	Count int64
	Lines []int64 // numbers of the first of them, from 1
}

func (s *Skipped) add(line int64) {
	const most = 10
	s.Count++
	if len(s.Lines) < most {
		s.Lines = append(s.Lines, line)
	}
}

const (
	bufferSize = 256 << 10
	maxLine    = 1 << 20 // of what is longer nothing is ours
)

// Read reads one file to its end. The files of a series are read in turn, the oldest
// first: a group of lines and a background collection may go on in the next one. A
// file that tells a collection a second time is read no further: it is an OverlapError.
func (r *Reader) Read(src io.Reader) (skipped Skipped, err error) {
	if r.buf == nil {
		r.buf = make([]byte, bufferSize)
	}
	r.at.file++
	r.at.plain, r.at.details = false, false
	number := int64(0)
	take := func(line []byte) {
		if number++; number == 1 {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		line = bytes.TrimSuffix(line, carriageReturn)
		r.at.line = number
		if len(line) > 0 && r.at.overlap == nil && !r.p.line(line) {
			skipped.add(number)
		}
	}
	tooLong := false
	have := 0 // bytes of an unfinished line at the start of buf
	for {
		n, err := src.Read(r.buf[have:])
		rest := r.buf[:have+n]
		from := have
		for {
			i := bytes.IndexByte(rest[from:], '\n')
			if i < 0 {
				break
			}
			if tooLong {
				number++
				skipped.add(number)
				tooLong = false
			} else {
				take(rest[:from+i])
			}
			rest, from = rest[from+i+1:], 0
		}
		switch {
		case tooLong:
			have = 0
		case len(rest) >= maxLine:
			tooLong, have = true, 0
		default:
			if len(rest) == len(r.buf) {
				r.buf = append(make([]byte, 0, 2*len(r.buf)), rest...)[:2*len(r.buf)]
				have = len(rest)
			} else {
				have = copy(r.buf, rest)
			}
		}
		if r.at.overlap != nil {
			return skipped, r.at.overlap
		}
		if err == nil {
			continue
		}
		if tooLong {
			skipped.add(number + 1)
		} else if have > 0 {
			take(r.buf[:have])
		}
		switch {
		case r.at.overlap != nil:
			err = r.at.overlap
		case !errors.Is(err, io.EOF):
		case r.at.plain && !r.at.details:
			err = &JavaOnlyError{"unified"} // its head had no pauses
		default:
			err = nil
		}
		return skipped, err
	}
}

// Finish tells what is open when the last file has been read.
func (r *Reader) Finish() { r.p.finish() }
