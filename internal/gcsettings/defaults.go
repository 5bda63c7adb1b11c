package gcsettings

import (
	"fmt"
	"strconv"
)

// Memory is how much memory a process may use, according to the operating system.
type Memory struct {
	Machine uint64
	Limit   uint64 // of the container, less than Machine; 0: none
	Known   bool   // both are known
}

// adapts is the first version that adapts the number of heaps to the program (DATAS) unless it is
// disabled.
const adapts = 9

// The share of a container's memory that the GC uses without a setting, and its minimum.
const (
	containerPercent = 75
	containerLeast   = 20 << 20
)

// defaults lists the settings that the runtime knows and that are neither set nor reported. What may
// be set where gclog cannot look is in no list.
func (c *Configuration) defaults(r *Report) (list []Fact) {
	known := map[string]bool{}
	for _, f := range r.InForce {
		known[f.Name] = true
	}
	set, server := byVariable(r.Set), c.flavour()
	for _, s := range Settings() {
		switch {
		case set[s.Variable] != nil, known[s.Variable], c.tooOld(s.Since), s.Server && server == "off",
			s.Segments && c.Major >= regions && !c.Segments, s.Regions && c.Segments:
		case s.Datas && c.whyFixed(set) != "":
		case c.mayBeSet(&s):
		case c.NativeAOT && (s.Variable == "GCName" || s.Variable == "GCPath" || s.Variable == "gcServer"):
		case !c.Windows && (s.Variable == "GCHeapAffinitizeMask" || s.Variable == "GCCpuGroup"):
		default:
			f := Fact{Name: s.Variable}
			f.Value, f.Note = c.defaultOf(&s, set)
			if s.Server && server == "" && f.Note == "" {
				f.Note = "with server GC"
			}
			list = append(list, f)
		}
	}
	return list
}

// mayBeSet reports whether a setting can have a value that gclog does not know, because the
// environment or the runtimeconfig.json of the process could not be read.
func (c *Configuration) mayBeSet(s *Setting) bool {
	return c.Variables == nil || c.Config == nil && s.Property != "" && !c.NativeAOT
}

// defaultOf returns the value of a setting that is not set, given those that are.
func (c *Configuration) defaultOf(s *Setting, set map[string]*Value) (value, note string) {
	if c.isNumber(s) {
		return "0", "" // all switches that became numbers are off
	}
	switch s.Variable {
	case "GCDynamicAdaptationMode":
		if why := c.whyFixed(set); why != "" {
			return "0", why
		}
		if c.Major >= adapts {
			return "1", "DATAS"
		}
	case "GCHeapCount":
		atMost := ""
		if v := set["GCMaxHeapCount"]; v != nil && v.Number != 0 {
			atMost = fmt.Sprintf(", at most %d", v.Number)
		}
		switch ranges := set["GCHeapAffinitizeRanges"]; {
		case c.Major == 0:
		case c.whyFixed(set) == "":
			return "as many as pay off, at most one per processor" + atMost, "DATAS"
		case ranges != nil:
			return "one per processor" + atMost, "of " + ranges.Name
		default:
			return "one per processor" + atMost, ""
		}
	case "GCHeapHardLimit":
		switch n, why, known := c.hardLimit(set); {
		case !known:
		case n == 0:
			return "none", ""
		case n == someMemory:
			return why, ""
		default:
			return strconv.FormatUint(n, 10), why
		}
	case "GCNoAffinitize":
		switch n, _, known := c.hardLimit(set); {
		case !known:
		case n == 0:
			return "off", ""
		case set["GCHeapAffinitizeRanges"] != nil || set["GCHeapAffinitizeMask"] != nil:
			return "off", "a hard limit turns it on, but not if processors are selected"
		default:
			return "on", "a hard limit turns it on"
		}
	case "GCTotalPhysicalMemory":
		if n, of := c.memory(set); n != 0 {
			return strconv.FormatUint(n, 10), of
		}
	}
	return s.Default, ""
}

// whyFixed returns why the number of heaps of server GC is fixed, or "" if DATAS adapts it to the
// program, or may do so.
func (c *Configuration) whyFixed(set map[string]*Value) string {
	mode, count := set["GCDynamicAdaptationMode"], set["GCHeapCount"]
	switch {
	case count != nil && count.Number != 0:
		return count.Name + " sets the number of heaps"
	case c.Segments:
		return "the segments GC cannot adapt"
	case mode != nil && mode.Number == 0:
		return mode.Name + " is 0"
	case mode == nil && c.Major != 0 && c.Major < adapts:
		return fmt.Sprintf("DATAS is the default since .NET %d", adapts)
	}
	return ""
}

// someMemory means a hard limit of unknown size.
const someMemory = ^uint64(0)

// hardLimit returns the limit of the heap, 0 if there is none, and what it is derived from.
func (c *Configuration) hardLimit(set map[string]*Value) (limit uint64, why string, known bool) {
	memory, of := c.memory(set)
	share := func(percent uint64) uint64 {
		if memory == 0 {
			return someMemory
		}
		// Rounded as the runtime does.
		return memory * percent / 100
	}
	sum := func(suffix string, size func(uint64) uint64) (sum uint64, found bool) {
		for _, heap := range [...]string{"SOH", "LOH", "POH"} {
			if v := set["GCHeapHardLimit"+heap+suffix]; v != nil && v.Number != 0 {
				sum, found = sum+size(v.Number), true
			}
		}
		return sum, found
	}
	if c.reported != nil {
		return c.reported.HardLimit, "", true
	}
	if v := set["GCHeapHardLimit"]; v != nil && v.Number != 0 {
		return v.Number, v.Name, true
	}
	same := func(n uint64) uint64 { return n }
	if n, found := sum("", same); found {
		return n, "sum of GCHeapHardLimitSOH, LOH and POH", true
	}
	if percent, found := sum("Percent", same); found {
		if memory != 0 {
			limit, _ = sum("Percent", share)
		} else {
			limit = someMemory
		}
		const sum = "sum of GCHeapHardLimitSOHPercent, LOH and POH"
		return limit, fmt.Sprintf("%d%% of the memory %s, %s", percent, of, sum), true
	}
	if v := set["GCHeapHardLimitPercent"]; v != nil && v.Number != 0 {
		return share(v.Number), fmt.Sprintf("%d%% of the memory %s: %s", v.Number, of, v.Name), true
	}
	switch physical := set["GCTotalPhysicalMemory"]; {
	case physical != nil && physical.Number != 0: // as in a container of that size
	case !c.Memory.Known:
		return 0, "", false
	case c.Memory.Limit == 0:
		return 0, "", true
	}
	limit = max(containerLeast, share(containerPercent))
	return limit, fmt.Sprintf("%d%% of the memory %s", containerPercent, of), true
}

// memory returns what the GC takes as the memory of the machine, and which memory that is; 0 if it
// is unknown.
func (c *Configuration) memory(set map[string]*Value) (n uint64, of string) {
	switch v := set["GCTotalPhysicalMemory"]; {
	case v != nil && v.Number != 0:
		return v.Number, "of " + v.Name
	case !c.Memory.Known:
		return 0, "of the machine or container"
	case c.Memory.Limit != 0:
		return c.Memory.Limit, "of the container"
	}
	return c.Memory.Machine, "of the machine"
}
