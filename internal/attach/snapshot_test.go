package attach

import (
	"slices"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
)

// TestRequestedWith: of the full collections around a walk those count that the same thread has
// requested.
func TestRequestedWith(t *testing.T) {
	gc := func(number uint32, trigger uint64) *gclog.GCDetails {
		return &gclog.GCDetails{Number: number, Trigger: trigger, HasTrigger: trigger != 0}
	}
	for name, c := range map[string]struct {
		all  []*gclog.GCDetails
		want []uint32
	}{
		"nothing was recorded":          {all: []*gclog.GCDetails{nil}},
		"the walk's was not recorded":   {all: []*gclog.GCDetails{gc(4, 9), gc(6, 9)}},
		"the walk's":                    {all: []*gclog.GCDetails{gc(5, 9)}, want: []uint32{5}},
		"and that of the end":           {all: []*gclog.GCDetails{gc(5, 9), gc(6, 9)}, want: []uint32{5, 6}},
		"the program's around them":     {all: []*gclog.GCDetails{gc(4, 1), gc(5, 9), gc(6, 1), gc(7, 9), gc(8, 1)}, want: []uint32{5, 7}},
		"of threads that are not known": {all: []*gclog.GCDetails{gc(4, 0), gc(5, 0), gc(6, 0)}, want: []uint32{5}},
	} {
		var got []uint32
		for _, d := range requestedWith(5, c.all) {
			got = append(got, d.Number)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestFrequent: background collections are frequent if they took much time, with little in between.
func TestFrequent(t *testing.T) {
	for name, c := range map[string]struct {
		took, age time.Duration
		most      int
		want      bool
	}{
		"none":                         {age: time.Minute},
		"five in a second":             {took: 100 * time.Millisecond, most: 5, age: time.Second, want: true},
		"short ones":                   {took: 9 * time.Millisecond, most: 5, age: time.Second},
		"at the start, a minute ago":   {took: 3 * time.Second, most: 9, age: time.Minute},
		"two a second, for an hour":    {took: 72 * time.Second, most: 7200, age: time.Hour, want: true},
		"one a second, for an hour":    {took: 72 * time.Second, most: 3600, age: time.Hour},
		"long ones with short gaps":    {took: 50 * time.Second, most: 55, age: time.Minute, want: true},
		"one each minute, for an hour": {took: 2 * time.Minute, most: 300, age: time.Hour},
	} {
		if got := frequent(c.took, c.age, c.most); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
