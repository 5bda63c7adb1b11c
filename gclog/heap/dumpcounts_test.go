package heap

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestDumpCounts: the counts in a file are those of the objects in it.
func TestDumpCounts(t *testing.T) {
	g := graphOf(t, "testdata/small.nettrace.gz")
	g.ages = make([]Generation, g.Len())
	for o := range g.ages {
		g.ages[o] = Generation(o % int(UnknownGeneration))
	}
	g.Types[3].Exact = "Exact.Name"
	g.Process = Process{42, "app"}
	file := writeDump(t, g, &DumpInfo{})
	h, _, err := ReadDumpHistogram(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	read, _ := readDump(t, file)
	if want := read.Histogram(); !reflect.DeepEqual(h, want) {
		t.Errorf("%+v, want %+v", h, want)
	}
	if !reflect.DeepEqual(h.Counts, g.Histogram().Counts) || h.Total().Objects != 7095 || h.Total().References != uint64(g.NumReferences()) {
		t.Errorf("%+v", h.Counts)
	}
	for n := 0; n < len(file); n++ {
		if _, _, err := ReadDumpHistogram(bytes.NewReader(file[:n])); err == nil || errors.Is(err, ErrUncounted) {
			t.Fatalf("%d bytes of %d: %v", n, len(file), err)
		}
		if n > 1000 && n < len(file)-1000 {
			n += 997
		}
	}
}

// TestUncounted: the files of others, and those of an early version, have no counts.
func TestUncounted(t *testing.T) {
	l, info := goldenTiny()
	l.g.Types = []Type{{Name: "A"}, {Name: "B"}}
	var early bytes.Buffer
	var w, types privateWriter
	w.u(privateVersion, privateMinReader)
	types.u(append([]uint64{2}, make([]uint64, 2*7)...)...)
	w.section(sectionTypes, types)
	if err := l.write(&early, info, w); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{
		"PerfView": recordings.Read(t, "testdata/golden-tiny.gcdump"),
		"others":   recordings.Read(t, "testdata/small.gcdump"),
		"early":    early.Bytes(),
	} {
		readDump(t, file) // it is a valid one
		if _, _, err := ReadDumpHistogram(bytes.NewReader(file)); !errors.Is(err, ErrUncounted) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
