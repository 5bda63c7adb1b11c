package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/analyse"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// A reading is everything that gclog reports about its input in JSON: the summary, and the page of
// every collection.
type reading struct {
	summary []byte
	pages   [][]byte
}

// A pageReader observes a history for the summary and for the pages.
type pageReader struct {
	*assess.Assessment
	peers *analysis.Peers
	gcs   []*gclog.GCDetails
}

// Observe takes a record.
func (r *pageReader) Observe(x gclog.Record) {
	r.Assessment.Observe(x)
	r.peers.Observe(x)
	if d, ok := x.(*gclog.GCDetails); ok {
		r.gcs = append(r.gcs, d.Clone())
	}
}

func testProgram() *commands {
	return &commands{&program.Run{In: strings.NewReader(""), Unfiltered: io.Discard, Out: program.NewPrinter(io.Discard), UI: program.NewUI(io.Discard)}}
}

// readAll returns what gclog reports about a process in files. It ignores damage in them.
func readAll(t *testing.T, pid int64, files ...string) *reading {
	t.Helper()
	p := testProgram()
	var o *pageReader
	h, err := subject.Read(p.Run, files, history.Options{Choice: history.Choice{PID: pid}}, func(process *gclog.Process, w analysis.Window) (gclog.Observer, gclog.EventObserver) {
		o = &pageReader{Assessment: assess.New(process, analysis.Thresholds{}, w), peers: analysis.NewPeers()}
		return o.Observe, o.Event
	})
	if h == nil {
		t.Fatal(err)
	}
	h.Names = nil
	r := &reading{summary: toJSON(t, analyse.SummaryJSON(p.Run, h, o.Assessment))}
	for _, d := range o.gcs {
		e := analysis.Explain(d, analysis.Context{Process: h.Process, Begin: h.Begin, HasBegin: true, Log: h.Format, Peers: o.peers})
		r.pages = append(r.pages, toJSON(t, analyse.ExplanationJSON(p.Run, h, d, &e)))
	}
	return r
}

// A holder passes on what a format contains of the collections.
type holder struct {
	*assess.Assessment
	held func(*gclog.GCDetails) *gclog.GCDetails
	gcs  int
}

// Observe takes a record.
func (h *holder) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.GCDetails:
		h.gcs++
		if r = h.held(r); r != nil {
			h.Assessment.Observe(r)
		}
	case *gclog.Pause:
		if r.GC == nil {
			h.Assessment.Observe(r)
		} else if d := h.held(r.GC); d != nil {
			q := *r
			q.GC = d
			h.Assessment.Observe(&q)
		}
	default:
		h.Assessment.Observe(r)
	}
}

// all is everything of a collection, as a recording contains it.
func all(d *gclog.GCDetails) *gclog.GCDetails { return d }

// summarize returns the summary of a process in files, of what held returns of the collections,
// and how many collections there are. It ignores damage in the files.
func summarize(t *testing.T, held func(*gclog.GCDetails) *gclog.GCDetails, pid int64, files ...string) (summary any, gcs int) {
	t.Helper()
	p := testProgram()
	var o *holder
	h, err := subject.Read(p.Run, files, history.Options{Choice: history.Choice{PID: pid}}, func(process *gclog.Process, w analysis.Window) (gclog.Observer, gclog.EventObserver) {
		o = &holder{Assessment: assess.New(process, analysis.Thresholds{}, w), held: held}
		return o.Observe, o.Event
	})
	if h == nil {
		t.Fatal(err)
	}
	h.Names = nil
	return fromJSON(t, toJSON(t, analyse.SummaryJSON(p.Run, h, o.Assessment))), o.gcs
}

