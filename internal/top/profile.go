package top

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/callers"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/session"
)

const (
	// profileTime is how long who allocates is watched.
	profileTime = 30 * time.Second
	// profileEvery is how often what is known so far is shown, unless finding it out takes long: profileShare is the
	// part of the time that this takes at most.
	profileEvery = 2 * time.Second
	profileShare = 20
	profileRows  = 50
)

// profile has the allocations of a process watched.
func (r *runner) profile(x Profile) {
	s := &source{id: x.ID, send: r.send, done: make(chan struct{})}
	r.profiles = append(slices.DeleteFunc(r.profiles, func(old *source) bool { return isClosed(old.done) }), s)
	ctx, cancel := context.WithCancel(r.ctx)
	s.cancel = cancel
	t := r.targets[x.ID]
	go func() {
		defer close(s.done)
		end := Profiled{Text: fmt.Sprintf("process %d cannot be attached to", x.PID)}
		if t != nil {
			w := &allocationWatch{id: x.ID, t: t, send: r.send, b: stacks.NewBuilder()}
			if defect := attach.Contain(func() { end = w.run(ctx, r.o.Explain) }); defect != nil {
				end.Text = defect.Error()
			}
		}
		end.ID, end.Done = x.ID, true
		r.send(end)
	}()
}

// An allocationWatch watches who allocates in a process.
type allocationWatch struct {
	id    int
	t     *host.Target
	send  func(any)
	b     *stacks.Builder
	began time.Time
}

// run watches until the time is over, and returns what was seen.
func (w *allocationWatch) run(
	ctx context.Context, explain func(context.Context, *host.Target, error) error,
) Profiled {
	facts, err := attach.Identify(ctx, w.t)
	if err != nil && !session.IsUnknownCommand(err) {
		return w.failed(explain(ctx, w.t, err))
	}
	w.began = time.Now()
	over, end := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(end)
		_ = attach.Contain(func() { w.report(over) })
	}()
	p, err := attach.TakeProfile(ctx, w.t, &facts, attach.ProfileOptions{
		Duration: profileTime, Allocations: true, Budget: attach.ProfileBudget, Builder: w.b,
		Warn: func(text string) { w.send(Said(text)) },
	})
	close(over)
	<-end
	if err != nil {
		return w.failed(explain(ctx, w.t, err))
	}
	x := profiled(p.Profile, p.Duration)
	if p.Total.Events > 0 {
		x.Text = callers.RateText(p.Total.Bytes, p.Duration) + ", " + x.Text
	}
	if p.End.Reason.OfProcess() {
		x.Text += fmt.Sprintf("; the process %s", p.End.AppendTo(nil))
	}
	if p.Gap {
		x.Text += "; with a gap, as while another tool samples allocations"
	}
	return x
}

// failed says what to run instead.
func (w *allocationWatch) failed(err error) Profiled {
	return Profiled{Text: fmt.Sprintf("%v; gclog alloc %d may do it, as its user or as root", err, w.t.PID)}
}

// report sends what is known so far.
func (w *allocationWatch) report(over <-chan struct{}) {
	wait := profileEvery
	for {
		select {
		case <-over:
			return
		case <-time.After(wait):
		}
		began := time.Now()
		x := profiled(w.b.Profile(), 0) // for how long the session that is open has been read is unknown
		wait = max(profileEvery, profileShare*time.Since(began))
		x.ID = w.id
		x.Text = fmt.Sprintf("%.0f of %.0f s: %s", time.Since(w.began).Seconds(), profileTime.Seconds(), x.Text)
		w.send(x)
	}
}

// profiled returns what a profile shows on the screen. length is how long it is, 0 if that is unknown.
func profiled(p *stacks.Profile, length time.Duration) Profiled {
	v := &callers.View{Profile: p, Own: true}
	x := Profiled{Text: fmt.Sprintf("from %d %v", p.Total.Events, p.Source)}
	switch {
	case p.Total.Events == 0:
		x.Text = "no allocation has been reported"
		return x
	case p.Nameless():
		x.Text += "; NativeAOT reports neither types nor call stacks"
		return x
	}
	list := func(by string) (list []Allocated) {
		for _, r := range v.Rows(by) {
			name := r.Name
			if by == callers.ByPath {
				name = callers.Outwards(r.Path)
			}
			list = append(list, Allocated{v.ShareText(r.Estimate), callers.RateText(r.Bytes, length), name})
			if len(list) == profileRows {
				break
			}
		}
		return list
	}
	x.Types = list(callers.ByType)
	if p.HasStacks() {
		x.Paths = list(callers.ByPath)
	}
	return x
}
