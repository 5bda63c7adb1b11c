package daemon

import (
	"github.com/gclog/gclog/gclog"
)

// observe returns what receives the records of the process next to its outputs, as the
// configuration is now; nil: nothing does.
func (p *process) observe() func(*gclog.Process) gclog.Observer {
	var all []func(*gclog.Process) gclog.Observer
	if p.snapshots {
		all = append(all, func(*gclog.Process) gclog.Observer { return p.observeHeap })
	}
	if e := p.ruleEngine(); e != nil {
		all = append(all, e.Observe)
	}
	if counts := p.counted(); counts != nil {
		all = append(all, counts.Observe)
	}
	if e := p.d.exports.exporter; e != nil && e.SendsRecords() {
		all = append(all, e.Observe)
	}
	if p.inTable {
		all = append(all, p.d.observeTable)
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
