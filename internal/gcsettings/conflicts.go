package gcsettings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// lohDefault is the minimum size of a large object.
const lohDefault = 85000

// conflicts removes settings that have no effect because of the others, with the reason, and adds
// notes about values that the runtime changes.
func (c *Configuration) conflicts(set []Value) (left []Value, ignored []Ignored) {
	by := byVariable(set)
	on := func(variable string) bool { v := by[variable]; return v != nil && v.Number != 0 }
	perHeap := func(suffix string) string {
		for _, heap := range [...]string{"SOH", "LOH", "POH"} {
			if on("GCHeapHardLimit" + heap + suffix) {
				return by["GCHeapHardLimit"+heap+suffix].Name
			}
		}
		return ""
	}
	limits, shares := perHeap(""), perHeap("Percent")
	server, fixed := c.flavour(), c.whyFixed(by)
	for i := range set {
		v := &set[i]
		s := &v.Setting
		why := ""
		switch {
		case s.Server && server == "off" && s.Variable != "GCDynamicAdaptationMode":
			why = "only server GC uses it, and this is workstation GC"
		case s.Variable == "GCDynamicAdaptationMode" && server == "off":
			why = "only server GC adapts the number of heaps, and this is workstation GC"
		case s.Segments && c.Major >= regions && !c.Segments:
			why = fmt.Sprintf("since .NET %d, the heap uses regions instead of segments", regions)
		case s.Regions && c.Segments:
			why = "the segments GC has no regions"
		case s.Kind == Text && c.NativeAOT && (s.Variable == "GCName" || s.Variable == "GCPath"):
			why = "in a NativeAOT program the GC is built in"
		case s.Variable == "gcServer" && c.NativeAOT && v.Number != 0:
			why = "a NativeAOT program has server GC only if it was built with it, and then without this setting, " +
				"too; only 0 has an effect"
		case s.Variable == "GCHeapAffinitizeMask" && !c.Windows:
			why = "it has an effect only on Windows: elsewhere use GCHeapAffinitizeRanges"
		case (s.Variable == "GCHeapAffinitizeMask" || s.Variable == "GCHeapAffinitizeRanges") && on("GCNoAffinitize"):
			why = by["GCNoAffinitize"].Name +
				" is on: GC threads are not affinitized, and there is one heap per processor"
		case s.Variable == "GCCpuGroup" && !c.Windows:
			why = "only Windows has processor groups"
		case strings.HasPrefix(s.Variable, "GCHeapHardLimit") && s.Unit == Percent && limits != "":
			why = limits + " wins"
		case (s.Variable == "GCHeapHardLimit" || s.Variable == "GCHeapHardLimitPercent") && limits+shares != "":
			why = cmp.Or(limits, shares) + " and the limits of the other heaps win"
		case s.Variable == "GCHeapHardLimitPercent" && v.Number >= 100:
			why = fmt.Sprintf("%d percent is not a limit: it must be below 100", v.Number)
		case s.Variable == "GCHeapHardLimitPercent" && on("GCHeapHardLimit"):
			why = by["GCHeapHardLimit"].Name + " wins"
		case s.Variable == "GCLOHThreshold" && v.Number < lohDefault:
			why = fmt.Sprintf("the minimum is %d", lohDefault)
		case s.Variable == "GCDynamicAdaptationMode" && v.Number != 0 && on("GCHeapCount"):
			why = by["GCHeapCount"].Name + " sets a fixed number of heaps"
		case s.Variable == "GCDynamicAdaptationMode" && v.Number != 0 && c.Segments:
			why = fixed
		case s.Datas && fixed != "":
			why = "only DATAS uses it: " + fixed
		case s.Variable == "GCTrimYoungestKeepPercent" && (by["GCLatencyLevel"] == nil || on("GCLatencyLevel")):
			why = "only GCLatencyLevel=0 uses it"
		case s.Variable == "GCConserveMemory" && v.Number > 9:
			v.note("0 to 9 are documented")
		case s.Variable == "GCHighMemPercent" && v.Number > highestLoad:
			v.note(fmt.Sprintf("more than %d is treated as %d", highestLoad, highestLoad))
		case s.Variable == "GCHeapCount" && v.Number > 1:
			v.note("the number of processors is the maximum")
		case s.Variable == "gcServer" && v.Number != 0 && server == "off":
			v.note("this is workstation GC anyway: server GC requires two processors")
		case s.Variable == "GCNoAffinitize" && v.Number == 0 &&
			(on("GCHeapHardLimit") || on("GCHeapHardLimitPercent") || limits+shares != ""):
			v.note("a hard limit turns it on anyway")
		}
		if why != "" {
			ignored = append(ignored, Ignored{v.Name, v.Text, v.From, why})
			v.Name = ""
		}
	}
	return slices.DeleteFunc(set, func(v Value) bool { return v.Name == "" }), ignored
}

func byVariable(set []Value) map[string]*Value {
	by := map[string]*Value{}
	for i := range set {
		by[set[i].Setting.Variable] = &set[i]
	}
	return by
}

// note adds a text to the value's notes.
func (v *Value) note(text string) {
	if v.Note != "" {
		text = v.Note + "; " + text
	}
	v.Note = text
}
