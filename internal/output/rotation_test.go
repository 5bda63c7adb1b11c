package output

import "testing"

func TestParseBytes(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "512": 512, "512B": 512, "10K": 10 << 10, "10k": 10 << 10, "10Ki": 10 << 10, "10KiB": 10 << 10, "10KB": 10_000,
		"3M": 3 << 20, "3Mi": 3 << 20, "3mib": 3 << 20, "3MB": 3_000_000, "1024G": 1 << 40, "1GB": 1_000_000_000,
	} {
		if n, err := ParseBytes(s); err != nil || n != want {
			t.Errorf("%q is %d, %v; want %d", s, n, err, want)
		}
	}
	for _, s := range []string{"", "M", "-1", "1.5M", "10I", "10IB", "10KK", "10BK", "1 M", "1025G", "1Q", "99999999999999999999"} {
		if n, err := ParseBytes(s); err == nil {
			t.Errorf("%q is %d; want an error", s, n)
		}
	}
}
