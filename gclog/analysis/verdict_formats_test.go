package analysis_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// The verdict about a process must not depend on the format of its log.

// TestVerdictsOfFormats converts logs of programs with one known trouble each, and what the memory of their
// process was, to the other formats.
func TestVerdictsOfFormats(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "scenarios", "*.json.gz"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no logs", err)
	}
	if shared := recordings.Find(); shared != "" {
		more, _ := filepath.Glob(filepath.Join(shared, "scenarios", "*.json.gz"))
		paths = append(paths, more...)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			log := unpacked(t, path)
			want := verdictOf(t, log, func(*gclog.Process) gclog.Observer { return nil })
			for _, name := range []string{"json", "unified", "csv"} {
				sameVerdict(t, name, want, func(observe func(*gclog.Process) gclog.Observer) {
					verdictOf(t, log, observe)
				})
			}
		})
	}
}

// TestVerdictsOfRecordedFormats does so for recordings.
func TestVerdictsOfRecordedFormats(t *testing.T) {
	extent.Long(t)
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		list, _ := recorded(t, stream)
		if len(list) != 1 {
			t.Skip("a log of the JDK flavours has one process")
		}
		want := list[0].Verdict()
		for _, name := range []string{"json", "unified", "csv"} {
			if tr.Name == "stall" && name != "json" {
				continue // it lost events after its last collection, which is where these end
			}
			sameVerdict(t, name, &want, func(observe func(*gclog.Process) gclog.Observer) { read(t, stream, observe) })
		}
	})
}

// sameVerdict checks the verdict about the log in a format of records that again passes on.
func sameVerdict(t *testing.T, name string, want *analysis.Verdict, again func(func(*gclog.Process) gclog.Observer)) {
	t.Helper()
	format, err := formats.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	var file logFile
	again(func(p *gclog.Process) gclog.Observer {
		return formats.NewWriter(format, &file, formats.Options{Process: *p, Version: "1", Session: "test"}).Observe
	})
	if file.text == nil {
		return // a format without sessions has nothing of a process without collections
	}
	got := verdictOf(t, file.text, func(*gclog.Process) gclog.Observer { return nil })
	if got == nil || got.GC != want.GC || got.Cause != want.Cause {
		t.Errorf("%s: the verdict is %+v; want %+v", name, got, want)
	}
}

// verdictOf returns the verdict about the process of a log, and passes on its records.
func verdictOf(t *testing.T, log []byte, observe func(*gclog.Process) gclog.Observer) *analysis.Verdict {
	t.Helper()
	f := findingsIn(t, log, observe)
	if f == nil {
		return nil
	}
	v := f.Verdict()
	return &v
}

// findingsIn returns the findings about the process of a log, nil if there is none, and passes on its records.
func findingsIn(t *testing.T, log []byte, observe func(*gclog.Process) gclog.Observer) (f *analysis.Findings) {
	t.Helper()
	head, ok := logs.Recognize(log[:min(len(log), logs.HeadSize)])
	if !ok {
		t.Fatalf("not recognized: %.200s", log)
	}
	r, err := logs.NewReader(head, func(p *gclog.Process) gclog.Observer {
		f = analysis.NewFindings(p, analysis.Thresholds{}, analysis.Always())
		out := observe(p)
		return func(x gclog.Record) {
			f.Observe(x)
			if end, ok := x.(*gclog.End); ok {
				f.EndedBy(end)
			}
			if out != nil {
				out(x)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(bytes.NewReader(log)); err != nil {
		t.Fatal(err)
	}
	r.Finish()
	return f
}

// unpacked returns a packed log.
func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unpacking, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	log, err := io.ReadAll(unpacking)
	if err != nil {
		t.Fatal(err)
	}
	return log
}
