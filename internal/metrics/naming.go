package metrics

import (
	"slices"
	"strings"
)

// Naming is how metrics and their attributes are named. The zero value means the defaults.
type Naming struct {
	Names      string // a value of Names
	Attributes string // a value of AttributeNames
}

// The names of metrics, and of attributes.
const (
	NamesOTel          = "otel"
	NamesDotNetRuntime = "dotnetruntime"
	NamesBoth          = "both"

	AttributesRuntime = "runtime"
	AttributesSemconv = "semconv"
)

// Names are the values of Naming.Names, AttributeNames those of Naming.Attributes; the defaults come
// first.
var (
	Names          = []string{NamesOTel, NamesDotNetRuntime, NamesBoth}
	AttributeNames = []string{AttributesRuntime, AttributesSemconv}
)

// Families returns the families that are passed on under these names.
func (n Naming) Families() []*Family {
	return slices.DeleteFunc(slices.Clone(table), func(f *Family) bool {
		own := strings.HasPrefix(f.Name, "gclog.")
		return f.old && n.Names != NamesDotNetRuntime && n.Names != NamesBoth ||
			!own && !f.old && n.Names == NamesDotNetRuntime
	})
}

// Attribute returns the name of an attribute in OpenTelemetry.
func (n Naming) Attribute(name string) string {
	if n.Attributes == AttributesSemconv && strings.HasPrefix(name, "gc.") {
		return "dotnet." + name
	}
	return name
}

// within returns how many of the views have at most a number of series; 0: no limit.
func within(views []View, families []*Family, most int) int {
	if most == 0 {
		return len(views)
	}
	n := 0
	count := Points{
		Value:     func(float64, *Set) { n++ },
		Histogram: func(h *Histogram, _ *Set) { n += h.series() },
	}
	for i := range views {
		for _, f := range families {
			f.Points(&views[i], count)
		}
		if n > most {
			return i
		}
	}
	return len(views)
}

// series returns how many series a histogram is.
func (h *Histogram) series() int { return len(*h.bounds) + 3 }
