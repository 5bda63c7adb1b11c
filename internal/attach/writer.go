package attach

import (
	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/output"
)

// A writer takes the records from the queue and writes them.
type writer struct {
	o     *Options
	set   *output.Set
	queue *queue
	ask   func() // ends the session
}

func (w *writer) begin(s formats.Start) {
	w.set.Each(func(f *formats.Writer) { f.Start(&s) })
}

func (w *writer) run() {
	for it := range w.queue.full {
		select {
		case <-w.o.Reopen:
			w.set.Reopen()
		default:
		}
		w.set.Each(it.deliver)
		w.queue.free <- it
		w.o.Progress.Output.Store(w.set.Bytes())
		if w.set.Broken() {
			w.ask() // nobody reads the pipe any more
		}
	}
}

// finish writes how the session ended.
func (w *writer) finish(e formats.End) {
	w.set.Each(func(f *formats.Writer) { f.End(&e) })
}
