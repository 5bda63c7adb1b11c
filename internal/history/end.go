package history

import (
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// findEnd reads the files to find when they end: recordings, the end of all of them; logs, the end
// of the selected process.
func (s *Source) findEnd() (time.Time, error) {
	var latest time.Time
	saw := func(t time.Time) {
		if t.After(latest) {
			latest = t
		}
	}
	err := s.readAhead(s.Files, func(p *gclog.Process) formats.Observer {
		if !s.IsLog() || !s.wanted(p) {
			return nil
		}
		return &endFinder{process: p, saw: saw}
	})
	if !s.IsLog() {
		for _, f := range s.Files {
			saw(s.begin().Add(time.Duration(f.until)))
		}
	}
	return latest, err
}

// An endFinder finds the end of what a log contains of a process.
type endFinder struct {
	process *gclog.Process
	saw     func(time.Time)
}

func (o *endFinder) at(at int64) { o.saw(o.process.Time(at)) }

func (o *endFinder) Start(s *formats.Start)         { o.at(s.At) }
func (o *endFinder) End(e *formats.End)             { o.at(e.At) }
func (o *endFinder) Pause(p *gclog.Pause)           { o.at(p.Start + p.Duration) }
func (o *endFinder) Phase(p *gclog.Phase)           { o.at(p.Time) }
func (o *endFinder) Gap(g *gclog.Gap)               { o.at(g.Time) }
func (o *endFinder) GC(d *gclog.GCDetails)          { o.at(d.End) }
func (o *endFinder) Stall(*gclog.Stall)             {}
func (o *endFinder) HeapGrowth(*formats.HeapGrowth) {}
func (o *endFinder) Suspension(*gclog.Suspension)   {}
