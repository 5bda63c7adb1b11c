package analyse

import "testing"

func TestAbout(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0.000 ms", 412_345: "0.412 ms", 12_345_678: "12.3 ms", 3_210_000_000: "3.2 s", 119e9: "119.0 s", 7_384_600_000_000: "2 h 3 min",
	} {
		if got := about(ns); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}
