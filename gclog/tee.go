package gclog

import "github.com/gclog/gclog/parse/clr"

// Tee returns an Observer that passes everything to all of list, in that order. Suspensions and
// events are passed on to those that are a SuspensionObserver or an EventObserver.
func Tee(list ...Observer) Observer {
	t := tee(list)
	var suspensions suspensionTee
	var events eventTee
	for _, o := range list {
		if s, ok := o.(SuspensionObserver); ok {
			suspensions = append(suspensions, s)
		}
		if e, ok := o.(EventObserver); ok {
			events = append(events, e)
		}
	}
	switch {
	case len(suspensions) > 0 && len(events) > 0:
		return struct {
			tee
			suspensionTee
			eventTee
		}{t, suspensions, events}
	case len(suspensions) > 0:
		return struct {
			tee
			suspensionTee
		}{t, suspensions}
	case len(events) > 0:
		return struct {
			tee
			eventTee
		}{t, events}
	}
	return t
}

type tee []Observer

func (t tee) Pause(p *Pause) {
	for _, o := range t {
		o.Pause(p)
	}
}

func (t tee) Phase(p *Phase) {
	for _, o := range t {
		o.Phase(p)
	}
}

func (t tee) GC(d *GCDetails) {
	for _, o := range t {
		o.GC(d)
	}
}

func (t tee) Gap(g *Gap) {
	for _, o := range t {
		o.Gap(g)
	}
}

type suspensionTee []SuspensionObserver

// Suspension passes a suspension on.
func (t suspensionTee) Suspension(s *Suspension) {
	for _, o := range t {
		o.Suspension(s)
	}
}

type eventTee []EventObserver

// Event passes an event on.
func (t eventTee) Event(at Stamp, e clr.Event, d *GCDetails) {
	for _, o := range t {
		o.Event(at, e, d)
	}
}
