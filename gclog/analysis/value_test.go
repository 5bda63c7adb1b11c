package analysis

import (
	"math"
	"math/rand/v2"
	"strings"
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

// TestDigits: where the next unit, or one digit less after the point, begins.
func TestDigits(t *testing.T) {
	for _, c := range []struct {
		v          float64
		unit, want string
	}{
		{999.4, "ns", "999 ns"},
		{999.5, "ns", "1 µs"},
		{999.4e3, "ns", "999 µs"},
		{999.5e3, "ns", "1 ms"},
		{999.4e6, "ns", "999 ms"},
		{999.5e6, "ns", "1 s"},
		{119.4e9, "ns", "119 s"},
		{999.4, "bytes", "999 B"},
		{999.5, "bytes", "1 KB"},
		{999.5e3, "bytes", "1 MB"},
		{999.5e6, "bytes", "1 GB"},
		{999.5e9, "bytes", "1 TB"},
		{12345e12, "bytes", "12345 TB"},
		{1.5e6, "bytes/s", "1.5 MB/s"},
		{9.994, "%", "9.99 %"},
		{9.996, "%", "10 %"},
		{12.34, "%/h", "12.3 %/h"},
		{99.94, "1/min", "99.9 per minute"},
		{99.96, "", "100"},
		{1234567, "", "1234567"},
		{-1500, "bytes", "-1.5 KB"},
	} {
		if got := valueText(c.v, c.unit); got != c.want {
			t.Errorf("%v %s is %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

func TestNumberText(t *testing.T) {
	for want, n := range map[string]Number{"0 ns": nanoseconds(0), "5 ms": nanoseconds(5e6), "5000000": known(5e6), "n/a": unknown("nobody tells it")} {
		if got := n.Text(); got != want {
			t.Errorf("%+v is %q, want %q", n, got, want)
		}
	}
}

// TestTextsReadBack: what is written of a value is read as that value, as far as three digits go.
func TestTextsReadBack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		v := math.Exp(rnd.Float64() * 30)
		for _, unit := range []string{"ns", "bytes", "bytes/s", "%", ""} {
			if unit == "ns" {
				v = math.Floor(v) // there is no part of a nanosecond
			}
			text := valueText(v, unit)
			back, err := ParseValue(text, unit)
			if err != nil || math.Abs(back-v) > 0.01*v+0.005 {
				t.Fatalf("%v %s is %q, which is read as %v, %v", v, unit, text, back, err)
			}
			number, _, _ := strings.Cut(text, " ")
			if whole, part, _ := strings.Cut(number, "."); unit != "ns" && len(part) > max(0, 3-len(whole)) || strings.HasSuffix(part, "0") {
				t.Fatalf("%v %s is %q", v, unit, text)
			}
		}
	}
}
