package history

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse/clr"
)

// A protocol records in words what ReadAll passes on.
type protocol struct {
	said []string
}

func (p *protocol) say(format string, args ...any) {
	p.said = append(p.said, fmt.Sprintf(format, args...))
}

// Observe takes a record.
func (p *protocol) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Start:
		p.say("start %d", r.At)
	case *gclog.End:
		p.say("end %d %v", r.At, r.Reason)
	case *gclog.GCDetails:
		p.say("gc %d at %d", r.Number, r.Start)
	case *gclog.Gap:
		p.say("%v %d", r.Reason, r.Time)
	}
}

// record returns a recording of collections, each 100 ns long, by runtime instances in process 7.
func record(t *testing.T, begin time.Time, collections ...byte) string {
	t.Helper()
	var w nettracetest.V4
	clock := nettracetest.DefaultClock()
	clock.Time, clock.ProcessID = begin, 7
	w.Begin(clock)
	w.Metadata(
		nettracetest.Kind{ID: 1, Provider: clr.RuntimeProvider, EventID: clr.IDGCStart, Version: 2, Level: 4, Keywords: 1},
		nettracetest.Kind{ID: 2, Provider: clr.RuntimeProvider, EventID: clr.IDGCEnd, Version: 1, Level: 4, Keywords: 1},
	)
	for i, number := range collections {
		instance := number % 2 // odd numbers are collections of one instance, even numbers of another
		start := append([]byte{number}, make([]byte, 25)...)
		end := append([]byte{number}, make([]byte, 9)...)
		start[16], end[8] = instance, instance
		at := clock.Ticks + int64(i)*1000
		w.Events(
			nettracetest.Row{Kind: 1, Thread: 1, Ticks: at, Payload: start, Sorted: true},
			nettracetest.Row{Kind: 2, Thread: 1, Ticks: at + 100, Payload: end, Sorted: true},
		)
	}
	w.End()
	path := filepath.Join(t.TempDir(), "a.nettrace")
	if err := os.WriteFile(path, w.Bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSeveralRecordings: recordings share one time axis whatever their order is, and each is a
// session, however many runtime instances are in the process.
func TestSeveralRecordings(t *testing.T) {
	begin := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	first, second := record(t, begin, 1, 3, 5), record(t, begin.Add(time.Hour), 7, 8, 9)
	in, err := Open([]string{second, first}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var p protocol
	var origins []time.Time
	if err := in.ReadAll(func(x *gclog.Process) gclog.Observer {
		origins = append(origins, x.Sync)
		return p.Observe
	}); err != nil {
		t.Fatal(err)
	}
	const hour = int64(time.Hour)
	want := []string{
		"start 0", "gc 1 at 0", "gc 3 at 1000", "gc 5 at 2000", "end 2100 end-of-recording",
		fmt.Sprintf("start %d", hour), fmt.Sprintf("reattached %d", hour),
		fmt.Sprintf("gc 7 at %d", hour), fmt.Sprintf("gc 8 at %d", hour+1000), fmt.Sprintf("gc 9 at %d", hour+2000), fmt.Sprintf("end %d end-of-recording", hour+2100),
	}
	said := slices.DeleteFunc(p.said, func(s string) bool { return strings.HasPrefix(s, "missed-gcs") }) // each instance has only half of the numbers
	slices.Sort(said[max(0, len(said)-4):max(0, len(said)-1)])                                           // instances come one after the other
	if !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
	for _, sync := range origins {
		if !sync.Equal(begin) {
			t.Errorf("times count from %v, want %v", sync, begin)
		}
	}
	if len(origins) != 3 {
		t.Errorf("%d instances, want 1 and 2", len(origins))
	}
}

// TestFromEnd: files that are first read to find their end are read completely after that, and what
// is wrong with them is reported once.
func TestFromEnd(t *testing.T) {
	log := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(log, []byte("StartRelativeMSec,Number,Generation,Type,Reason,\nof others\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	since, err := ParseInstant("since", "-1us", Zone{})
	if err != nil {
		t.Fatal(err)
	}
	recording := record(t, time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), 1, 3, 5)
	for name, want := range map[string]struct {
		said []string
		gcs  int
		from int64
	}{
		log:       {[]string{log + ": 1 line is damaged or was not written by gclog, and was skipped: line 2"}, 0, math.MinInt64},
		recording: {nil, 3, 2100 - 1000},
	} {
		var said []string
		in, err := Open([]string{name}, Options{Span: Span{Since: since}, Notify: func(s string) { said = append(said, s) }})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		l := &listener{}
		h, err := in.Read(func(*gclog.Process, analysis.Window) (gclog.Observer, gclog.EventObserver) { return l.Observe, nil })
		said = slices.DeleteFunc(said, func(s string) bool { return strings.Contains(s, "has no dates") })
		if err != nil || !slices.Equal(said, want.said) || l.gcs != want.gcs || want.gcs > 0 && h.Window.From != want.from {
			t.Errorf("%s: %d collections, %+v, %q: %v; want %d since %d, %q", name, l.gcs, h, said, err, want.gcs, want.from, want.said)
		}
	}
}
