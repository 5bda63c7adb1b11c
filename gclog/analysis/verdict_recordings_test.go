package analysis_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestVerdictsOfScenarios holds the verdict about logs of programs with one known trouble each, 30 s long and
// recorded beside other load, against what is true of the program.
func TestVerdictsOfScenarios(t *testing.T) {
	for name, want := range map[string]analysis.Cause{
		"healthy": analysis.CauseNone, "idle": analysis.CauseNone, "lock": analysis.CauseNone, "starvation": analysis.CauseNone,
		"leak": analysis.CauseManagedLeak, "event-leak": analysis.CauseManagedLeak, "native-leak": analysis.CauseNativeMemory,
		"handle-leak": analysis.CauseHandleLeak, "induced": analysis.CauseInduced, "loh-fragmentation": analysis.CauseLOHFragmentation,
		"pinning": analysis.CausePinning, "mid-life": analysis.CauseMidLife, "finalizers": analysis.CauseFinalizers,
		"dependent-handles": analysis.CauseDependentHandles, "busy": analysis.CauseCPU,
	} {
		holdVerdict(t, filepath.Join("testdata", "scenarios", name+".json.gz"), want)
	}
}

// TestVerdictsOfSharedLogs does so for logs that gclog once got wrong.
func TestVerdictsOfSharedLogs(t *testing.T) {
	shared := recordings.Dir(t)
	for name, want := range map[string]analysis.Cause{"oom": analysis.CauseKilled, "pod": analysis.CauseOutOfMemory} {
		holdVerdict(t, filepath.Join(shared, "scenarios", name+".json.gz"), want)
	}
}

// TestVerdictsOfRecordings does so for recordings whose trouble their names say.
func TestVerdictsOfRecordings(t *testing.T) {
	extent.Long(t)
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		want := analysis.CauseNone
		switch {
		case strings.HasSuffix(tr.Name, "-hardlimit-tight"):
			want = analysis.CauseHeapLimit
		case strings.HasSuffix(tr.Name, "-induced") && tr.Name != "net8-wks-induced": // most of its pauses are others
			want = analysis.CauseInduced
		default:
			t.Skip("its name says no trouble")
		}
		list, _ := recorded(t, recordings.Read(t, tr.Path))
		for _, f := range list {
			if v := f.Verdict(); v.Cause != want || v.GC != analysis.AnswerYes {
				t.Errorf("the verdict is %s: %s; want %s", v.Cause, v.Text, want)
			}
		}
	})
}

// holdVerdict checks the verdict about a log, and that there is no warning where nothing is wrong.
func holdVerdict(t *testing.T, path string, want analysis.Cause) {
	t.Helper()
	f := findingsIn(t, unpacked(t, path), func(*gclog.Process) gclog.Observer { return nil })
	if v := f.Verdict(); v.Cause != want {
		t.Errorf("%s: the verdict is %s: %s; want %s", path, v.Cause, v.Text, want)
	}
	for _, x := range f.List() {
		if want == analysis.CauseNone && x.Severity > analysis.Info {
			t.Errorf("%s: %s: %s", path, x.Rule.ID, x.Text)
		}
	}
}
