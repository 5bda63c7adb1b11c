//go:build linux

package bench

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/internal/testing/program"
)

// The size and memory of the program. The test binary, which is gclog on the PATH, also contains the
// tests and is a little larger, so that what holds for it holds for gclog. Everything is tested with
// gclog as the Makefile builds it, which compiles all packages a second time.

// gclog returns the program to test.
func gclog(t *testing.T) string {
	t.Helper()
	extent.Long(t)
	if extent.Full() {
		return program.Build(t)
	}
	path, err := exec.LookPath("gclog")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBinary: the program is one static file of at most 30 MB. The linker keeps every exported method
// of what is linked, because text/template calls methods by name, so each library shows here.
func TestBinary(t *testing.T) {
	path := gclog(t)
	size, err := loaded(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", size)
	if size > 30<<20 {
		t.Errorf("the program has %d bytes", size)
	}
	if !extent.Full() {
		return // a test binary need not be static
	}
	if out, err := exec.Command("ldd", path).CombinedOutput(); err == nil && !bytes.Contains(out, []byte("not a dynamic")) && !bytes.Contains(out, []byte("statically linked")) {
		t.Errorf("the program is not static: %s", out)
	}
}

// loaded returns the size of a program without what is for debuggers, which a test binary may contain.
func loaded(path string) (size uint64, err error) {
	f, err := elf.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS {
			size += s.Size
		}
	}
	return size, nil
}

// size returns the size of a recording: several times the memory that gclog may use, so that what
// keeps its events is noticed.
func size() int64 { return int64(extent.Pick(80, 300)) << 20 }

// TestConvertMemory: converting uses the same small amount of memory however long the recording is.
func TestConvertMemory(t *testing.T) {
	gclog := gclog(t)
	for _, v := range []nettracetest.Verbose{{Filler: 5000}, {Pins: 20000}} {
		v.Size = size()
		cmd := exec.Command(gclog, "convert", "-", "--format", "unified", "-o", "/dev/null")
		mb := runOn(t, cmd, v) >> 20
		t.Logf("%+v: %d MB", v, mb)
		if mb > 32 || mb == 0 {
			t.Errorf("%+v: %d MB of memory", v, mb)
		}
	}
}

// TestSummaryMemory: a summary keeps little about each pause, and nothing about what is between
// pauses. Up to 16 MB are pages of the program's file.
func TestSummaryMemory(t *testing.T) {
	gclog := gclog(t)
	for _, v := range []nettracetest.Verbose{{Filler: 5000}, {Filler: denseFiller}} {
		v.Size = size()
		mb := runOn(t, exec.Command(gclog, "summary", "-"), v) >> 20
		t.Logf("%+v: %d MB", v, mb)
		if mb > 40 || mb == 0 {
			t.Errorf("%+v: %d MB of memory", v, mb)
		}
	}
}

// TestStatMemory: heap stat keeps nothing about single objects, nor about what holds them.
func TestStatMemory(t *testing.T) {
	gclog := gclog(t)
	for _, c := range []nettracetest.HeapWalk{{}, {Gaps: true, Late: true}, {Late: true}, {Gaps: true}}[:extent.Pick(2, 4)] {
		c.Objects = extent.Pick(2_000_000, 10_000_000)
		cmd := exec.Command(gclog, "heap", "stat", "-")
		mb := runOn(t, cmd, c) >> 20
		t.Logf("%+v: %d MB", c, mb)
		if mb > 64 || mb == 0 {
			t.Errorf("%+v: %d MB of memory", c, mb)
		}
		if out := cmd.Stdout.(*bytes.Buffer).String(); !strings.Contains(out, fmt.Sprintf("%d objects in %d.0 MB\n", c.Objects, c.Objects*24/1e6)) {
			t.Error(out)
		}
	}
}
