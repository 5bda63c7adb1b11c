package gcsettings

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// A Report is what is known of the settings of one process.
type Report struct {
	Set     []Value
	InForce []Fact    // as the runtime reports, or its events show
	Default []Fact    // the defaults of settings that are not set; From is empty
	Ignored []Ignored // set, but without effect
	Unknown []Unknown // what cannot be determined
}

// A Fact is a setting and its value.
type Fact struct {
	Name  string
	Value string
	From  string
	Note  string // what people may not expect of it, "" if nothing
}

// Unknown is something that cannot be determined, and why.
type Unknown struct{ What, Why string }

// Sources say, in words, where the facts about a process come from.
type Sources struct {
	Server     string // whether it uses server GC
	Concurrent string // whether its GC is concurrent
	Limits     string // the values that GCSettingsRundown reports
	Heaps      string // the number of heaps
	Library    string // the standalone GC
}

// Heaps is the number of heaps, as reported by collections, or as shown by the number of server GC
// threads in a process.
type Heaps struct {
	Latest  int         // in the latest collection; 0: unknown
	Counts  map[int]int // number of collections by number of heaps
	Adapted bool        // DATAS decided the number
}

// Examine combines what a process was started with and what it is known to use. configuration is
// nil if it is unknown.
func Examine(p *gclog.Process, heaps Heaps, configuration *Configuration, from Sources) *Report {
	r := &Report{}
	if configuration == nil {
		r.addReported(p, heaps, from)
		return r
	}
	c := *configuration
	c.Server = flavour(p.Server)
	c.Segments = p.GCLibrary == "libclrgc.so"
	if p.HasLimits {
		c.reported = &p.Limits
	}
	r.Set, r.Ignored = c.Resolve()
	if c.whyFixed(byVariable(r.Set)) == "" {
		heaps = Heaps{} // there are threads for more heaps than are in use
	}
	r.addReported(p, heaps, from)
	r.Default = c.defaults(r)
	r.Unknown = c.undocumented()
	return r
}

// seen adds what collections or threads show.
func (r *Report) seen(h Heaps, from string) {
	if h.Latest == 0 {
		return
	}
	var others []string
	all := 0
	for _, n := range slices.Sorted(maps.Keys(h.Counts)) {
		all += h.Counts[n]
		if n != h.Latest {
			others = append(others, fmt.Sprintf("%d in %d", n, h.Counts[n]))
		}
	}
	note := ""
	if len(others) > 0 {
		note = fmt.Sprintf("in the latest collection; %s of %d", strings.Join(others, ", "), all)
	}
	r.InForce = append(r.InForce, Fact{"GCHeapCount", strconv.Itoa(h.Latest), from, note})
	if h.Adapted {
		r.InForce = append(r.InForce, Fact{"GCDynamicAdaptationMode", "1", from, "DATAS"})
	}
}

// flavour returns "on" or "off", or "" if it is unknown.
func flavour(k gclog.Known) string {
	return map[gclog.Known]string{gclog.Yes: "on", gclog.No: "off"}[k]
}

// highestLoad is the highest memory load that the runtime uses.
const highestLoad = 99

// addReported adds what the runtime reports. It reports 0 for a number that nobody has set.
func (r *Report) addReported(p *gclog.Process, heaps Heaps, from Sources) {
	add := func(name, value, from string) {
		if value != "" {
			r.InForce = append(r.InForce, Fact{Name: name, Value: value, From: from})
		}
	}
	add("gcServer", flavour(p.Server), from.Server)
	add("gcConcurrent", flavour(p.Concurrent), from.Concurrent)
	r.seen(heaps, from.Heaps)
	add("GCName", p.GCLibrary, from.Library)
	if !p.HasLimits {
		return
	}
	l := &p.Limits
	number := func(name string, n uint64) {
		if n != 0 {
			add(name, strconv.FormatUint(n, 10), from.Limits)
		}
	}
	number("GCHeapHardLimit", l.HardLimit)
	if l.HardLimit > 1<<62 {
		r.InForce[len(r.InForce)-1].Note = "more than any machine has: no effective limit"
	}
	number("GCLOHThreshold", l.LOHThreshold)
	number("GCTotalPhysicalMemory", l.PhysicalMemoryConfig)
	number("GCgen0size", l.Gen0MinBudget)
	number("GCGen0MaxBudget", l.Gen0MaxBudget)
	number("GCHighMemPercent", uint64(min(l.HighMemoryPercent, highestLoad)))
	if l.HighMemoryPercent > highestLoad { // it reports the value it was given
		r.InForce[len(r.InForce)-1].Note = fmt.Sprintf("the runtime reports %d and treats it as %d",
			l.HighMemoryPercent, highestLoad)
	}
	add("GCLargePages", r.largePages(p), from.Limits)
	if p.Server != gclog.No { // workstation GC has no threads of its own, and reports that they are not affinitized
		add("GCNoAffinitize", flavour(gclog.KnownBool(l.Bits&clr.SettingNoAffinitize != 0)), from.Limits)
	}
}

// largePages returns the value of GCLargePages. The runtime reports only whether it is not 0.
func (r *Report) largePages(p *gclog.Process) string {
	on := p.Limits.Bits&clr.SettingLargePages != 0
	if gclog.Major(p.RuntimeVersion) < numbersLargePages {
		return flavour(gclog.KnownBool(on))
	}
	switch set := byVariable(r.Set)["GCLargePages"]; {
	case !on:
		return "0"
	case set != nil && set.Number != 0:
		return set.Value
	}
	return "not 0"
}

// undocumented lists the variables that are for the GC's own developers.
func (c *Configuration) undocumented() (list []Unknown) {
	for _, bare := range internals {
		for _, prefix := range prefixes {
			if text, ok := c.variable(prefix + bare); ok {
				list = append(list, Unknown{prefix + bare + "=" + text, "undocumented, for the developers of the GC"})
			}
		}
	}
	return list
}

// Find returns the setting with a variable.
func Find(variable string) (Setting, bool) {
	for _, s := range Settings() {
		if s.Variable == variable {
			return s, true
		}
	}
	return Setting{}, false
}
