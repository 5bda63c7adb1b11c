package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// A Head is the information in the start of a file.
type Head struct {
	Format string // name of the format: see formats.Find
	// Time orders the files of a log: it is the latest end of a record in the head. If a log has no
	// dates, it is the time since the start of its session, after the start of 1970.
	Time  time.Time
	Dated bool
	// ProcessID is the process of the file, 0 if the head does not contain it, or if the file may
	// contain several processes.
	ProcessID int64
	// Sessions: the log contains more than collections: pauses without one and, if it is Dated,
	// when the observation of the process started and ended. In unified these are lines of
	// [gc,init]: -Xlog may have excluded them.
	Sessions bool
	File     int64 // number of the file in its session, from 1; 0 if the head does not contain it
	// JavaOnly: gclog wrote it for Java tools, which require less, and cannot read it back: jdk8,
	// and unified without DotNet lines.
	JavaOnly bool
}

// Err returns a JavaOnlyError for a log that cannot be read back, nil for others.
func (h Head) Err() error {
	if h.JavaOnly {
		return &JavaOnlyError{h.Format}
	}
	return nil
}

// A JavaOnlyError reports that a log was written for Java tools, and lacks what gclog needs: the
// numbers of the collections, or their generations.
type JavaOnlyError struct {
	Format string // jdk8, or unified without DotNet lines
}

func (e *JavaOnlyError) Error() string {
	log, use := e.Format+" log", "unified"
	if e.Format == "unified" {
		log, use = "unified log without DotNet: lines", "unified with gc+stats"
	}
	return fmt.Sprintf("it is a %s, which gclog writes for Java tools but cannot read back: use %s, json or csv",
		log, use)
}

// HeadSize is how many bytes of a file Recognize needs, unless lines of other programs come before
// our first one.
const HeadSize = 64 << 10

// Recognize determines the format of a file from its start.
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
			break
		}
	}
	h.Dated = h.Format == "unified" || h.Time.Year() > 1971
	if f, err := formats.Find(h.Format); err == nil && !f.ManyProcesses() {
		h.ProcessID = numberIn(head, ", process ")
	}
	first, _, _ := bytes.Cut(head, newline)
	if h.Format == "json" && bytes.Contains(first, []byte(" of this session")) {
		h.File = numberIn(first, ", file ")
	}
	h.Sessions = h.Format == "json" || h.Format == "unified" && h.ProcessID != 0
	h.JavaOnly = h.Format == "jdk8" || h.Format == "unified" && isPlain(head)
	return h, ok
}

// numberIn returns the number after a text in the first lines of a file, such as "process 4711" in
// the headers of the JDK formats; 0 if there is none.
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

// Lacks returns a sentence for users about what logs of a format do not contain; "" for no format.
func Lacks(format string) string {
	for i := range table {
		if table[i].name == format && table[i].lacks != "" {
			return table[i].lacks
		}
	}
	if format == "" {
		return ""
	}
	return format + " has nothing that gclog can read back, and so no verdict"
}

// Reads reports whether logs of a format can be read back.
func Reads(format string) bool {
	return slices.ContainsFunc(table, func(f formatReader) bool { return f.name == format && f.new != nil })
}

// A formatReader is how logs of one format are recognized and read.
type formatReader struct {
	name  string
	lacks string
	// recognize reports whether a line has this format, and returns its time, zero if it has none.
	recognize func(line []byte) (time.Time, bool)
	new       func(observe func(*gclog.Process) gclog.Observer, at *reading) parser
}

// A parser reads the lines of a log.
type parser interface {
	// line handles a non-empty line without its end, and keeps no reference to it. It returns false
	// if the line is damaged or not in this format.
	line(b []byte) bool
	// finish emits what is open when the log has ended.
	finish()
}

var table = []formatReader{
	{name: "unified", lacks: unifiedLacks, recognize: recognizeUnified, new: newUnified},
	{name: "jdk8", recognize: recognizeJDK8},
	{name: "csv", lacks: csvLacks, recognize: recognizeCSV, new: newCSV},
	{name: "json", lacks: jsonLacks, recognize: recognizeJSON, new: newJSON},
}

// A Reader reads a log: a file, or the files of a series.
type Reader struct {
	// Live passes on records as soon as they are read, for a stream that is still being written. The
	// pauses of a background collection then come with its record, after those that began later.
	Live bool

	p   parser
	at  *reading
	buf []byte
}

// NewReader returns a Reader for logs of the format of h. It calls observe for each process before
// its first record, with what is known about the process by then; if observe returns nil, the
// records of the process are skipped. The Process belongs to the Reader.
func NewReader(h Head, observe func(*gclog.Process) gclog.Observer) (*Reader, error) {
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

// Skipped are the lines of a file that were skipped: damaged ones, and those of other programs.
type Skipped struct {
	Count int64
	Lines []int64 // the numbers of the first skipped lines, from 1
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
	maxLine    = 1 << 20 // longer lines are not ours
)

// Read reads one file to its end. The files of a series must be read in turn, oldest first: a group
// of lines and a background collection may continue in the next one. If a file contains a
// collection a second time, reading stops with an OverlapError.
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
	have := 0 // bytes of an incomplete line at the start of buf
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
		if r.Live {
			r.p.finish()
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
			err = &JavaOnlyError{"unified"} // its head contained no pauses
		default:
			err = nil
		}
		return skipped, err
	}
}

// Finish emits what is open after the last file was read.
func (r *Reader) Finish() { r.p.finish() }
