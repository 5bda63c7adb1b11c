package daemon

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/config"
)

// A part is something that the daemon does besides finding processes and writing their logs: it listens
// somewhere, or makes use of the records. The loop calls all of its methods, so none of them may take time.
type part interface {
	// prepare does what can fail of a configuration. The result applies it when all parts are prepared, or
	// takes it back when another one has failed. The first configuration starts the part.
	prepare(next *config.Loaded) (change, error)
	// observe returns what receives the records of a process, as the configuration is now; nil: nothing does.
	observe(p *process) func(*gclog.Process) gclog.Observer
	// forget handles that a process has exited, and that its log is complete.
	forget(p *process)
	// tick does what is rarely due.
	tick()
	// settle ends the part. Work that takes time is done by a goroutine of all, until ctx is done. The loop
	// goes on meanwhile.
	settle(ctx context.Context, all *sync.WaitGroup)
}

// A change is a configuration that a part is prepared for: one of the two is called.
type change struct{ apply, undo func() }

func nothing() {}

// idle is a part that does nothing. Parts embed it for what does not concern them.
type idle struct{}

func (idle) prepare(*config.Loaded) (change, error)               { return change{nothing, nothing}, nil }
func (idle) observe(*process) func(*gclog.Process) gclog.Observer { return nil }
func (idle) forget(*process)                                      {}
func (idle) tick()                                                {}
func (idle) settle(context.Context, *sync.WaitGroup)              {}

// apply applies a configuration: all of it, or nothing.
func (d *Daemon) apply(next *config.Loaded) error {
	var changes []change
	for _, x := range d.parts {
		c, err := x.prepare(next)
		if err != nil {
			for _, c := range slices.Backward(changes) {
				c.undo()
			}
			return err
		}
		changes = append(changes, c)
	}
	d.use(next)
	for _, c := range changes {
		c.apply()
	}
	for _, p := range d.processes {
		p.guard(p.replan)
	}
	return nil
}

// observe returns what receives the records of the process next to its outputs, as the configuration
// is now; nil: nothing does.
func (p *process) observe() func(*gclog.Process) gclog.Observer {
	var all []func(*gclog.Process) gclog.Observer
	for _, x := range p.d.parts {
		if observe := x.observe(p); observe != nil {
			all = append(all, observe)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return func(known *gclog.Process) gclog.Observer {
		var list []gclog.Observer
		for _, observe := range all {
			list = append(list, observe(known))
		}
		return gclog.Tee(list...)
	}
}

// settle ends the parts when there are no sessions any more. It takes until a time at most.
func (d *Daemon) settle(by time.Time) {
	ctx, cancel := context.WithDeadline(context.Background(), by)
	defer cancel()
	var all sync.WaitGroup
	for _, x := range d.parts {
		x.settle(ctx, &all)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		all.Wait()
	}()
	late := time.After(time.Until(by) + d.ending.more)
	for {
		select {
		case f := <-d.events: // what is settled reports to the loop
			d.handle(f)
		case <-done:
			return
		case <-late:
			return
		}
	}
}
