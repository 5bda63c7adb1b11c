package analysis_test

import (
	"bytes"
	"math"
	"regexp"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// A text is the output of a formatter.
type text struct{ b []byte }

func (o *text) Write(head formats.Head, group []byte, _ bool) error {
	if o.b == nil {
		o.b = head.Append(nil, 1)
	}
	o.b = append(o.b, group...)
	return nil
}

// TestLogs checks that what a log cannot contain is unknown, and never 0, and that a log in JSON
// has the same values for the collections as the recording.
func TestLogs(t *testing.T) {
	extent.Long(t)
	forEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		for _, name := range []string{"json", "csv", "unified"} {
			t.Run(name, func(t *testing.T) {
				written, want := writeLog(t, stream, name)
				if len(want) != 1 || written == nil {
					t.Skip("not the records of one process")
				}
				got := readLog(t, written)
				if got.Sparse == (name == "json") {
					t.Errorf("sparse: %v", got.Sparse)
				}
				right := want[0].Summary().Metrics()
				for i, m := range got.Metrics() {
					w := right[i]
					switch {
					case ofSession.MatchString(m.Name):
					case m.Known() && m.Value == 0 && math.Abs(w.Value) > rounding[m.Unit]:
						t.Errorf("%s is 0, in the recording %+v", m.Name, w.Number)
					case name == "json" && (m.Known() != w.Known() || math.Abs(m.Value-w.Value) > 1e-3*math.Abs(w.Value)+rounding[m.Unit]):
						t.Errorf("%s is %+v, in the recording %+v", m.Name, m.Number, w.Number)
					}
				}
			})
		}
	})
}

// ofSession are metrics that depend on the duration of the session, which is not reported here.
var ofSession = regexp.MustCompile(`^duration$|share|mutator|rate$|since`)

// rounding is what a format may round to 0.
var rounding = map[string]float64{"ns": 1000, "bytes": 1024, "bytes/s": 1e6}

// writeLog writes the records of a recording in a format.
func writeLog(t *testing.T, stream []byte, name string) (written []byte, all []*analysis.Statistics) {
	t.Helper()
	format, err := formats.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	var out text
	read(t, stream, func(p *gclog.Process) gclog.Observer {
		s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
		all = append(all, s)
		return gclog.Tee(formats.NewWriter(format, &out, formats.Options{Process: *p, Version: "1.0"}).Observe, s.Observe)
	})
	return out.b, all
}

// readLog summarizes a log of one process.
func readLog(t *testing.T, log []byte) *analysis.Summary {
	t.Helper()
	h, ok := logs.Recognize(log[:min(len(log), logs.HeadSize)])
	if !ok {
		t.Fatal("not recognized")
	}
	s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	r, err := logs.NewReader(h, func(*gclog.Process) gclog.Observer { return s.Observe })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(bytes.NewReader(log)); err != nil {
		t.Fatal(err)
	}
	r.Finish()
	return s.Summary()
}
