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

	"github.com/klauspost/compress/zstd"
)

// An Error is an error of reading or unpacking a file, not of its content.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// A reader reads the content of a file. Its errors are of type *Error.
type reader struct{ r io.Reader }

// Reader decompresses gzip and zstd, recognized by their first bytes. Other content is read as it
// is, and has the method Len if its size is known. The number of bytes read from the file is added to
// read. Errors are of type *Error.
func Reader(r io.Reader, read *atomic.Int64) (io.Reader, error) {
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
		return &reader{z}, nil
	case bytes.Equal(head[:n], []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(whole, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, &Error{fmt.Errorf("unpacking zstd: %w", err)}
		}
		return &reader{z}, nil
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

// maxWindow is how far back a zstd file may refer: what zstd -19 uses.
const maxWindow = 8 << 20

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = errors.New("it was packed with --long or --ultra, which needs more than 8 MB to unpack: unpack it with zstd -d --long=31 first")
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
