package analysis

import "github.com/gclog/gclog/gclog"

// memory aggregates what records report about the memory of the process and of its control group.
type memory struct {
	newest           gclog.Memory
	committed        Number // by the GC when newest was read
	resident, cgroup tally
}

// add adds what a record reports, and the latest known committed memory.
func (m *memory) add(d *gclog.Memory, committed Number) {
	if !d.Known() {
		return
	}
	m.newest, m.committed = *d, committed
	for _, x := range [...]struct {
		into  *tally
		bytes uint64
	}{{&m.resident, d.Resident}, {&m.cgroup, d.Cgroup}} {
		if x.bytes > 0 {
			x.into.add(float64(x.bytes))
		}
	}
}

func (m *memory) report() Memory {
	const (
		noProcess = "no record contains the memory of the process; records of live sessions and of their logs do"
		noGroup   = "no record contains the memory of a control group; records of live sessions and of their logs " +
			"do, if there is one"
		noLimit = "no record contains a memory limit of the control group"
	)
	number := func(bytes uint64, why string) Number {
		if bytes == 0 {
			return unknown(why)
		}
		return known(float64(bytes)).in("bytes")
	}
	x := Memory{
		Resident: number(m.newest.Resident, noProcess), MaxResident: m.resident.quantity(noProcess).Max.in("bytes"),
		Committed: m.committed,
		Cgroup:    number(m.newest.Cgroup, noGroup), MaxCgroup: m.cgroup.quantity(noGroup).Max.in("bytes"),
		CgroupLimit: number(m.newest.CgroupLimit, noLimit),
	}
	switch {
	case !x.Resident.Known():
		x.Other = x.Resident
	case !x.Committed.Known():
		x.Other = x.Committed
	case x.Committed.Value > x.Resident.Value:
		x.Other = unknown(
			"the GC has committed more than is resident: not all of it has been touched, or some was swapped out")
	default:
		x.Other = known(x.Resident.Value - x.Committed.Value).in("bytes")
	}
	x.CgroupShare = x.Cgroup
	if x.Cgroup.Known() {
		x.CgroupShare = ratio(100*x.Cgroup.Value, float64(m.newest.CgroupLimit), noLimit).in("%")
	}
	return x
}
