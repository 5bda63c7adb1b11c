package accesslog

import (
	"bytes"
	"errors"
	"io"
)

// maxRow is how long a row may be that is looked into.
const maxRow = 1 << 20

// rows reads rows from a stream, in memory of a fixed size.
type rows struct {
	src      io.Reader
	buf      []byte
	from, to int // what is read and not taken
	err      error
}

// fill reads more. It is false where the stream has ended or failed.
func (r *rows) fill() bool {
	if r.buf == nil {
		r.buf = make([]byte, maxRow+256<<10)
	}
	if r.from > 0 && r.to == len(r.buf) {
		r.to = copy(r.buf, r.buf[r.from:r.to])
		r.from = 0
	}
	for range 100 {
		if r.err != nil {
			return false
		}
		var n int
		n, r.err = r.src.Read(r.buf[r.to:])
		r.to += n
		if n > 0 {
			return true
		}
	}
	r.err = io.ErrNoProgress
	return false
}

func (r *rows) take(n int) []byte {
	b := r.buf[r.from : r.from+n]
	r.from += n
	return b
}

// back gives back the last n bytes that were taken.
func (r *rows) back(n int) { r.from -= n }

// failure is what the stream failed with; its end is no failure.
func (r *rows) failure() error {
	if errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.err
}

// head returns what the stream begins with, without taking it, up to what is no blank.
func (r *rows) head() ([]byte, error) {
	for {
		b := r.buf[r.from:r.to]
		if text := bytes.TrimPrefix(b, byteOrderMark); len(b) >= maxRow || len(b) >= len(byteOrderMark) && !blank(text) {
			return b, nil
		}
		if !r.fill() {
			return r.buf[r.from:r.to], r.failure()
		}
	}
}

// next returns the next row, whose length row tells, with the end of its line. It is valid
// until the next call. What is not whole is the start of one that is too long. An empty
// one is the end.
func (r *rows) next(row func(b []byte, last bool) int) (b []byte, whole bool, err error) {
	for last := false; ; last = !r.fill() {
		long := r.to-r.from >= maxRow
		if n := row(r.buf[r.from:r.to], long || last); n > 0 {
			return r.take(n), n <= maxRow, nil
		}
		if long {
			return r.take(r.to - r.from), false, nil
		}
		if last {
			return r.take(r.to - r.from), true, r.failure()
		}
	}
}

// piece returns what comes next, however much that is. An empty one is the end.
func (r *rows) piece() ([]byte, error) {
	if r.from == r.to && !r.fill() {
		return nil, r.failure()
	}
	return r.take(r.to - r.from), nil
}

// endOfLine is how long the first line of b is with its end, 0 if that is not in b.
func endOfLine(b []byte) int { return bytes.IndexByte(b, '\n') + 1 }

// lines is how many lines end in b.
func lines(b []byte) int64 { return int64(bytes.Count(b, newline)) }

var newline = []byte{'\n'}

// blank reports whether a row has nothing in it.
func blank(b []byte) bool {
	for _, c := range b {
		if c > ' ' {
			return false
		}
	}
	return true
}

// cutEnd divides a row from the end of its line.
func cutEnd(row []byte) (text, end []byte) {
	n := len(row)
	if n > 0 && row[n-1] == '\n' {
		n--
	}
	if n > 0 && row[n-1] == '\r' {
		n--
	}
	return row[:n], row[n:]
}
