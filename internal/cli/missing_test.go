package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/internal/unpack"
)

// missedIn returns how many collections are missing in a file by check's count, and what doctor
// says about that.
func missedIn(t *testing.T, path string) (missed uint64, said string) {
	t.Helper()
	p := testProgram()
	for _, pid := range recordedPIDs(t, path) {
		var a *assess.Assessment
		_, err := subject.Read(p.Run, []string{path}, history.Options{Choice: history.Choice{PID: pid}}, func(process *gclog.Process, w analysis.Window) (gclog.Observer, gclog.EventObserver) {
			a = assess.New(process, analysis.Thresholds{}, w)
			return a.Observe, a.Event
		})
		if a == nil {
			t.Fatal(err)
		}
		missed += a.Statistics.Summary().Missed
	}
	for _, f := range doctor.File(path, unpack.LimitPassed).Findings {
		if f.Cause.ID == "missing-gcs" {
			said = f.Text
		}
	}
	return missed, said
}

// TestMissed: doctor and check agree on how many collections are missing, in a recording and its
// log, and after two were cut out of the log.
func TestMissed(t *testing.T) {
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		agreed := func(path string) uint64 {
			missed, said := missedIn(t, path)
			want := ""
			if missed > 0 {
				want = fmt.Sprintf("missing collection numbers: %d", missed)
			}
			if said != want {
				t.Errorf("%s: check counts %d, doctor says %q", filepath.Base(path), missed, said)
			}
			return missed
		}
		missed := agreed(tr.Path)
		pids := recordedPIDs(t, tr.Path)
		_, seen, _, _ := runHistory(t, tr.Path)
		if len(pids) != 1 || len(seen.gcs) == 0 {
			return // several processes may have the same numbers; without a collection there is no log
		}
		log := filepath.Join(t.TempDir(), "gc.json")
		convertAll(t, tr.Path, "-o", log)
		if got := agreed(log); got != missed {
			t.Errorf("%d collections are missing in the log, %d in the recording", got, missed)
		}
		if slices.Sort(seen.gcs); len(seen.gcs) < 9 || len(seen.gaps) > 0 {
			return
		}
		number := func(i int) string { return strconv.FormatUint(uint64(seen.gcs[i]), 10) }
		cutOut(t, log, number(len(seen.gcs)/3)+"|"+number(2*len(seen.gcs)/3))
		if got := agreed(log); got != missed+2 {
			t.Errorf("%d collections are missing after two were cut out, want %d", got, missed+2)
		}
	})
}
