package unpack_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/gclog/gclog/internal/unpack"
)

// TestSize: the size of the content is known if it is that of the rest of a file.
func TestSize(t *testing.T) {
	text := bytes.Repeat([]byte("gclog "), 1000)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(text)
	_ = z.Close()
	file := func(b []byte, skip int64) io.Reader {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		if _, err := f.Seek(skip, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		return f
	}
	pipe, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	_, _ = w.Write(text)
	_ = w.Close()
	for _, c := range []struct {
		name string
		r    io.Reader
		want []byte
		size int // -1: unknown
	}{
		{"a file", file(text, 0), text, len(text)},
		{"the rest of a file", file(text, 100), text[100:], len(text) - 100},
		{"3 bytes", file(text[:3], 0), text[:3], 3},
		{"an empty file", file(nil, 0), nil, 0},
		{"gzip", file(packed.Bytes(), 0), text, -1},
		{"a pipe", pipe, text, -1},
	} {
		var read atomic.Int64
		content, err := unpack.Reader(c.r, &read)
		if err != nil {
			t.Fatal(c.name, err)
		}
		left := func() int {
			if s, ok := content.(interface{ Len() int }); ok {
				return s.Len()
			}
			return -1
		}
		if n := left(); n != c.size {
			t.Errorf("%s: %d bytes are left, want %d", c.name, n, c.size)
		}
		got, err := io.ReadAll(content)
		if n := left(); !bytes.Equal(got, c.want) || err != nil || n != min(c.size, 0) {
			t.Errorf("%s: %d bytes, %v; then %d are left", c.name, len(got), err, n)
		}
	}
}
