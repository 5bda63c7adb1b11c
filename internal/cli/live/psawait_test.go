package live

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestAwaitAnswers: those that are silent are given up when no answer has come for a while, those that
// are late when all have had their time.
func TestAwaitAnswers(t *testing.T) {
	const ms = time.Millisecond
	never := time.Hour
	var untilTheEnd []time.Duration
	for at := psPatience - 10*ms; at < psLongest; at += psPatience - 10*ms {
		untilTheEnd = append(untilTheEnd, at)
	}
	for name, x := range map[string]struct {
		answers []time.Duration // when each answers
		late    map[int]bool
		took    time.Duration
		silent  map[int]bool
	}{
		"none":                       {nil, nil, 0, nil},
		"all answer":                 {[]time.Duration{3 * ms, 5 * ms}, nil, 5 * ms, nil},
		"one is silent":              {[]time.Duration{3 * ms, never}, nil, psPatience, map[int]bool{1: true}},
		"all are silent":             {[]time.Duration{never, never}, nil, psPatience, map[int]bool{0: true, 1: true}},
		"slow, but in time":          {[]time.Duration{3 * ms, 140 * ms}, nil, 140 * ms, nil},
		"a busy host":                {[]time.Duration{110 * ms, 250 * ms, 390 * ms, never}, nil, 390*ms + psPatience, map[int]bool{3: true}},
		"one is late":                {[]time.Duration{3 * ms, 1450 * ms}, map[int]bool{1: true}, 1450 * ms, nil},
		"one is late, one is silent": {[]time.Duration{1450 * ms, never}, map[int]bool{0: true}, 1450 * ms, map[int]bool{1: true}},
		"one is late forever":        {[]time.Duration{3 * ms, never}, map[int]bool{1: true}, psLongest, map[int]bool{1: true}},
		"answers until the end":      {append(slices.Clone(untilTheEnd), never), nil, psLongest, map[int]bool{len(untilTheEnd): true}},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			asked, answered := map[int]context.CancelFunc{}, make(chan int, len(x.answers))
			silent := map[int]bool{}
			for i, after := range x.answers {
				asking, giveUp := context.WithCancel(t.Context())
				asked[i] = giveUp
				go func() {
					select {
					case <-time.After(after):
					case <-asking.Done():
					}
					answered <- i
				}()
			}
			all := make([]context.CancelFunc, len(asked))
			for i, giveUp := range asked {
				all[i] = giveUp
				asked[i] = func() { silent[i] = true; giveUp() }
			}
			await(asked, answered, psPatience, func(i int) bool { return x.late[i] })
			took := time.Since(began)
			if took < x.took || took > x.took+20*ms || len(silent) != len(x.silent) { // of the fake clock
				t.Errorf("%s: took %v, want %v; given up: %v", name, took, x.took, silent)
			}
			for i := range x.silent {
				if !silent[i] {
					t.Errorf("%s: %d was not given up", name, i)
				}
			}
			for _, giveUp := range all {
				giveUp()
			}
		})
	}
}
