// Package unpack reads files that may be compressed: recordings and logs are often stored as gzip
// or zstd.
package unpack

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/gclog/gclog/formats"
	"github.com/klauspost/compress/zstd"
)

// An Error is an error of reading or unpacking a file, not of its content.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// How many bytes a packed file may unpack to, unless the user sets another limit. A file of 2 MB may
// contain 2 GB (gzip) or 60 (zstd).
const (
	// LimitKept is for files that are kept in memory, which takes some three times as much.
	LimitKept = 1 << 30
	// LimitPassed is for files that are read in constant memory: it bounds the time.
	LimitPassed = 64 << 30
)

// Flag is the flag of the commands with which users set the limit.
const Flag = "max-unpacked"

// A LimitError reports that a file unpacks to more than the limit.
type LimitError struct{ Limit int64 }

func (e *LimitError) Error() string {
	return fmt.Sprintf("it unpacks to more than %s: --%s SIZE raises the limit, and a file that is not packed has none",
		formats.SizeText(e.Limit), Flag)
}

// A reader reads the content of a file. Its errors are of type *Error.
type reader struct{ r io.Reader }

// Reader decompresses gzip and zstd, recognized by their first bytes, up to a limit: what exceeds it
// is a *LimitError. Other content is read as it is, without a limit, and has the method Len if its size
// is known. The number of bytes read from the file is added to read. Errors are of type *Error.
func Reader(r io.Reader, read *atomic.Int64, limit int64) (io.Reader, error) {
	file := r
	r = &counter{r, read}
	var head [4]byte
	n, err := io.ReadFull(r, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, &Error{err}
	}
	whole := io.MultiReader(bytes.NewReader(head[:n]), r)
	switch {
	case bytes.HasPrefix(head[:n], []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(bufio.NewReaderSize(whole, 64<<10))
		if err != nil {
			return nil, &Error{fmt.Errorf("unpacking gzip: %w", err)}
		}
		return &reader{&limited{z, limit, limit}}, nil
	case bytes.Equal(head[:n], []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(whole, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(noLimit))
		if err != nil {
			return nil, &Error{fmt.Errorf("unpacking zstd: %w", err)}
		}
		return &reader{&limited{z, limit, limit}}, nil
	}
	if left, ok := remaining(file); ok {
		return &sized{reader{whole}, left + int64(n)}, nil
	}
	return &reader{whole}, nil
}

// remaining returns the size of the rest of a regular file.
func remaining(r io.Reader) (int64, bool) {
	f, ok := r.(*os.File)
	if !ok {
		return 0, false
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	at, err := f.Seek(0, io.SeekCurrent)
	return info.Size() - at, err == nil && at <= info.Size()
}

// sized is a reader of a file that is not compressed. Its size is known.
type sized struct {
	reader
	left int64
}

// Read implements io.Reader.
func (s *sized) Read(p []byte) (int, error) {
	n, err := s.reader.Read(p)
	s.left -= int64(n)
	return n, err
}

// Len returns how many bytes are left.
func (s *sized) Len() int { return int(max(s.left, 0)) }

// limited reads what is unpacked, up to a limit.
type limited struct {
	r           io.Reader
	left, limit int64
}

// Read implements io.Reader.
func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1] // one more shows that there is more
	}
	n, err := l.r.Read(p)
	if int64(n) > l.left {
		n, err = int(l.left), &LimitError{l.limit}
	}
	l.left -= int64(n)
	return n, err
}

// noLimit is for zstd's own limit of what it unpacks to: there is another one.
const noLimit = 1 << 62

// maxWindow is how far back a zstd file may refer: what zstd -19 uses.
const maxWindow = 8 << 20

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = errors.New("it was packed with --long or --ultra, which needs more than 8 MB to unpack: unpack it with " +
			"zstd -d --long=31 first")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = &Error{err}
	}
	return n, err
}

// A counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}
