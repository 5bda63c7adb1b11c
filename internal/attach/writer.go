package attach

import (
	"fmt"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/output"
)

// A writer takes the records from the queue and writes them.
type writer struct {
	o       *Options
	set     *output.Set
	queue   *queue
	ask     func() // ends the session
	done    chan struct{}
	missing uint64 // records that the queue had no room for
}

func (w *writer) run(s formats.Start) {
	defer close(w.done)
	w.set.Each(func(f *formats.Writer) { f.Start(&s) })
	for {
		select {
		case <-w.o.Reopen:
			w.set.Reopen()
		case it, ok := <-w.queue.full:
			if !ok {
				return
			}
			if it.kind == itemGap && it.gap.Reason == gclog.GapQueueFull {
				w.missed(it.gap.Records)
			}
			w.set.Each(it.deliver)
			w.queue.free <- it
			w.o.Progress.Output.Store(w.set.Bytes())
			if w.set.Broken() {
				w.ask() // nobody reads the pipe any more
			}
		}
	}
}

// missed notes that records are missing: most formats have no line for it.
func (w *writer) missed(n uint64) {
	w.missing += n
	w.o.Opener.Tell(fmt.Sprintf("the outputs were too slow: %d records are missing", n))
}

// finish writes what is left to say: of records that were dropped, and how the
// session ended.
func (w *writer) finish(e formats.End) {
	if w.queue.dropped > 0 {
		g := w.queue.gap()
		w.missed(g.Records)
		w.set.Each(func(f *formats.Writer) { f.Gap(&g) })
	}
	w.set.Each(func(f *formats.Writer) { f.End(&e) })
}

// err is what is missing in the outputs.
func (w *writer) err() error {
	if w.missing == 0 {
		return nil
	}
	return fmt.Errorf("%d records could not be written: the outputs were too slow", w.missing)
}
