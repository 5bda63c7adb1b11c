package unpack_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/gclog/gclog/internal/unpack"
	"github.com/klauspost/compress/zstd"
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
		content, err := unpack.Reader(c.r, &read, unpack.LimitPassed)
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

// TestLimit: a packed file is read up to the limit, in all its members and frames; other files are read
// to their end.
func TestLimit(t *testing.T) {
	const size = 100_000
	text := bytes.Repeat([]byte("gclog "), size/6+1)[:size]
	var member, frame bytes.Buffer
	z := gzip.NewWriter(&member)
	_, _ = z.Write(text[:size/2])
	_ = z.Close()
	s, err := zstd.NewWriter(&frame)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = s.Write(text[:size/2])
	_ = s.Close()
	for name, packed := range map[string][]byte{
		"gzip": append(member.Bytes(), member.Bytes()...), "zstd": append(frame.Bytes(), frame.Bytes()...), "no": text,
	} {
		for limit, want := range map[int64]int{size: size, size + 1: size, size - 1: size - 1, 1000: 1000} {
			if name == "no" {
				want = size
			}
			var read atomic.Int64
			r, err := unpack.Reader(bytes.NewReader(packed), &read, limit)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			over, ok := errors.AsType[*unpack.LimitError](err)
			if len(got) != want || ok != (want < size) || ok && over.Limit != limit || !ok && err != nil {
				t.Errorf("%s packing, limit %d: %d bytes, %v", name, limit, len(got), err)
			}
			if _, ok := errors.AsType[*unpack.Error](err); err != nil && !ok {
				t.Errorf("%T", err)
			}
		}
	}
}
