package history

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// zones have clocks that are changed by an hour, by half an hour, over midnight, by a whole day,
// and never.
var zones = []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Havana", "Pacific/Apia", "Asia/Kolkata", "UTC"}

// changes returns moments at which the clocks of these zones were set.
func changes(t *testing.T, where *time.Location) (list []time.Time) {
	t.Helper()
	_, last := time.Unix(0, 0).In(where).Zone()
	for at := time.Date(2011, 12, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2013; at = at.Add(30 * time.Minute) {
		if _, east := at.In(where).Zone(); east != last {
			list, last = append(list, at), east
		}
	}
	return append(list, time.Date(2012, 6, 15, 11, 59, 0, 0, time.UTC))
}

// TestAround: the times of day before and after a moment are those at which a clock, watched minute
// by minute, shows them.
func TestAround(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range zones {
		where, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range changes(t, where) {
			for range 60 {
				begin := change.Add(time.Duration(random.IntN(60*60)-30*60) * time.Minute)
				at := change.Add(time.Duration(random.IntN(300)-150) * time.Minute).In(where)
				i, err := ParseInstant("at", at.Format("15:04"), Zone{where, "TZ"})
				if err != nil {
					t.Fatal(err)
				}
				shows := func(from time.Time, step time.Duration) time.Time {
					for range 5 * 24 * 60 {
						if from.In(where).Format("15:04") == i.Text {
							return from
						}
						from = from.Add(step)
					}
					return time.Time{}
				}
				wantBefore, want := shows(begin.Add(-time.Minute), -time.Minute), shows(begin, time.Minute)
				if before, from := i.around(begin); !before.Equal(wantBefore) || !from.Equal(want) {
					t.Errorf("%s, %s around %v: %v and %v, want %v and %v", name, i.Text, begin.In(where), before, from, wantBefore.In(where), want.In(where))
				}
			}
		}
	}
}

// TestMoments: a calendar time is every moment at which the clocks show it.
func TestMoments(t *testing.T) {
	for _, name := range zones {
		where, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range changes(t, where) {
			want := map[string][]time.Time{}
			for at := change.Add(-3 * time.Hour); at.Before(change.Add(3 * time.Hour)); at = at.Add(time.Minute) {
				want[at.In(where).Format("2006-01-02 15:04")] = append(want[at.In(where).Format("2006-01-02 15:04")], at)
			}
			last := shown(change.Add(3 * time.Hour).In(where))
			for at := shown(change.Add(-3 * time.Hour).In(where)); at.Before(last); at = at.Add(time.Minute) {
				text := at.Format("2006-01-02 15:04")
				got := moments(at, where)
				if len(got) != len(want[text]) {
					t.Errorf("%s: %s is %v, want %v", name, text, got, want[text])
					continue
				}
				for i := range got {
					if !got[i].Equal(want[text][i]) {
						t.Errorf("%s: %s is %v, want %v", name, text, got, want[text])
					}
				}
				_, err := ParseInstant("at", text, Zone{where, "TZ"})
				if refused := err != nil && strings.HasSuffix(err.Error(), "clocks were set forward over it"); refused != (len(got) == 0) {
					t.Errorf("%s: %s: %v", name, text, err)
				}
			}
		}
	}
}

func berlin(t *testing.T) Zone {
	t.Helper()
	where, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return Zone{where, "TZ"}
}

// TestTwice: of two times that look alike the first that is not over when the recording starts is
// meant; if both are in it, that is reported.
func TestTwice(t *testing.T) {
	day := func(h, m int) time.Time { return time.Date(2026, 10, 25, h, m, 0, 0, time.UTC) } // UTC; at 1:00 it is 2:00 again
	for _, text := range []string{"02:30", "2026-10-25 02:30", "2026-10-25T02:30:00"} {
		for _, test := range []struct {
			begin, end, want time.Time
			ambiguous        bool
		}{
			{day(0, 0), day(3, 0), day(0, 30), true},
			{day(0, 0), day(1, 0), day(0, 30), false},
			{day(1, 0), day(3, 0), day(1, 30), false},
		} {
			s, err := spanOf(berlin(t), "--since", text)
			if err != nil {
				t.Fatal(err)
			}
			part := stretch{Span: s, begin: test.begin, end: test.end}
			if got, _ := s.Since.at(test.begin, test.end); !got.Equal(test.want) {
				t.Errorf("%s from %v: %v, want %v", text, test.begin, got.UTC(), test.want)
			}
			if doubts := part.doubts(test.begin, test.end); (len(doubts) > 0) != test.ambiguous {
				t.Errorf("%s from %v to %v: %q", text, test.begin, test.end, doubts)
			}
		}
	}
}

// TestNever: the error for a time of day that clocks were set forward over says so.
func TestNever(t *testing.T) {
	for day, want := range map[int]bool{27: false, 28: true, 29: true, 30: false} {
		s, err := spanOf(berlin(t), "--since", "02:30")
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Date(2026, 3, day, 0, 30, 0, 0, s.Zone.location())
		part := stretch{Span: s, begin: begin, end: begin.Add(time.Minute)}
		if got := strings.Contains(part.zoneRule(&s.Since), "on 2026-03-29 clocks were set forward over it; "); got != want {
			t.Errorf("on %d: %s", day, part.zoneRule(&s.Since))
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
