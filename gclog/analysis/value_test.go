package analysis

import (
	"testing"
	"time"
)

// TestDurationText also reads back what is written: a threshold is given as it is shown.
func TestDurationText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                                "0 ns",
		4609 * time.Millisecond:          "4.61 s",
		119499 * time.Millisecond:        "119 s",
		119500 * time.Millisecond:        "2 min",
		123 * time.Second:                "2 min 3 s",
		10 * time.Minute:                 "10 min",
		time.Hour - 600*time.Millisecond: "59 min 59 s",
		time.Hour - time.Millisecond:     "1 h",
		2*time.Hour - time.Second:        "2 h",
		5*time.Hour + 12*time.Minute:     "5 h 12 min",
		-3 * time.Minute:                 "-3 min",
	} {
		if got := durationText(float64(d)); got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
		if d < 0 {
			continue
		}
		if back, err := ParseValue(want, "ns"); err != nil || time.Duration(back)-d > d/100 || d-time.Duration(back) > d/100 {
			t.Errorf("%q is read as %v, %v", want, time.Duration(back), err)
		}
	}
}
