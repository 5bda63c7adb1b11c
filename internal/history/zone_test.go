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

// TestTwiceOrNever: of two times that look alike the first is meant, and a time that clocks skip is as
// long after the change as the time would have been without one.
func TestTwiceOrNever(t *testing.T) {
	for _, test := range []struct {
		text        string
		begin, want time.Time
	}{
		{"2026-10-25 02:30", time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC), time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)}, // at 1:00 UTC it is 2:00 again
		{"02:30", time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)},
		{"2026-03-29 02:30", time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)}, // at 1:00 UTC it is 3:00
		{"02:30", time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC), time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)},
	} {
		s, err := spanOf(berlin(t), "--since", test.text)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := s.Since.at(test.begin, test.begin.Add(time.Hour)); !got.Equal(test.want) {
			t.Errorf("%s from %v: %v, want %v", test.text, test.begin, got.UTC(), test.want)
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
