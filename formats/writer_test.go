package formats_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// A moody Output takes nothing while it is broken.
type moody struct {
	memory
	broken bool
}

var errMood = errors.New("no")

func (m *moody) Write(head formats.Head, group []byte, hold bool) error {
	if m.broken {
		return errMood
	}
	return m.memory.Write(head, group, hold)
}

// TestUnwritten: what could not be written is counted, and told in the formats that
// have a line for it as soon as the output takes something again.
func TestUnwritten(t *testing.T) {
	for _, f := range formats.All() {
		t.Run(f.Name, func(t *testing.T) {
			out := &moody{}
			w := formats.NewWriter(f, out, formats.Options{Process: someone()})
			gc := func(n uint32) {
				d := gclog.GCDetails{Number: n, HasNumber: true, HasReason: true, HasEnd: true, Complete: true}
				d.Pauses = []gclog.PausePart{{Start: int64(n), Duration: 1000}}
				w.Pause(&gclog.Pause{PausePart: d.Pauses[0], GC: &d})
				w.GC(&d)
			}
			gc(1)
			out.broken = true
			gc(2)
			gc(3)
			if w.Dropped() != 2 || !errors.Is(w.Err(), errMood) {
				t.Errorf("%d groups dropped, error %v", w.Dropped(), w.Err())
			}
			out.broken = false
			gc(4)
			gc(5)
			text := string(out.text())
			told := strings.Count(text, "2 records are missing")
			if want := map[string]int{"json": 1, "text": 1}[f.Name]; told != want {
				t.Errorf("told %d times:\n%s", told, text)
			}
			if w.Written() != 3 || w.Dropped() != 2 {
				t.Errorf("%d groups written, %d dropped", w.Written(), w.Dropped())
			}
		})
	}
}
