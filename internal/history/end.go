package history

import (
	"time"

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
	err := s.readAhead(s.Files, func(p *gclog.Process) gclog.Observer {
		if !s.IsLog() || !s.wanted(p) {
			return nil
		}
		return func(r gclog.Record) {
			switch r := r.(type) {
			case *gclog.Pause:
				saw(p.Time(r.Start + r.Duration))
			case *gclog.GCDetails:
				saw(p.Time(r.End))
			case *gclog.Start, *gclog.End, *gclog.Phase, *gclog.Gap:
				at, _ := r.When()
				saw(p.Time(at))
			}
		}
	})
	if !s.IsLog() {
		for _, f := range s.Files {
			saw(s.begin().Add(time.Duration(f.until)))
		}
	}
	return latest, err
}
