package attach

import (
	"os"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
)

// A drip is a stream that comes in pieces, with a silence after each.
type drip struct {
	pieces [][]byte
	silent bool
}

func (d *drip) Read(b []byte) (int, error) {
	if d.silent = !d.silent; !d.silent || len(d.pieces) == 0 {
		d.silent = false
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(b, d.pieces[0])
	d.pieces = d.pieces[1:]
	return n, nil
}

// TestSilences: a silence after events says at once that nothing older is on its way, one after their
// metadata alone only when it has lasted. Each counts from its own start.
func TestSilences(t *testing.T) {
	const most = int(interrupted / idle)
	w := &nettracetest.V4{}
	var pieces [][]byte
	add := func(write func()) {
		from := len(w.Bytes)
		write()
		pieces = append(pieces, w.Bytes[from:len(w.Bytes):len(w.Bytes)])
	}
	metadata := func(id uint32) { w.Metadata(nettracetest.Kind{ID: id, Provider: "P", Name: "N"}) }
	add(func() { w.Begin(nettracetest.DefaultClock()); metadata(1) })
	add(func() { metadata(2) })
	add(func() { w.Events(nettracetest.Row{Kind: 1, Thread: 1, Payload: make([]byte, 100)}) })
	add(func() { metadata(3) })
	p := parse.NewReader(&drip{pieces: pieces}, gclog.Wanted)
	if _, err := p.ReadTrace(); err != nil {
		t.Fatal(err)
	}
	var x silence
	lasting := func() (times int) {
		for p.Scan() {
			p.Event()
		}
		for times = 1; !x.lasts(p); times++ {
			if times > most {
				t.Fatal("it never lasts")
			}
		}
		return times
	}
	for i, want := range []int{most, most, 1, most} {
		if got := lasting(); got != want {
			t.Errorf("silence %d lasts when it was looked at %d times, want %d", i, got, want)
		}
	}
}
