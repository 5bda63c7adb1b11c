package gcsettings

import (
	"fmt"
	"strconv"
)

// Memory is what a process may take, as the operating system has it.
type Memory struct {
	Machine uint64
	Limit   uint64 // of the container, less than Machine; 0: none
	Known   bool   // both are
}

// adapts is the version that fits the number of heaps to the program (DATAS) unless it is
// told not to.
const adapts = 9

// What the GC leaves of the memory of a container without a setting.
const (
	containerPercent = 75
	containerLeast   = 20 << 20
)

// defaults lists what is neither set nor told, of what the runtime knows.
func (c *Configuration) defaults(r *Report) (list []Fact) {
	known := map[string]bool{}
	for _, f := range r.InForce {
		known[f.Name] = true
	}
	set, server := byVariable(r.Set), c.flavour()
	for _, s := range Settings() {
		switch {
		case set[s.Variable] != nil, known[s.Variable], c.tooOld(s.Since), s.Server && server == "off", s.Segments && c.Major >= regions && !c.Segments, s.Regions && c.Segments:
		case s.Datas && c.whyFixed(set) != "":
		case c.NativeAOT && (s.Variable == "GCName" || s.Variable == "GCPath" || s.Variable == "gcServer"):
		case !c.Windows && (s.Variable == "GCHeapAffinitizeMask" || s.Variable == "GCCpuGroup"):
		default:
			f := Fact{Name: s.Variable}
			f.Value, f.Note = c.defaultOf(&s, set)
			if s.Server && server == "" && f.Note == "" {
				f.Note = "if it has server GC"
			}
			list = append(list, f)
		}
	}
	return list
}

// defaultOf is what counts for a setting beside those that are set.
func (c *Configuration) defaultOf(s *Setting, set map[string]*Value) (value, note string) {
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
			return "as many as are worth it, at most one for each processor" + atMost, "DATAS"
		case ranges != nil:
			return "one for each processor" + atMost, "of " + ranges.Name
		default:
			return "one for each processor" + atMost, ""
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
			return "off", "a hard limit turns it on, but not where processors are chosen"
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

// whyFixed is why the number of heaps of server GC stays as it is, "" if DATAS fits it to
// the program, or may do so.
func (c *Configuration) whyFixed(set map[string]*Value) string {
	mode, count := set["GCDynamicAdaptationMode"], set["GCHeapCount"]
	switch {
	case count != nil && count.Number != 0:
		return count.Name + " sets the number of heaps"
	case c.Segments:
		return "the GC with segments cannot adapt"
	case mode != nil && mode.Number == 0:
		return mode.Name + " is 0"
	case mode == nil && c.Major != 0 && c.Major < adapts:
		return fmt.Sprintf("DATAS is the default from .NET %d on", adapts)
	}
	return ""
}

// someMemory stands for a hard limit whose size is not known.
const someMemory = ^uint64(0)

// hardLimit is the limit of the heap, 0 if there is none, and what it is made of.
func (c *Configuration) hardLimit(set map[string]*Value) (limit uint64, why string, known bool) {
	memory, of := c.memory(set)
	share := func(percent uint64) uint64 {
		if memory == 0 {
			return someMemory
		}
		// Divided as the runtime does it.
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
	if c.told != nil {
		return c.told.HardLimit, "", true
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
		return limit, fmt.Sprintf("%d%% of the memory %s, sum of GCHeapHardLimitSOHPercent, LOH and POH", percent, of), true
	}
	if v := set["GCHeapHardLimitPercent"]; v != nil && v.Number != 0 {
		return share(v.Number), fmt.Sprintf("%d%% of the memory %s: %s", v.Number, of, v.Name), true
	}
	switch physical := set["GCTotalPhysicalMemory"]; {
	case physical != nil && physical.Number != 0: // as a container of that size
	case !c.Memory.Known:
		return 0, "", false
	case c.Memory.Limit == 0:
		return 0, "", true
	}
	return max(containerLeast, share(containerPercent)), fmt.Sprintf("%d%% of the memory %s", containerPercent, of), true
}

// memory is what the GC takes for the memory of the machine, and what that is; 0 if that
// is not known.
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
