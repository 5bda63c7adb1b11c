package live

import (
	"fmt"
	"strings"
	"testing"
)

// TestStatArguments: what to observe, the interval and the count can be told apart.
func TestStatArguments(t *testing.T) {
	for _, c := range []struct {
		args string
		flag bool
		want string
	}{
		{"4711", false, "[4711] 0s 0"},
		{"4711 1s", false, "[4711] 1s 0"},
		{"4711 1s 10", false, "[4711] 1s 10"},
		{"4711 250 4", false, "[4711] 250ms 4"},
		{"a.json b.json 1m", false, "[a.json b.json] 1m0s 0"},
		{"a.json b.json", false, "[a.json b.json] 0s 0"},
		{"1s 3", true, "[] 1s 3"},
		{"", true, "[] 0s 0"},
		{"", false, "[] 0s 0"},
		{"4711 1s 0", false, `"0" is not a number of lines: it must be at least 1`},
		{"4711 1s x", false, `"x" is not a number of lines: it must be at least 1`},
		{"4711 1s 1 1", false, "after the interval and the count there must be no more arguments: 1"},
		{"a.json 1s", true, "[a.json] 1s 0"},
		{"4711 99", false, "an interval of 99ms is too short: runtimes send their events every 100 ms"},
		{"4711 0 3", false, "an interval of 0s is too short: runtimes send their events every 100 ms"},
		{"99", true, "an interval of 99ms is too short: runtimes send their events every 100 ms"},
	} {
		names, interval, count, err := statArguments(strings.Fields(c.args), c.flag)
		got := fmt.Sprintf("%v %v %d", names, interval, count)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.args, got, c.want)
		}
	}
}
