package analysis_test

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"unicode/utf16"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// TestFinalized checks that objects of a type count together, whatever its id, and that those
// without a name, outside the window or of too many types are left out.
func TestFinalized(t *testing.T) {
	z := analysis.NewTypes(analysis.Window{From: 10, To: 20})
	emit := func(at int64, id uint64, name string) {
		var text clr.UTF16
		for _, u := range utf16.Encode([]rune(name)) {
			text = append(text, byte(u), byte(u>>8))
		}
		z.Event(gclog.Stamp{Time: at}, &clr.FinalizeObject{TypeID: id, TypeName: text}, nil)
	}
	for range 3 {
		emit(10, 1, "A")
	}
	emit(19, 2, "A")
	emit(9, 3, "early")
	emit(20, 4, "late")
	emit(15, 5, "")
	for range 2 {
		emit(15, 6, "B")
	}
	if got := fmt.Sprint(z.Finalized(5)); got != "[{A 4} {B 2}]" {
		t.Errorf("they are %s", got)
	}
	if got := fmt.Sprint(z.Finalized(1)); got != "[{A 4}]" {
		t.Errorf("the most frequent is %s", got)
	}
	for i := range uint64(5000) {
		emit(15, 100+i, fmt.Sprint("type", i))
	}
	if n := len(z.Finalized(9999)); n > 1024 {
		t.Errorf("%d types are kept", n)
	}
}

// TestFinalizedReported checks that every event with a name counts, as many as TraceEvent delivers,
// and none in recordings without such events. The number is that of the finalizer thread, apart
// from what ran after the latest collection.
func TestFinalizedReported(t *testing.T) {
	for _, x := range []struct {
		name           string
		objects, named uint64 // in events.jsonl.gz of the oracle: R 29 or P 192, and P 192
	}{
		{"net10-wks-verbose", 7153, 0},
		{"net10-svr-verbose", 18800, 0},
		{"net8-wks-verbose", 5800, 5800},
		{"verb", 15036, 15036},
		{"wks", 15053, 15053},
		{"svr", 15010, 15010},
	} {
		t.Run(x.name, func(t *testing.T) {
			s, types := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()}), analysis.NewTypes(analysis.Always())
			processes := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return s.Observe })
			processes.Events = func(*gclog.Process) gclog.EventObserver { return types.Event }
			stream := recordings.Read(t, filepath.Join(recordings.Dir(t), "traces", x.name+".nettrace.gz"))
			if err := processes.Drain(parse.NewReader(bytes.NewReader(stream), gclog.WantedFinalized)); err != nil {
				t.Fatal(err)
			}
			processes.Finish()
			named := uint64(0)
			for _, one := range types.Finalized(math.MaxInt) {
				named += one.Objects
			}
			if named != x.named {
				t.Errorf("%d objects have a type, want %d", named, x.named)
			}
			objects := float64(x.objects)
			if n := s.Summary().Finalized; !n.Known() || n.Value > objects || n.Value < 0.9*objects {
				t.Errorf("%+v objects were finalized, want %v, or a little less", n, objects)
			}
		})
	}
}