func toJSON(t *testing.T, x any) []byte {
	t.Helper()
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func fromJSON(t *testing.T, b []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// recordedPIDs returns the pids of the processes in a recording.
func recordedPIDs(t *testing.T, path string) (pids []int64) {
	t.Helper()
	in, err := history.Open([]string{path}, history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	_ = in.ReadAll(func(p *gclog.Process) gclog.Observer {
		if !slices.Contains(pids, p.ID) {
			pids = append(pids, p.ID)
		}
		return nil
	})
	return pids
}

// convertAll converts a recording to logs, as far as it can be read.
func convertAll(t *testing.T, path string, args ...string) {
	t.Helper()
	if code := Main(append([]string{"gclog", "convert", path}, args...), nil, io.Discard, io.Discard); code != exit.OK && code != exit.Data {
		t.Fatalf("convert %v: exit code %d", args, code)
	}
}

// A difference is called with the values in which two readings differ, nil for one that lacks the
// value.
type difference func(path string, a, b any)

// compare calls differs wherever b differs from a.
func (differs difference) compare(path string, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		for k, v := range x {
			differs.compare(path+"."+k, v, y[k])
		}
		for k, v := range y {
			if _, ok := x[k]; !ok {
				differs.compare(path+"."+k, nil, v)
			}
		}
		return
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			break
		}
		for i := range x {
			differs.compare(fmt.Sprintf("%s[%d]", path, i), x[i], y[i])
		}
		return
	}
	if !reflect.DeepEqual(a, b) {
		differs(path, a, b)
	}
}

// ofSource reports whether a part of the summary is about the file, or about the types of objects,
// which only events name: no log contains them.
func ofSource(path string) bool {
	return strings.HasPrefix(path, "summary.dotnet.gc.damage") || strings.HasPrefix(path, "summary.dotnet.gc.finalized") || strings.HasPrefix(path, "summary.dotnet.gc.allocated")
}

// TestSameJSON: the same collections give the same summary, findings and explanations in every
// number and word, whether they are read from the recording or from a JSON log.
func TestSameJSON(t *testing.T) {
	extent.Long(t)
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		log := filepath.Join(t.TempDir(), "gc.json")
		convertAll(t, tr.Path, "-o", log)
		for _, pid := range recordedPIDs(t, tr.Path) {
			want := readAll(t, pid, tr.Path)
			if len(want.pages) == 0 {
				continue // no collection: no log
			}
			got := readAll(t, pid, log)
			differs := difference(func(path string, a, b any) {
				if !ofSource(path) {
					t.Errorf("process %d, %s: the recording says %v, the log %v", pid, path, a, b)
				}
			})
			differs.compare("summary", fromJSON(t, want.summary), fromJSON(t, got.summary))
			if len(want.pages) != len(got.pages) {
				t.Fatalf("process %d: %d pages, the log has %d", pid, len(want.pages), len(got.pages))
			}
			for i := range want.pages {
				if !bytes.Equal(want.pages[i], got.pages[i]) { // parsing all of them would take most of the time
					differs.compare(fmt.Sprintf("pages[%d]", i), fromJSON(t, want.pages[i]), fromJSON(t, got.pages[i]))
				}
			}
		}
	})
}

// TestSameWindow: a unified log contains the observed window, and the size of the heap during
// background collections, within its rounding; for a log that cannot contain the window, everything
// that depends on it is unknown.
func TestSameWindow(t *testing.T) {
	extent.Long(t)
	rests := regexp.MustCompile(`^duration$|^gen2\.since$|\.rate$|^pause\.share$`)
	const stamp = 1e6                    // of lines: the last of them may be stamped later than the end
	const kib = 1024 * gclog.Generations // each generation is rounded separately
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		for _, x := range summariesIn(t, tr) {
			want, got := metricsOf(x.held), metricsOf(x.log)
			for name, m := range got {
				_, unknown := m["unknown"]
				off := number(m) - number(want[name])
				switch {
				case x.format != "unified" && rests.MatchString(name) && name != "alloc.rate":
					if !unknown {
						t.Errorf("%s: %s is %v", x.format, name, m)
					}
				// Numbers that no-GC regions used up look like missing collections.
				case x.format == "unified" && name == "duration" && number(got["duration.unobserved"]) == 0 && (off < 0 || off >= stamp),
					x.format == "unified" && name == "background.heap.peak.max" && !unknown && (off < -kib || off > kib):
					t.Errorf("%s: %s is %v, in the recording %v", x.format, name, m, want[name])
				}
			}
		}
	})
}

// metricsOf returns the metrics of a summary by name.
func metricsOf(summary any) map[string]map[string]any {
	all := map[string]map[string]any{}
	for name, x := range summary.(map[string]any)["dotnet"].(map[string]any)["gc"].(map[string]any)["metrics"].(map[string]any) {
		all[name] = x.(map[string]any)
	}
	return all
}

// number returns the value of a metric, or 0 if it is unknown.
func number(x map[string]any) (v float64) {
	for unit := range x {
		v, _ = x[unit].(float64)
	}
	return v
}
