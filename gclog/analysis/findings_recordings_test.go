package analysis_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// recorded are the findings about each process in a recording.
func recorded(t *testing.T, stream []byte) (list []*analysis.Findings, facts []*gclog.Process) {
	t.Helper()
	of := map[*gclog.Process]*analysis.Findings{}
	processes := read(t, stream, func(p *gclog.Process) gclog.Observer {
		of[p] = analysis.NewFindings(p, analysis.Thresholds{}, analysis.Always())
		of[p].Observe(&gclog.Start{At: 0})
		return of[p].Observe
	})
	for _, p := range processes.List() {
		of[p].Observe(&gclog.End{At: processes.Latest()})
		list, facts = append(list, of[p]), append(facts, p)
	}
	return list, facts
}

// ids returns the rules of findings.
func ids(f *analysis.Findings) (list []string) {
	for _, x := range f.List() {
		list = append(list, x.Rule.ID)
	}
	return list
}

// TestFindingsOfRecordings checks that the same stream has the same findings, that each is
// complete, and that the problem that a recording was made for is found.
func TestFindingsOfRecordings(t *testing.T) {
	extent.Long(t)
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		first, facts := recorded(t, stream)
		second, _ := recorded(t, stream)
		for i, f := range first {
			list := f.List()
			if again := second[i].List(); !reflect.DeepEqual(texts(list), texts(again)) {
				t.Errorf("findings differ:\n%v\n%v", texts(list), texts(again))
			}
			for _, x := range list {
				if !strings.HasSuffix(x.Text, ".") || len(x.Evidence) == 0 || len(x.GCs) > 10 {
					t.Errorf("no whole finding: %+v", x)
				}
				if strings.Contains(x.Text, "NaN") || strings.Contains(x.Text, "Inf") || strings.Contains(x.Text, "%!") {
					t.Errorf("no number: %s", x.Text)
				}
			}
			for _, u := range f.NotEvaluated() {
				if slices.Contains(ids(f), u.Rule.ID) || u.Why == "" || strings.HasSuffix(u.Why, ".") {
					t.Errorf("not judged: %s: %q", u.Rule.ID, u.Why)
				}
			}
			expect(t, tr.Name, f, facts[i])
		}
	})
}

func texts(list []analysis.Finding) (lines []string) {
	for _, x := range list {
		lines = append(lines, x.Text)
	}
	return lines
}

// expect lists what the names of recordings imply.
func expect(t *testing.T, name string, f *analysis.Findings, p *gclog.Process) {
	t.Helper()
	found := ids(f)
	for suffix, rule := range map[string]string{
		"-induced": "induced-gcs", "-provisional": "provisional-mode", "-hardlimit-tight": "hard-limit",
		"-nc-churn": "blocking-gen2",
	} {
		if strings.HasSuffix(name, suffix) && !slices.Contains(found, rule) {
			t.Errorf("%s is not found: %v", rule, found)
		}
	}
	if name != "wks" && name != "svr" && !strings.Contains(name, "induced") && slices.Contains(found, "induced-gcs") {
		t.Errorf("induced collections are found: %v", texts(f.List()))
	}
	if (name == "stall" || name == "v6-wksb") && !slices.Contains(found, "data-quality") {
		t.Error("lost events are not found")
	}
	if name == "net10-wks-oom" {
		// The process died before the runtime sent the last collections, and the recording does not
		// contain the limit. With the limit, the sizes show it.
		if _, why := of(f, "hard-limit"); !strings.HasPrefix(why, "no limit is known") {
			t.Errorf("hard-limit: %q", why)
		}
		p.Limits.HardLimit, p.HasLimits = 128<<20, true
		if x, _ := of(f, "hard-limit"); x == nil {
			t.Error("a heap of 123 MB is not near a limit of 134 MB")
		}
	}
}
