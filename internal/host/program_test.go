package host_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/host"
)

// parts contains what is read of a program: lines of offset, size and the bytes, without those that
// are not needed.
type parts map[int64][]byte

func (p parts) ReadAt(b []byte, at int64) (int, error) {
	part, found := p[at]
	if !found || len(part) < len(b) {
		return 0, io.EOF
	}
	return copy(b, part), nil
}

func readParts(t testing.TB, path string) parts {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := parts{}
	for line := range strings.Lines(string(text)) {
		var at, size int64
		var bytes string
		if _, err := fmt.Sscan(line, &at, &size, &bytes); err != nil {
			t.Fatal(err)
		}
		part, err := hex.DecodeString(bytes)
		if err != nil {
			t.Fatal(err)
		}
		if len(part) < int(size) {
			part = append(part, make([]byte, int(size)-len(part))...)
		}
		if len(part) > len(p[at]) {
			p[at] = part
		}
	}
	return p
}

// TestProgramRuntime: real programs show their runtime. The single-file ones are PyPI's
// metaengine-openapi-httpx 1.0.0 (.NET 8) and npm's @azure/mcp 2.0.5 (.NET 10).
func TestProgramRuntime(t *testing.T) {
	files, err := filepath.Glob("testdata/programs/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d programs: %v", len(files), err)
	}
	for _, path := range files {
		want := host.RuntimeUnknown // the runtime is a library
		switch {
		case strings.Contains(path, "single-file"):
			want = host.RuntimeCoreCLR
		case strings.Contains(path, "nativeaot"):
			want = host.RuntimeNativeAOT
		}
		if got := host.ProgramRuntime(readParts(t, path)); got != want {
			t.Errorf("%s: runtime %d, want %d", path, got, want)
		}
	}
	self, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	for what, file := range map[string]io.ReaderAt{"a Go program": self, "a script": strings.NewReader("#!/bin/sh\n"), "nothing": strings.NewReader("")} {
		if got := host.ProgramRuntime(file); got != host.RuntimeUnknown {
			t.Errorf("%s: runtime %d", what, got)
		}
	}
}

// A budget is a file of which only a limited number of bytes may be read.
type budget struct {
	t    *testing.T
	file *bytes.Reader
	left int
}

func (b *budget) ReadAt(p []byte, at int64) (int, error) {
	if b.left -= len(p); b.left < 0 {
		b.t.Fatal("more is read than a few MB")
	}
	return b.file.ReadAt(p, at)
}

// FuzzProgramRuntime: a file may contain anything.
func FuzzProgramRuntime(f *testing.F) {
	files, _ := filepath.Glob("testdata/programs/*.txt")
	for _, path := range files {
		var whole []byte
		for at, part := range readParts(f, path) {
			if end := at + int64(len(part)); end < 1<<16 {
				whole = append(whole, make([]byte, max(0, end-int64(len(whole))))...)
				copy(whole[at:], part)
			}
		}
		f.Add(whole)
	}
	f.Fuzz(func(t *testing.T, b []byte) { host.ProgramRuntime(&budget{t, bytes.NewReader(b), 4 << 20}) })
}
