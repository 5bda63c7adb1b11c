package callers

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/internal/callers"
	"github.com/gclog/gclog/internal/report"
	"github.com/gclog/gclog/internal/testing/recordings"
)

func profileOf(t *testing.T, name string) *stacks.Profile {
	t.Helper()
	path := filepath.Join("..", "..", "..", "gclog", "stacks", "testdata", name+".nettrace.gz")
	p, err := stacks.Read(bytes.NewReader(recordings.Read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestReport: a report has who allocates and who asks for collections, and boxes that add up.
func TestReport(t *testing.T) {
	s := Report(profileOf(t, "net11-svr-alloc"))
	if len(s.Types.Rows) < 5 || len(s.Paths.Rows) < 8 || s.Callers.Rows != nil || len(s.Notes) > 0 {
		t.Errorf("%+v", s)
	}
	if got := s.Paths.Rows[0][4]; !strings.HasPrefix(got, "GcLoad.Shop.Buffers.Fill ← GcLoad.Shop.Buffers.Read ← ") {
		t.Errorf("%s", got)
	}
	n := 0
	var check func(x *report.Node)
	check = func(x *report.Node) {
		n++
		sum := uint64(0)
		for _, b := range x.Below {
			sum += b.Bytes
			check(b)
		}
		if sum > x.Bytes+uint64(len(x.Below)) {
			t.Errorf("%s has %d bytes, and what is below it %d", x.Name, x.Bytes, sum)
		}
	}
	check(s.Tree)
	if n < 20 || n > 2*reportBoxes {
		t.Errorf("%d boxes", n)
	}
	s = Report(profileOf(t, "core31-wks-callers"))
	if fmt.Sprint(s.Callers.Rows[0]) != "[126 23.2 ms 1.9 ms GC.Collect: gen0 GcLoad.Shop.Ticker.Tick]" || s.Tree != nil {
		t.Errorf("%+v", s)
	}
}

// TestBoxes: a tree with more methods than there is room for has as many boxes, and one for the rest of each.
func TestBoxes(t *testing.T) {
	deep := &callers.Node{Name: "deep"}
	for n, i := deep, 0; i < 1000; i++ {
		next := &callers.Node{Name: "deep"}
		next.Bytes = 1
		n.Calls = []*callers.Node{next}
		n = next
	}
	wide := &callers.Node{Calls: []*callers.Node{deep}}
	for range 100_000 {
		next := &callers.Node{Name: "wide"}
		next.Bytes = 1
		wide.Calls = append(wide.Calls, next)
	}
	top := boxes(wide)
	n, levels := 0, 0
	for level := []*report.Node{top}; len(level) > 0; levels++ {
		var below []*report.Node
		for _, x := range level {
			n++
			below = append(below, x.Below...)
		}
		level = below
	}
	if last := top.Below[len(top.Below)-1]; n > reportBoxes+reportDepth || levels > reportDepth+2 || last.Name != "other" || last.Bytes < 90_000 {
		t.Errorf("%d boxes in %d levels, %+v", n, levels, last)
	}
}
