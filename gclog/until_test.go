package gclog_test

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// TestUntilOfRecordings: a recording lasts until the latest time that its blocks state, or, if it ends
// with a rundown, until that began.
func TestUntilOfRecordings(t *testing.T) {
	points, ended, most := 0, 0, time.Duration(0)
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		r := parse.NewReader(bytes.NewReader(recordings.Read(t, tr.Path)), gclog.Wanted)
		var latest, point int64
		began := int64(math.MaxInt64) // the rundown at the end
		r.OnBlock(func(b parse.Block) {
			if _, at, known := b.Times(); known {
				latest = max(latest, r.Trace().Nanoseconds(at))
				if b.Kind == parse.BlockSequencePoint {
					point = r.Trace().Nanoseconds(at)
				}
			}
		})
		var wanted int64
		for r.Scan() {
			switch e := r.Event(); {
			case e == nil:
			case e.Meta.Provider == clr.RundownProvider:
				began = min(began, e.Time)
			default:
				wanted, began = max(wanted, e.Time), math.MaxInt64
			}
		}
		until := r.Stats().Until
		if until != min(latest, began) && (began == math.MaxInt64 || until > began) || until < wanted {
			t.Errorf("until %v; its blocks until %v, its events until %v", time.Duration(until), time.Duration(latest), time.Duration(wanted))
		}
		if r.Err() == nil {
			ended++
			if point == until {
				points++
				most = max(most, time.Duration(until-wanted))
			}
		}
	})
	t.Logf("%d of %d recordings that ended regularly have a sequence point at their end, up to %v after the last event", points, ended, most)
}
