package attach

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/output"
)

// collected returns the record of a collection, and pausedBy its pause; their ticks are its number.
func collected(number uint32, flaws gclog.Flaw) gclog.Record {
	return &gclog.GCDetails{Number: number, Known: gclog.GroupNumber, StartTicks: int64(number), Flaws: flaws}
}

func pausedBy(number uint32, flaws gclog.Flaw) gclog.Record {
	return &gclog.Pause{GC: collected(number, flaws).(*gclog.GCDetails), Ticks: int64(number)}
}

// TestFollower: which records of a session are written after an earlier session, and which are
// reported as missing.
func TestFollower(t *testing.T) {
	record := func(n uint32) gclog.Record { return collected(n, 0) }
	pause := func(n uint32) gclog.Record { return pausedBy(n, 0) }
	partial := func(n uint32) gclog.Record { return collected(n, gclog.FlawNoStart) }
	stall := func(since int64) gclog.Record {
		return &gclog.Stall{Open: gclog.Open{Ticks: since}, Threshold: 1e9}
	}
	full := func(from, to uint32) gclog.Record {
		return &gclog.Gap{Reason: gclog.GapQueueFull, Ticks: 11, Records: 3, From: from, To: to}
	}
	for name, c := range map[string]struct {
		records []gclog.Record // of a session that follows one that reported everything up to 10
		want    string         // the records and gaps written for them
		last    uint32
		first   uint32 // that started in the session, if it is not the first that is reported
	}{
		"without a hole":                             {[]gclog.Record{pause(11), record(11), pause(12), record(12)}, "11 12", 12, 0},
		"overlapping":                                {[]gclog.Record{pause(9), record(9), record(10), pause(11), record(11)}, "11", 11, 0},
		"with a hole":                                {[]gclog.Record{pause(15), record(15), record(16)}, "gap 11-14 15 16", 16, 0},
		"a background one tells late":                {[]gclog.Record{pause(11), pause(12), record(12), record(13), record(11)}, "12 13 11", 13, 0},
		"under way at the begin":                     {[]gclog.Record{partial(11), record(12)}, "11 12", 12, 0},
		"under way behind a hole":                    {[]gclog.Record{partial(14), record(15)}, "14 gap 11-13 15", 15, 0},
		"under way, and more behind it":              {[]gclog.Record{partial(14), record(18)}, "14 gap 11-13 gap 15-17 18", 18, 0},
		"one that the hole holds tells end":          {[]gclog.Record{record(15), partial(13), record(16)}, "gap 11-14 15 16", 16, 0},
		"nothing begins":                             {[]gclog.Record{partial(14), partial(12)}, "14 12 gap 11-11 gap 13-13", 14, 0},
		"several under way":                          {[]gclog.Record{partial(13), partial(12), partial(13), record(20), partial(15)}, "13 12 gap 11-11 gap 14-19 20", 20, 0},
		"told already, tells its end":                {[]gclog.Record{partial(10), pause(10), record(11)}, "11", 11, 0},
		"the queue was full meanwhile":               {[]gclog.Record{full(8, 14), record(15)}, "gap 11-14 15", 15, 0},
		"the queue was full before":                  {[]gclog.Record{full(8, 10), record(11)}, "gap 0-0 11", 11, 0},
		"the queue was full behind a hole":           {[]gclog.Record{full(13, 14), record(15)}, "gap 11-12 gap 13-14 15", 15, 0},
		"the queue was full, for the next":           {[]gclog.Record{full(8, 11), record(12)}, "gap 11-11 12", 12, 0},
		"the queue was full before, and a hole":      {[]gclog.Record{full(8, 10), record(14)}, "gap 0-0 gap 11-13 14", 14, 0},
		"the queue was full, and again":              {[]gclog.Record{full(11, 12), record(13), full(14, 15), full(7, 16)}, "gap 11-12 13 gap 14-15 gap 7-16", 16, 0},
		"under way, with a lower one that begins":    {[]gclog.Record{partial(14), record(12), record(15)}, "14 gap 11-11 12 15", 15, 0},
		"inside the first pause of a background one": {[]gclog.Record{pause(12), record(12), pause(11), record(13), record(11)}, "12 13 11", 13, 11},
		"the same behind a hole":                     {[]gclog.Record{pause(15), record(15), record(14)}, "gap 11-13 15 14", 15, 14},
		"the same, and the begin overlaps":           {[]gclog.Record{record(9), pause(12), record(12), record(11)}, "12 11", 12, 7},
		"what hangs is reported by both":             {[]gclog.Record{record(11), stall(9)}, "11", 11, 0},
		"what hangs, since before the newest":        {[]gclog.Record{pause(12), record(12), stall(11)}, "12 stall", 12, 11},
		"what hangs since the newest":                {[]gclog.Record{stall(10), stall(11)}, "stall", 10, 0},
		"the rest of a session, one number twice":    {[]gclog.Record{record(11), pause(11), record(12), pause(9), pause(11)}, "11 12", 12, 0},
		"nothing new":                                {[]gclog.Record{pause(10), record(10)}, "", 10, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			l, s := newTestLog(t, &out)
			l.last, l.reached = 10, 10
			l.session = s
			s.first.Store(c.first)
			news := &follower{l: l, s: s, base: l.last, reached: l.reached}
			for _, r := range c.records {
				if news.isNew(r) {
					l.write(s, r)
				}
			}
			news.end()
			var written []string
			for _, line := range linesOf(t, out.Bytes()) {
				switch line.Event.Action {
				case "gc", "gc-stall":
					written = append(written, line.String())
				case "gc-gap":
					gap := &line.Dotnet.GC.Gap
					written = append(written, fmt.Sprintf("gap %d-%d", gap.From, gap.To))
				}
			}
			// The gap is written when the next complete collection arrives.
			want := strings.Fields(c.want)
			if got := strings.Join(written, " "); got != strings.Join(want, " ") {
				t.Errorf("told %q, want %q", got, c.want)
			}
			if l.last != c.last {
				t.Errorf("the last is %d, want %d", l.last, c.last)
			}
		})
	}
}

