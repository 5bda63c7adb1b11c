package gclog

import (
	"fmt"
	"strings"
	"testing"
)

func TestMissing(t *testing.T) {
	for _, c := range []struct {
		numbers []uint32
		want    string
	}{
		{nil, ""},
		{[]uint32{0, 0}, "0-0 (2)"},
		{[]uint32{5, 6, 0, 7}, "5-7 (4)"},
		{[]uint32{6, 5, 6}, "5-6 (3)"},
		{[]uint32{6, 8, 10, 7, 9}, "6-10 (5)"},
		{[]uint32{5, 9, 1, 7, 8, 6}, "5-9 (6) 1-1 (0)"},
		{[]uint32{8, 9, 3, 10, 12}, "8-10 (5) 3-3 (0) 12-12 (0)"},
		{[]uint32{10, 20, 30, 40, 50, 60}, "10-10 (6) 20-20 (0) 30-30 (0) 40-60 (0)"},
	} {
		var m Missing
		for _, n := range c.numbers {
			m.Add(n)
		}
		var got []string
		m.Gaps(Gap{Reason: GapUnwritten}, func(g *Gap) {
			if g.Reason != GapUnwritten {
				t.Errorf("reason %v", g.Reason)
			}
			got = append(got, fmt.Sprintf("%d-%d (%d)", g.From, g.To, g.Records))
		})
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v: %s, want %s", c.numbers, s, c.want)
		}
	}
}
