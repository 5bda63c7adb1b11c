package daemon

import (
	"slices"
	"time"

	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/output"
)

// Records that cannot be written, as on a full disk, are in a gap as soon as there is room. The writer of a
// process that is logged sees to that. When the process has exited meanwhile, its log stays open
// until then, or until the daemon ends; what is in no gap then is in the daemon's own log.

// An UnwrittenLog is a log of a process that has exited: it still lacks the gap for what could not be
// written.
type UnwrittenLog struct {
	PID     int                `json:"pid"`
	Process string             `json:"process"`
	Service string             `json:"service,omitempty"`
	Outputs []output.Unwritten `json:"outputs"`
}

const (
	// mostUnwritten is how many such logs stay open, at most: each has a goroutine and its files.
	mostUnwritten = 64
	// unwrittenEvery is how often to try again.
	unwrittenEvery = time.Second
)

// keepUnwritten keeps the log of a process open until the gaps are written. If there are too many of
// them, it is only tried once more.
func (d *Daemon) keepUnwritten(p *process, l *attach.Log, lacks []output.Unwritten) {
	u := &UnwrittenLog{PID: p.target.PID, Process: p.name(), Service: p.facts.Service, Outputs: lacks}
	patient := len(d.unwritten) < max(1, min(mostUnwritten, d.limits.processes/8))
	d.unwritten = append(d.unwritten, u)
	go func() {
		defect := attach.Contain(func() {
			for patient && len(lacks) > 0 {
				select {
				case <-time.After(unwrittenEvery):
					now := l.Flush()
					d.post(func() { u.Outputs = now })
					lacks = now
				case <-d.ending.lastWrites:
					patient = false
				}
			}
		})
		if another := d.closeLog(p, l); defect == nil {
			defect = another
		}
		d.post(func() {
			if defect != nil {
				p.sayDefect(defect)
			}
			d.unwritten = slices.DeleteFunc(d.unwritten, func(x *UnwrittenLog) bool { return x == u })
		})
	}()
}

// closeLog closes the log of a process, and logs what it lacks.
func (d *Daemon) closeLog(p *process, l *attach.Log) (defect *attach.DefectError) {
	var err error
	defect = attach.Contain(func() { err = l.Close() })
	if err != nil {
		d.post(func() { d.log.Warn().Int("pid", p.target.PID).Str("process", p.name()).Msg(err.Error()) })
	}
	return defect
}

// endWrites has the logs that are still open for a gap closed when nothing that the daemon does makes
// room any more.
func (d *Daemon) endWrites() {
	if !isClosed(d.ending.lastWrites) {
		close(d.ending.lastWrites)
	}
}