// TestFollowerParts: of a collection that was in progress when a session ended, the next one writes
// what it sees: its end, or all of it.
func TestFollowerParts(t *testing.T) {
	for name, c := range map[string]struct {
		records []gclog.Record
		want    string
	}{
		"its end":              {[]gclog.Record{pausedBy(9, gclog.FlawNoStart), collected(9, gclog.FlawNoStart), collected(11, 0)}, "9 11"},
		"once":                 {[]gclog.Record{collected(9, gclog.FlawNoStart), collected(9, gclog.FlawNoStart)}, "9"},
		"all of it":            {[]gclog.Record{collected(11, 0), collected(9, 0), collected(10, 0)}, "11 9"},
		"it is still going on": {[]gclog.Record{collected(9, gclog.FlawNoStart|gclog.FlawNoEnd|gclog.FlawCutOff), collected(9, gclog.FlawNoStart)}, "9 9"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			l, s := newTestLog(t, &out)
			l.session = s
			l.write(s, collected(9, gclog.FlawNoEnd|gclog.FlawCutOff))
			l.write(s, collected(10, 0))
			before := len(linesOf(t, out.Bytes()))
			news := &follower{l: l, s: s, base: l.last, reached: l.reached}
			for _, r := range c.records {
				if news.isNew(r) {
					l.write(s, r)
				}
			}
			var written []string
			for _, line := range linesOf(t, out.Bytes())[before:] {
				written = append(written, line.String())
			}
			if got := strings.Join(written, " "); got != c.want {
				t.Errorf("told %q, want %q", got, c.want)
			}
		})
	}
}

// TestFollowerMany: only the first 64 collections without a start are remembered: if events are
// lost all the time there may be any number.
func TestFollowerMany(t *testing.T) {
	var out bytes.Buffer
	l, s := newTestLog(t, &out)
	news := &follower{l: l, s: s, base: 10}
	isNew := func(n uint32) bool { return news.isNew(collected(n, gclog.FlawNoStart)) }
	for n := range uint32(70) {
		if !isNew(100 + n) {
			t.Errorf("#%d is not new", 100+n)
		}
		if twice := isNew(100 + n); twice != (n >= 64) {
			t.Errorf("#%d is new again: %v", 100+n, twice)
		}
	}
}

// TestTooSlow: what the queue had no room for is reported at once, and is an error at the end.
func TestTooSlow(t *testing.T) {
	var out bytes.Buffer
	l, s := newTestLog(t, &out)
	var said []string
	s.o.Warn = func(text string) { said = append(said, text) }
	for _, g := range []gclog.Gap{
		{Reason: gclog.GapQueueFull, Records: 3, From: 7, To: 9}, {Reason: gclog.GapQueueFull, Records: 2}, {Reason: gclog.GapLostEvents, LostEvents: 5, To: 30},
	} {
		l.write(s, &g)
	}
	if err := l.Err(); err == nil || err.Error() != "5 records could not be written: the outputs were too slow" {
		t.Error(err)
	}
	if want := []string{"the outputs were too slow: 3 records are missing", "the outputs were too slow: 2 records are missing"}; !slices.Equal(said, want) {
		t.Errorf("said %q", said)
	}
	if l.last != 9 {
		t.Errorf("the last is %d", l.last)
	}
}

func newTestLog(t *testing.T, out *bytes.Buffer) (*Log, *Session) {
	t.Helper()
	f, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	l := &Log{Opener: &output.Opener{Stdout: out, Warn: func(s string) { t.Error(s) }}}
	l.process = gclog.Process{ID: 1, Sync: time.Unix(1e9, 0)}
	if l.set, err = l.Opener.Open([]output.Spec{{Path: output.Stdout, Format: f}}, l.format()); err != nil {
		t.Fatal(err)
	}
	return l, &Session{o: SessionOptions{Progress: &Progress{}, Warn: func(string) {}}}
}
