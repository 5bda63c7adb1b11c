package stacks

import (
	"io"
	"time"

	"github.com/gclog/gclog/parse"
)

// A span is a part of the time, of which windows were read.
type span struct {
	windows int
	watched time.Duration // length of the windows
	whole   time.Duration // what they stand for; 0: not more than they are
	ended   int           // windows that are over
	rates   float64       // sum of the bytes per second in each of these
	squares float64       // sum of the squares of that
}

// maxSpans is how many are kept apart.
const maxSpans = 64

// ReadWindow reads a recording as Read does, but of a live session: what nobody has read yet keeps it waiting. The
// recording is a window of the time: it counts even if nothing was allocated in it, and what was stands for as much
// in the time around it as StandFor says. Another goroutine may read names meanwhile.
func (b *Builder) ReadWindow(r io.Reader) error {
	b.mu.Lock()
	b.current().windows++
	b.dry = 0
	b.mu.Unlock()
	return b.read(parse.NewReader(r, Wanted), session{own: true})
}

// ReadNames reads only the names of methods in a recording, of a live session as well.
func (b *Builder) ReadNames(r io.Reader) error {
	return b.read(parse.NewReader(r, Wanted), session{names: true})
}

// StandFor says that the windows since the last call stand for a time. That must be all the time since then.
func (b *Builder) StandFor(whole time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch n := len(b.spans); {
	case b.current().windows == 0 && n > 1: // what was before is all that is known of it
		b.spans[n-2].whole += whole
	default:
		b.current().whole += whole
		if n < maxSpans {
			b.spans = append(b.spans, span{})
		}
	}
}

// current returns the span that is not over.
func (b *Builder) current() *span { return &b.spans[len(b.spans)-1] }

// What shows that allocations are no longer reported: so many collections because of them, and none for so long, or
// none in a whole window.
const (
	dryCollections = 4
	dryTime        = 5 * time.Second
)

// watched adds the length of a recording. If allocations were no longer reported at its end, it ends with the last
// one that was.
func (s *session) watched(until int64) {
	reported := s.p.ticksSeen+s.p.samplesSeen > 0
	if last := s.last - s.offset; reported && s.dry >= dryCollections && (last < 0 || until-last > int64(dryTime)) {
		until = last
		s.p.Gaps++
	}
	s.closeTallies()
	if until <= 0 {
		return
	}
	p := s.current()
	p.watched = time.Duration(sum(int64(p.watched), until))
	rate := (s.amount - s.before) / time.Duration(until).Seconds()
	p.ended++
	p.rates += rate
	p.squares += rate * rate
}

// A tally counts the events of a type.
type tally struct {
	events   float64
	inWindow float64
	spread   float64 // sum over windows of the square of its events, divided by the events of all types
}

// count counts an event of a type.
func (b *Builder) count(typ uint32) {
	for len(b.tallies) <= int(typ) {
		b.tallies = append(b.tallies, tally{})
	}
	b.tallies[typ].events++
	b.tallies[typ].inWindow++
}

// closeTallies ends a window.
func (b *Builder) closeTallies() {
	all := 0.0
	for i := range b.tallies {
		all += b.tallies[i].inWindow
	}
	for i := range b.tallies {
		t := &b.tallies[i]
		if t.inWindow > 0 {
			t.spread += t.inWindow * t.inWindow / all
			t.inWindow = 0
		}
	}
	if all > 0 {
		b.tallied++
	}
}

// dispersion returns how much more the types differ between windows than chance alone makes them, as a factor of
// the variance: what is allocated at the same moment is often of the same type, so that a short window says less than
// its number of events. It is that of a table of windows and frequent types: chi-squared by degrees of freedom.
func (b *Builder) dispersion() float64 {
	whole, watched := b.lengths()
	if watched == 0 || watched >= whole || b.tallied < 2 {
		return 1
	}
	all, chi, freedom := 0.0, 0.0, 0.0
	for i := range b.tallies {
		all += b.tallies[i].events
	}
	for i := range b.tallies {
		if t := &b.tallies[i]; t.events >= 2*leastEvents && t.events >= all/50 {
			chi += all/t.events*t.spread - t.events
			freedom += (1 - t.events/all) * float64(b.tallied-1)
		}
	}
	if freedom <= 0 {
		return 1
	}
	return 1 + max(0, chi/freedom-1)*(1-watched.Seconds()/whole.Seconds())
}

// unwatched returns the variance of the bytes that were allocated in all, as far as that is because nobody has watched
// all the time: windows differ, or, if there is only one, may differ as chance makes them; and each begins and ends
// somewhere between two ticks.
func (b *Builder) unwatched() (variance float64) {
	for _, p := range b.spans {
		n := float64(p.ended)
		if n == 0 || p.whole <= p.watched {
			continue
		}
		whole, stretch := p.whole.Seconds(), p.whole.Seconds()/p.watched.Seconds()
		variance += n * tickStep * tickStep / 6 * stretch * stretch
		if n == 1 {
			variance += p.rates * whole * tickStep * (stretch - 1)
			continue
		}
		of := (p.squares - p.rates*p.rates/n) / (n - 1)
		few := (n + 1) / (n - 1) // the variance of few windows is not known well
		variance += max(0, of) * few / n * (1 - 1/stretch) * whole * whole
	}
	return variance
}

// lengths returns how long the time of the profile is, and how much of it windows were read of; 0: all of it.
func (b *Builder) lengths() (whole, watched time.Duration) {
	windows := 0
	for _, p := range b.spans {
		whole = time.Duration(sum(int64(whole), int64(max(p.whole, p.watched))))
		watched = time.Duration(sum(int64(watched), int64(p.watched)))
		windows += p.windows
	}
	if windows == 0 {
		watched = 0
	}
	return whole, watched
}

// stretch returns how much more time than was watched a span has.
func (b *Builder) stretch(of int) float64 {
	if p := b.spans[of]; p.watched > 0 && p.whole > p.watched {
		return float64(p.whole) / float64(p.watched)
	}
	return 1
}

// Progress is what a Builder has read so far.
type Progress struct {
	Events  uint64        // of allocations
	Bytes   float64       // about what these stand for, without what StandFor says
	Calls   uint64        // requests of collections
	Scanned int64         // events of all kinds in what ReadWindow has read
	Watched time.Duration // length of what ReadWindow has read to its end
	Methods int           // with a name, each as often as it was compiled
	// Dry reports that allocations go on, but are not reported any more.
	Dry bool
}

// Progress returns what was read so far. Any goroutine may call it.
func (b *Builder) Progress() Progress {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, watched := b.lengths()
	return Progress{
		Watched: watched,
		Events:  b.p.ticksSeen + b.p.samplesSeen, Bytes: b.amount, Calls: b.p.Requests, Scanned: b.scanned,
		Methods: len(b.methods.bodies), Dry: b.dry >= dryCollections,
	}
}
