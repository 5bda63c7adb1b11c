package metrics

import (
	"strings"

	"github.com/gclog/gclog/gclog"
)

// A Kind is what the values of a Family are.
type Kind uint8

// The kinds.
const (
	Counter       Kind = iota // only grows
	Gauge                     // the latest value
	UpDownCounter             // the latest value, whose sum over processes makes sense
	Histograms
)

// A Family is one metric, of all processes.
type Family struct {
	Name       string   // as in OpenTelemetry
	Unit       string   // in UCUM: s, By, 1, or a word in braces
	Kind       Kind     //
	Attributes []string // of its points
	Help       string
	Equals     string // the fields of JSON records that it is computed from

	prometheus string // its name there, if that does not follow from Name
	old        bool   // it is one of prometheus-net.DotNetRuntime
	points     func(v *View, to Points)
}

// Points receives the points of a Family for one process.
type Points struct {
	Value     func(v float64, set *Set)
	Histogram func(h *Histogram, set *Set)
}

// A Set is the attributes of a point. It is never changed.
type Set struct{ Attributes []Attribute }

// An Attribute has a name as .NET emits it.
type Attribute struct{ Name, Value string }

// The names of attributes.
const (
	generationAttribute  = "gc.heap.generation"
	pauseTypeAttribute   = "gc.pause.type"
	typeAttribute        = "gc.type"
	reasonGroupAttribute = "gc.reason_group"
	stallAttribute       = "gc.stall.kind"
	endAttribute         = "reason"
	causeAttribute       = "cause"
)

// Prometheus returns the name that the family has there.
func (f *Family) Prometheus() string {
	if f.prometheus != "" {
		return f.prometheus
	}
	name := strings.ReplaceAll(f.Name, ".", "_")
	switch f.Unit {
	case "s":
		name += "_seconds"
	case "By":
		name += "_bytes"
	case "1":
		name += "_ratio"
	}
	if f.Kind == Counter {
		name += "_total"
	}
	return name
}

// Points calls to with every point of a process.
func (f *Family) Points(v *View, to Points) { f.points(v, to) }

// each returns what calls to.Value with each value that of returns, unless it is unknown.
func each(sets []*Set, of func(v *View, i int) (value float64, known bool)) func(*View, Points) {
	return func(v *View, to Points) {
		for i, set := range sets {
			if value, known := of(v, i); known {
				to.Value(value, set)
			}
		}
	}
}

// one is each for families whose points have no attributes.
func one(of func(v *View) (value float64, known bool)) func(*View, Points) {
	return func(v *View, to Points) {
		if value, known := of(v); known {
			to.Value(value, noAttributes)
		}
	}
}

// always is one for values that are always known.
func always(of func(s *state) float64) func(*View, Points) {
	return one(func(v *View) (float64, bool) { return of(v.state), true })
}

var noAttributes = &Set{}

// sets returns a Set for each value of an attribute.
func sets(name string, values ...string) (list []*Set) {
	for _, v := range values {
		list = append(list, &Set{[]Attribute{{name, v}}})
	}
	return list
}

// names returns the results of a function for the numbers below n.
func names(n int, of func(int) string) (list []string) {
	for i := range n {
		list = append(list, of(i))
	}
	return list
}

func generationNames(n int) []string { return names(n, gclog.GenerationName) }

// The attributes of histograms, by the indexes of a state.
var (
	collectionSets = sets(generationAttribute, generationNames(collected)...)
	heapSets       = sets(generationAttribute, generationNames(gclog.Generations)...)
	stallSets      = sets(stallAttribute, names(stalls, func(i int) string { return gclog.OpenKind(i).String() })...)
	endSets        = sets(endAttribute,
		names(len(gclog.EndsOfProcess), func(i int) string { return gclog.EndsOfProcess[i].String() })...)
	pauseSets = func() (list [collected][pauseTypes]*Set) {
		for g := range list {
			for t, name := range [...]string{pauseBlocking: "blocking", pauseBackground: "background"} {
				list[g][t] = &Set{[]Attribute{
					{generationAttribute, gclog.GenerationName(g)}, {pauseTypeAttribute, name},
				}}
			}
		}
		return list
	}()
	durationSets = func() (list [collected][kinds][groups]*Set) {
		for g := range list {
			for k := range list[g] {
				for r := range list[g][k] {
					list[g][k][r] = &Set{[]Attribute{
						{generationAttribute, gclog.GenerationName(g)},
						{typeAttribute, gclog.Kind(k).String()},
						{reasonGroupAttribute, groupName(r)},
					}}
				}
			}
		}
		return list
	}()
)
