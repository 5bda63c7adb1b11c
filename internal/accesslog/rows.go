package accesslog

import (
	"bytes"
	"errors"
	"io"
)

// maxRow is the maximum length of a row that is parsed.
const maxRow = 1 << 20

// rows reads rows from a stream, in a buffer of fixed size.
type rows struct {
	src      io.Reader
	buf      []byte
	from, to int // the part of buf that was read but not taken
	err      error
}

// fill reads more. It returns false if the stream has ended or failed.
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

// back returns the last n bytes that were taken to the buffer.
func (r *rows) back(n int) { r.from -= n }

// failure returns the error of the stream; its end is not an error.
func (r *rows) failure() error {
	if errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.err
}

// head returns the start of the stream, up to something that is not whitespace, without taking it.
func (r *rows) head() ([]byte, error) {
	for {
		b := r.buf[r.from:r.to]
		if len(b) >= maxRow || len(b) >= len(byteOrderMark) && !blank(bytes.TrimPrefix(b, byteOrderMark)) {
			return b, nil
		}
		if !r.fill() {
			return r.buf[r.from:r.to], r.failure()
		}
	}
}

// next returns the next row, including the end of its line; row determines its length. The row is
// valid until the next call. If it is not whole, it is the start of a row that is too long. An
// empty row is the end.
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

// piece returns the next part of the stream, of any length. An empty one is the end.
func (r *rows) piece() ([]byte, error) {
	if r.from == r.to && !r.fill() {
		return nil, r.failure()
	}
	return r.take(r.to - r.from), nil
}

// endOfLine returns the length of the first line of b, including its end; 0 if b does not contain
// the end.
func endOfLine(b []byte) int { return bytes.IndexByte(b, '\n') + 1 }

// lines returns how many lines end in b.
func lines(b []byte) int64 { return int64(bytes.Count(b, newline)) }

var newline = []byte{'\n'}

// blank reports whether a row contains only whitespace.
func blank(b []byte) bool {
	for _, c := range b {
		if c > ' ' {
			return false
		}
	}
	return true
}

// cutEnd separates a row from the end of its line.
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
