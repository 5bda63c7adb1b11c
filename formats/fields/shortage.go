package fields

import (
	"math"

	"github.com/gclog/gclog/gclog"
)

// shortage returns the fields of a shortage of processors, of records that have one.
func shortage[R any](of func(*R) *gclog.CPUShortage) []Row[R] {
	span := func(at func(*gclog.CPUShortage) *int64) Value[R] {
		return positive(func(r *R) *int64 { return at(of(r)) })
	}
	percent := func(at func(*gclog.CPUShortage) *float64) Value[R] {
		return stored(math.MaxUint64, func(r *R) (uint64, bool) { return bits(*at(of(r)), *at(of(r)) > 0) },
			func(r *R, v uint64) { *at(of(r)) = math.Float64frombits(v) })
	}
	number := func(at func(*gclog.CPUShortage) *uint32) Value[R] {
		return positive(func(r *R) *uint32 { return at(of(r)) })
	}
	entry := func(json string, unit Unit, doc string, v Value[R]) Row[R] {
		return Row[R]{JSON: "cpu." + json, Unit: unit, Doc: doc, Value: v}
	}
	type x = gclog.CPUShortage
	return []Row[R]{
		entry("interval", Nanoseconds,
			"the time around a slow pause that cpu is about; in live sessions on Linux (docs/verdict.md)",
			span(func(x *x) *int64 { return &x.Interval })),
		entry("pressure", Percent, "how much of it threads of the host waited for a processor (PSI)",
			percent(func(x *x) *float64 { return &x.Pressure })),
		entry("cgroup_pressure", Percent, "how much of it threads of its control group waited for a processor (PSI)",
			percent(func(x *x) *float64 { return &x.GroupPressure })),
		entry("throttled", Nanoseconds, "for how long its control groups were throttled in it, summed over processors",
			span(func(x *x) *int64 { return &x.Throttled })),
		entry("throttles", Count, "in how many periods they were throttled",
			number(func(x *x) *uint32 { return &x.Throttles })),
		entry("waited", Nanoseconds, "for how long threads of the process waited for a processor, summed over threads",
			span(func(x *x) *int64 { return &x.Waited })),
		entry("waited_interval", Nanoseconds, "the time in which they did",
			span(func(x *x) *int64 { return &x.WaitedInterval })),
		entry("runnable", Count, "threads of the host that ran or waited for a processor after the pause",
			number(func(x *x) *uint32 { return &x.Runnable })),
		entry("processors", Count, "processors that the process may use, regardless of quotas",
			number(func(x *x) *uint32 { return &x.Processors })),
	}
}
