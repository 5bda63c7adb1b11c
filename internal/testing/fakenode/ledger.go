//go:build linux

package fakenode

import (
	"slices"

	"github.com/gclog/gclog/parse/clr"
)

// A Kind is the kind of a collection.
type Kind uint8

// The kinds have the numbers of the runtime's GCStart event.
const (
	Blocking Kind = iota
	Background
	Foreground // while a background collection runs
)

// A GC is a collection. Its times are in nanoseconds of CLOCK_MONOTONIC; they are 0 until they are
// known.
type GC struct {
	Number     uint32
	Generation uint8
	Kind       Kind
	First      int64 // its first event, which begins its suspension
	Start, End int64 // GCStart, GCEnd
	Last       int64 // its last event
}

// A Span contains the numbers from From to To.
type Span struct{ From, To uint32 }

// How a session ended.
const (
	EndOpen      = ""          // it has not
	EndStopped   = "stopped"   // by StopTracing, with all data sent
	EndLeft      = "left"      // its reader closed the connection, or stopped reading
	EndExited    = "exited"    // the process exited normally
	EndDied      = "died"      // the process was killed
	EndBroken    = "broken"    // the runtime broke the stream off
	EndSpoilt    = "spoilt"    // the runtime sent data that is not nettrace
	EndUnwritten = "unwritten" // StopTracing came and nobody read the rest
)

// A Session is what was sent in one session.
type Session struct {
	ID     uint64
	Opened int64  // in the clock of a GC
	Sent   []Span // collections of which all events were written, in the order of their ends
	Read   []Span // those of Sent that the other end has read completely, by the kernel's account
	Lost   uint64 // events that were dropped
	End    string
}

// Has reports whether all events of a collection were written in the session.
func (s *Session) Has(number uint32) bool {
	return slices.ContainsFunc(s.Sent, func(p Span) bool { return p.From <= number && number <= p.To })
}

// Each calls f for all numbers of a list.
func Each(list []Span, f func(number uint32)) {
	for _, p := range list {
		for n := p.From; n <= p.To; n++ {
			f(n)
		}
	}
}

func appendNumber(list []Span, number uint32) []Span {
	if n := len(list); n > 0 && list[n-1].To+1 == number {
		list[n-1].To = number
		return list
	}
	return append(list, Span{number, number})
}

// A Ledger is everything that a runtime did. The collection with number n is GCs[n-1].
type Ledger struct {
	PID      int
	Cookie   string // as gclog writes it
	Name     string
	GCs      []GC
	Sessions []Session // except those without events
	Ended    bool      // the process has ended
	EndedAt  int64     // in the clock of a GC; 0: it has not
}

func (l *Ledger) clone() *Ledger {
	c := *l
	c.GCs = slices.Clone(l.GCs)
	c.Sessions = slices.Clone(l.Sessions)
	for i := range c.Sessions {
		c.Sessions[i].Sent = slices.Clone(c.Sessions[i].Sent)
		c.Sessions[i].Read = slices.Clone(c.Sessions[i].Read)
	}
	return &c
}

// note records an event.
func (l *Ledger) note(e *event) {
	for int(e.number) > len(l.GCs) {
		l.GCs = append(l.GCs, GC{Number: uint32(len(l.GCs) + 1)})
	}
	g := &l.GCs[e.number-1]
	g.Generation, g.Kind = e.gen, e.kind
	if e.first {
		g.First = e.at
	}
	if e.last {
		g.Last = e.at
	}
	switch e.id {
	case clr.IDGCStart:
		g.Start = e.at
	case clr.IDGCEnd:
		g.End = e.at
	}
}
