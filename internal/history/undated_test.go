package history

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse/clr"
)

// TestUndatedRecording: where the date is impossible, or after all events, times are those since the
// start, and it is said.
func TestUndatedRecording(t *testing.T) {
	for name, c := range map[string]struct {
		begin time.Time
		first int64 // since the sync point
		want  []string
		said  bool
	}{
		"dated":          {time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), 50, []string{"start 0", "gc 1 at 50", "end 75 end-of-recording"}, false},
		"a little early": {time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), -5, []string{"start 0", "gc 1 at -5", "end 20 end-of-recording"}, false},
		"no date":        {time.Time{}, 50, []string{"start 0", "gc 1 at 50", "end 75 end-of-recording"}, true},
		"after all":      {time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), -1e12, []string{"start 0", "gc 1 at 0", "end 25 end-of-recording"}, true},
	} {
		clock := nettracetest.DefaultClock()
		clock.Time, clock.ProcessID, clock.Ticks = c.begin, 7, 2e12
		var w nettracetest.V4
		w.Begin(clock)
		w.Metadata(
			nettracetest.Kind{ID: 1, Provider: clr.RuntimeProvider, EventID: clr.IDGCStart, Version: 2, Level: 4, Keywords: 1},
			nettracetest.Kind{ID: 2, Provider: clr.RuntimeProvider, EventID: clr.IDGCEnd, Version: 1, Level: 4, Keywords: 1},
		)
		at := clock.Ticks + c.first
		w.Events(
			nettracetest.Row{Kind: 1, Thread: 1, Ticks: at, Payload: append([]byte{1}, make([]byte, 25)...), Sorted: true},
			nettracetest.Row{Kind: 2, Thread: 1, Ticks: at + 20, Payload: append([]byte{1}, make([]byte, 9)...), Sorted: true},
		)
		w.SequencePoint(at + 25)
		w.End()
		path := filepath.Join(t.TempDir(), "a.nettrace")
		if err := os.WriteFile(path, w.Bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		var said []string
		in, err := Open([]string{path}, Options{Notify: func(s string) { said = append(said, s) }})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var p protocol
		err = in.ReadAll(func(x *gclog.Process) gclog.Observer {
			if x.Dated() == c.said {
				t.Errorf("%s: its times count from %v", name, x.Sync)
			}
			return p.Observe
		})
		if err != nil || !slices.Equal(p.said, c.want) {
			t.Errorf("%s: %q, want %q: %v", name, p.said, c.want, err)
		}
		if got := len(said) == 1 && strings.Contains(said[0], "does not say when"); got != c.said || len(said) > 1 {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// TestUndatedWithOthers: recordings share one time axis, so each must have a date.
func TestUndatedWithOthers(t *testing.T) {
	dated, undated := record(t, time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), 1, 3), record(t, time.Time{}, 5, 7)
	_, err := Open([]string{dated, undated}, Options{})
	if err == nil || err.Error() != undated+" does not say when it was recorded: pass it alone" {
		t.Error(err)
	}
}

// TestEarlyWithOthers: a recording whose events are before its start is refused, and the others keep
// their dates.
func TestEarlyWithOthers(t *testing.T) {
	begin := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	var w nettracetest.V4
	clock := nettracetest.DefaultClock()
	clock.Time, clock.ProcessID, clock.Ticks = begin.Add(-time.Hour), 8, 2e12
	w.Begin(clock)
	w.Metadata(nettracetest.Kind{ID: 1, Provider: clr.RuntimeProvider, EventID: clr.IDGCStart, Version: 2, Level: 4, Keywords: 1})
	w.Events(nettracetest.Row{Kind: 1, Thread: 1, Ticks: 1e12, Payload: append([]byte{1}, make([]byte, 25)...), Sorted: true})
	w.End()
	early := filepath.Join(t.TempDir(), "early.nettrace")
	if err := os.WriteFile(early, w.Bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := Open([]string{early, record(t, begin, 1, 3)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	err = in.ReadAll(func(x *gclog.Process) gclog.Observer {
		if !x.Dated() {
			t.Errorf("process %d has no date", x.ID)
		}
		return (&protocol{}).Observe
	})
	if err == nil || !strings.Contains(err.Error(), early+": its events are before its start") {
		t.Error(err)
	}
}
