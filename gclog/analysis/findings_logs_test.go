package analysis_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// A logFile is the output of a log that keeps it.
type logFile struct{ text []byte }

func (f *logFile) Write(head formats.Head, group []byte, _ bool) error {
	if f.text == nil {
		f.text = head.Append(nil, 1)
	}
	f.text = append(f.text, group...)
	return nil
}

// logged returns findings from a log.
type logged struct {
	*analysis.Findings
	now int64
}

// Observe takes a record.
func (o *logged) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		o.now = max(o.now, r.Start+r.Duration)
		o.Findings.Observe(r)
	case *gclog.End:
		o.Findings.Observe(&gclog.End{At: o.now})
	default:
		o.Findings.Observe(r)
	}
}

// TestFindingsOfLogs checks that what is found in a recording is found in its log, unless the log
// lacks the data, and that nothing else is found there.
func TestFindingsOfLogs(t *testing.T) {
	extent.Long(t)
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		of, facts := recorded(t, stream)
		if tr.Name == "stall" || tr.Name == "v6-wksb" {
			t.Skip("what was lost is not in the log, and what has a flaw there is whole in it")
		}
		if len(of) != 1 {
			t.Skip("a log of the JDK flavours has one process")
		}
		for _, name := range []string{"json", "unified", "csv"} {
			format, err := formats.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			var file logFile
			read(t, stream, func(p *gclog.Process) gclog.Observer {
				return formats.NewWriter(format, &file, formats.Options{Process: *facts[0], Version: "1", Session: "test"}).Observe
			})
			head, ok := logs.Recognize(file.text[:min(len(file.text), logs.HeadSize)])
			if !ok {
				t.Fatalf("%s is not recognized", name)
			}
			var again *logged
			r, err := logs.NewReader(head, func(p *gclog.Process) gclog.Observer {
				again = &logged{Findings: analysis.NewFindings(p, analysis.Thresholds{}, analysis.Always())}
				return again.Observe
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Read(bytes.NewReader(file.text)); err != nil {
				t.Fatal(err)
			}
			r.Finish()
			if again == nil {
				continue // a process without a collection
			}
			found, foundAgain := ids(of[0]), ids(again.Findings)
			var unjudged []string
			for _, u := range again.NotEvaluated() {
				unjudged = append(unjudged, u.Rule.ID)
			}
			for _, id := range found {
				if !slices.Contains(foundAgain, id) && !slices.Contains(unjudged, id) {
					x, _ := analysisOf(of[0], id)
					t.Errorf("%s lacks %s: %s", name, id, x)
				}
			}
			for _, id := range foundAgain {
				if !slices.Contains(found, id) {
					x, _ := analysisOf(again.Findings, id)
					t.Errorf("%s has %s: %s", name, id, x)
				}
			}
		}
	})
}

func analysisOf(f *analysis.Findings, id string) (string, string) {
	x, why := of(f, id)
	if x == nil {
		return "", why
	}
	return x.Text, ""
}
