package analyse

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/internal/view"
)

// TestFinalizedTypes: types are listed if events name them, and a control character in a name does
// not break its line.
func TestFinalizedTypes(t *testing.T) {
	text := summaryText{width: 80}
	text.finalized(nil)
	if text.Len() > 0 {
		t.Errorf("of nothing it says %q", text.String())
	}
	text.finalized([]analysis.FinalizedType{{Type: "A\nB", Objects: 12}, {Type: "C", Objects: 3}})
	if got := text.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "most: 12 A") || !strings.Contains(got, ", 3 C") {
		t.Errorf("it is %q", got)
	}
}

// TestPins: what was reported about pinned objects is one line, which is absent if nothing was.
func TestPins(t *testing.T) {
	for _, x := range []struct {
		d    gclog.GCDetails
		want string
	}{
		{gclog.GCDetails{}, ""},
		{gclog.GCDetails{PinPlugs: 2}, ""}, // of a log without their bytes
		{gclog.GCDetails{PinEvents: 3, PinEventBytes: 300}, "pins 300 B in 1 GC"},
		{gclog.GCDetails{PinEvents: 3, PinEventBytes: 300, PinPlugs: 2, PinPlugBytes: 1200}, "pins 300 B in 1 GC; 1.2 KB could not be moved in 1 GC, 25 % of it pinned"},
	} {
		s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
		s.Observe(&x.d)
		text := summaryText{width: 80}
		text.pins(&s.Summary().Classes[analysis.ClassAll])
		if got := strings.Join(strings.Fields(text.String()), " "); got != x.want {
			t.Errorf("it is %q, want %q", got, x.want)
		}
	}
}

// TestMemory: the GC's share of the process's memory is printed next to the rest, and the control
// group with its limit, as far as records contain them.
func TestMemory(t *testing.T) {
	collected := func(m gclog.Memory, committed uint64) *gclog.GCDetails {
		d := &gclog.GCDetails{Memory: m, CommittedAfter: committed}
		d.Known.Set(gclog.GroupCommittedAfter, committed > 0)
		return d
	}
	for _, x := range []struct {
		name string
		gcs  []*gclog.GCDetails
		want string
	}{
		{"recording", []*gclog.GCDetails{collected(gclog.Memory{}, 797e6)}, ""},
		{
			"all",
			[]*gclog.GCDetails{
				collected(gclog.Memory{Resident: 1100e6, Cgroup: 1300e6, CgroupLimit: 2e9}, 900e6),
				collected(gclog.Memory{Resident: 980e6, Cgroup: 1200e6, CgroupLimit: 2e9}, 797e6),
			},
			"RSS 980 MB: 797 MB committed by the GC, 183 MB other; at most 1.1 GB " +
				"cgroup 1.2 GB of 2 GB, 60 %, page cache included; at most 1.3 GB",
		},
		{
			"no limit",
			[]*gclog.GCDetails{collected(gclog.Memory{Resident: 980e6, Cgroup: 1200e6}, 797e6)},
			"RSS 980 MB: 797 MB committed by the GC, 183 MB other; at most 980 MB " +
				"cgroup 1.2 GB, page cache included; at most 1.2 GB",
		},
		{"not told by the GC", []*gclog.GCDetails{collected(gclog.Memory{Resident: 980e6}, 0)}, "RSS 980 MB; at most 980 MB"},
		{"not touched", []*gclog.GCDetails{collected(gclog.Memory{Resident: 500e6}, 797e6)}, "RSS 500 MB; at most 500 MB"},
	} {
		s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
		for _, d := range x.gcs {
			s.Observe(d)
		}
		text := summaryText{width: 80}
		text.memory(&s.Summary().Memory)
		if got := strings.Join(strings.Fields(text.String()), " "); got != x.want {
			t.Errorf("%s: it is %q, want %q", x.name, got, x.want)
		}
	}
}

// TestSummaryWidth: a summary of any recording fits terminals of any width, except for words that
// do not. The tables keep their first columns, and all of them if there is room.
func TestSummaryWidth(t *testing.T) {
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		for _, width := range []int{40, 60, 80, 120} {
			for _, text := range summariesOf(t, tr.Path, min(width, 80), width) {
				for line := range strings.Lines(text) {
					line = strings.TrimRight(line, "\n")
					longest := 0
					for word := range strings.FieldsSeq(line) {
						longest = max(longest, utf8.RuneCountInString(word))
					}
					const label = 18 // a word after it is not broken
					if n := utf8.RuneCountInString(line); n > width && label+longest <= width {
						t.Errorf("%d of %d: %s", n, width, line)
					}
				}
				if strings.Contains(text, "\nPauses\n") && !strings.Contains(text, "  pauses ") {
					t.Errorf("at %d the number of pauses is left out:\n%s", width, text)
				}
			}
		}
	})
}

// TestBlocks: a cause with its symptoms takes twelve lines at most, and -v has what is left out.
func TestBlocks(t *testing.T) {
	extent.Long(t)
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		texts := summariesOf(t, tr.Path, 80, 80)
		for line := range strings.Lines(texts[0]) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 && !strings.Contains(line, tr.Path) {
				t.Errorf("%d columns: %s", n, line)
			}
		}
		findings := func(text string) string {
			_, rest, _ := strings.Cut(text, "\nFindings: ")
			list, _, found := strings.Cut(rest, "\n  Evaluated ")
			if !found {
				t.Fatalf("no findings in %s", text)
			}
			return list
		}
		_, list, _ := strings.Cut(findings(texts[0]), "\n")
		for block := range strings.SplitSeq(list, "\n\n") {
			if n := strings.Count(strings.TrimSpace(block), "\n") + 1; n > 12 {
				t.Errorf("%d lines:\n%s", n, block)
			}
		}
		short, full := strings.Count(findings(texts[0]), "\n"), strings.Count(findings(texts[1]), "\n")
		said := ""
		if full > short {
			said = fmt.Sprintf("-v shows %s more about the findings.", view.Counted(uint64(full-short), "line"))
		}
		if said != "" && !strings.Contains(texts[0], said) || said == "" && strings.Contains(texts[0], " more about the findings") {
			t.Errorf("it does not say %q:\n%s", said, texts[0])
		}
	})
}

// summariesOf returns the summaries of the processes of a recording, with all reasons.
func summariesOf(t *testing.T, path string, width, wide int) (texts []string) {
	t.Helper()
	p := &commands{&program.Run{UI: program.NewUI(io.Discard)}}
	var a *assess.Assessment
	observe := func(process *gclog.Process, w analysis.Window) (gclog.Observer, gclog.EventObserver) {
		a = assess.New(process, analysis.Thresholds{}, w)
		return a.Observe, a.Event
	}
	h, err := subject.Read(p.Run, []string{path}, history.Options{}, observe)
	if h == nil {
		t.Skipf("no summary: %v", err)
	}
	for _, why := range []bool{false, true} {
		text := &summaryText{h: h, s: a.Statistics.Summary(), a: a, why: why, width: width, wide: wide, paint: screen.Painter(false)}
		text.page()
		texts = append(texts, text.String())
	}
	return texts
}
