package history

import (
	"testing"
	"time"
)

func berlin(t *testing.T) Zone {
	t.Helper()
	where, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return Zone{where, "TZ"}
}

// TestTwiceOrNever: of two moments that look alike the one in the recording is meant, and a time that
// clocks skip is as long after the change as the time would have been without one.
func TestTwiceOrNever(t *testing.T) {
	at := func(hour, minute int) time.Time { return time.Date(2026, 10, 25, hour, minute, 0, 0, time.UTC) } // at 1:00 UTC it is 2:00 again
	for _, test := range []struct {
		text             string
		begin, end, want time.Time
	}{
		{"2026-10-25 02:30", at(1, 0), at(2, 0), at(1, 30)},
		{"2026-10-25 02:30", at(0, 0), at(0, 50), at(0, 30)},
		{"2026-10-25 02:30", at(0, 0), at(2, 0), at(0, 30)},   // both
		{"2026-10-25 02:30", at(0, 45), at(1, 15), at(0, 30)}, // none
		{"2026-10-25T02:30+01:00", at(0, 0), at(2, 0), at(1, 30)},
		{"02:30", at(0, 0), at(1, 0), at(0, 30)},
		{"02:30", at(1, 0), at(2, 0), at(1, 30)},
		{"02:30", at(1, 29), at(1, 31), at(1, 30)},
		{"02:30", at(1, 31), at(1, 59), at(1, 30)}, // shortly before
		{"02:30", at(2, 31), at(3, 0), at(25, 30)}, // the next day
		{"00:05", at(-2, 5).Add(59 * time.Minute), at(0, 0), at(-2, 5)},
		{"00:05", at(-2, 5).Add(61 * time.Minute), at(0, 0), at(23, 5)}, // of a day of 25 hours
		{"2026-03-29 02:30", time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC), time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)}, // at 1:00 UTC it is 3:00
		{"02:30", time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC), time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC), time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)},
	} {
		s, err := spanOf(berlin(t), "--since", test.text)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := s.Since.at(test.begin, test.end); !got.Equal(test.want) {
			t.Errorf("%s from %v to %v: %v, want %v", test.text, test.begin, test.end, got.UTC(), test.want)
		}
	}
}

// TestTwiceSpan: an end is after the start of its span, and of the recording.
func TestTwiceSpan(t *testing.T) {
	at := func(hour, minute int) time.Time { return time.Date(2026, 10, 25, hour, minute, 0, 0, time.UTC) }
	open := time.Time{}
	for _, test := range []struct {
		since, until     string
		begin, end       time.Time
		wantFrom, wantTo time.Time
		bad              bool
	}{
		{"", "02:30", at(1, 0), open, open, at(1, 30), false},
		{"", "2026-10-25 02:30", at(1, 0), open, open, at(1, 30), false},
		{"", "02:30", at(0, 0), open, open, at(0, 30), false},
		{"02:10", "02:30", at(1, 0), at(2, 0), at(1, 10), at(1, 30), false},
		{"02:10", "02:30", at(0, 0), at(2, 0), at(0, 10), at(0, 30), false},
		{"02:50", "02:10", at(0, 0), at(2, 0), at(0, 50), at(1, 10), false},
		{"02:50", "02:10", at(0, 0), at(1, 0), at(0, 50), at(0, 10), true},
		{"02:10", "02:50", at(0, 15), at(0, 45), at(0, 10), at(0, 50), false},
		{"02:10", "02:50", at(1, 15), at(1, 45), at(1, 10), at(1, 50), false},
		{"2026-10-25 02:10", "2026-10-25 02:50", at(1, 15), at(1, 45), at(0, 10), at(1, 50), false},
	} {
		args := []string{}
		for _, x := range [][2]string{{"--since", test.since}, {"--until", test.until}} {
			if x[1] != "" {
				args = append(args, x[0], x[1])
			}
		}
		asked, err := spanOf(berlin(t), args...)
		if err != nil {
			t.Fatal(err)
		}
		if got := asked.needsEnd(); got != !test.end.IsZero() {
			t.Errorf("%v: the end is needed: %v", args, got)
		}
		s := stretch{Span: asked, begin: test.begin, end: test.end}
		from, _ := s.since()
		to, _ := s.until()
		if !from.Equal(test.wantFrom) || !to.Equal(test.wantTo) {
			t.Errorf("%v from %v: %v to %v, want %v to %v", args, test.begin, from.UTC(), to.UTC(), test.wantFrom, test.wantTo)
		}
		if err := s.check(); (err != nil) != test.bad {
			t.Errorf("%v from %v: %v", args, test.begin, err)
		}
	}
}

// TestZoneText: a zone is named together with what chose it.
func TestZoneText(t *testing.T) {
	for want, z := range map[string]Zone{
		"UTC":                          {},
		"those of Europe/Berlin (TZ)":  berlin(t),
		"those of this host (--local)": {time.Local, "--local"},
	} {
		if got := z.text(); got != want {
			t.Errorf("%+v: %s, want %s", z, got, want)
		}
	}
}
