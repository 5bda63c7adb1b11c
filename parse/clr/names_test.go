package clr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gclog/gclog/parse/clr"
)

// TestAllNames: the name of each value of each enumeration, from 0 to the first one without a name.
func TestAllNames(t *testing.T) {
	for kind, c := range map[string]struct {
		show  func(v uint32) fmt.Stringer
		names string
	}{
		"Reason":         {func(v uint32) fmt.Stringer { return clr.Reason(v) }, "AllocSmall Induced LowMemory Empty AllocLarge OutOfSpaceSOH OutOfSpaceLOH InducedNotForced Internal InducedLowMemory InducedCompacting LowMemoryHost PMFullGC LowMemoryHostBlocking BgcTuningSOH BgcTuningLOH BgcStepping InducedAggressive"},
		"Type":           {func(v uint32) fmt.Stringer { return clr.GCType(v) }, "NonConcurrentGC BackgroundGC ForegroundGC"},
		"SuspendReason":  {func(v uint32) fmt.Stringer { return clr.SuspendReason(v) }, "Other ForGC ForAppDomainShutdown ForCodePitching ForShutdown ForDebugger ForGCPrep ForDebuggerSweep ForProfiler"},
		"MarkType":       {func(v uint32) fmt.Stringer { return clr.MarkType(v) }, "Stack FinalizerQueue Handles OlderGenerations SizedRef Overflow DependentHandles NewFinalizable Steal BackgroundRoots"},
		"SegmentType":    {func(v uint32) fmt.Stringer { return clr.SegmentType(v) }, "SmallObjectHeap LargeObjectHeap ReadOnlyHeap PinnedObjectHeap"},
		"AllocationKind": {func(v uint32) fmt.Stringer { return clr.AllocationKind(v) }, "Small Large Pinned"},
		"HandleKind":     {func(v uint32) fmt.Stringer { return clr.HandleKind(v) }, "WeakShort WeakLong Strong Pinned Variable RefCounted Dependent AsyncPinned SizedRef"},
		"RootKind":       {func(v uint32) fmt.Stringer { return clr.RootKind(v) }, "Stack Finalizer Handle Older SizedRef Overflow"},
		"PauseMode":      {func(v uint32) fmt.Stringer { return clr.PauseMode(v) }, "Batch Interactive LowLatency SustainedLowLatency NoGC"},
	} {
		names := strings.Fields(c.names)
		for v := range len(names) + 2 {
			want := fmt.Sprintf("%s(%d)", kind, v)
			if v < len(names) {
				want = names[v]
			}
			if got := c.show(uint32(v)).String(); got != want {
				t.Errorf("%s %d is called %s, not %s", kind, v, got, want)
			}
		}
	}
	for want, got := range map[string]fmt.Stringer{
		"Other": clr.SuspendOther, "ForGC": clr.SuspendForGC, "ForShutdown": clr.SuspendForShutdown, "ForDebugger": clr.SuspendForDebugger,
		"ForGCPrep": clr.SuspendForGCPrep, "ForDebuggerSweep": clr.SuspendForDebugger2,
		"InducedAggressive": clr.ReasonInducedAggressive, "BackgroundRoots": clr.MarkBackgroundRoots, "NoGC": clr.PauseModeNoGC, "ForegroundGC": clr.TypeForeground,
	} {
		if got.String() != want {
			t.Errorf("%s is called %s", want, got)
		}
	}
	if got := clr.Condemned(1<<31 - 1).Names(nil); len(got) != 31 || got[30] != "InducedAggressive" || clr.CondemnedInducedAggressive != 1<<30 || clr.CondemnedAvoidUnproductive != 1<<17 {
		t.Errorf("conditions %q", got)
	}
	if got := (clr.MechanismConcurrent | clr.MechanismElevation).Names([]string{"x"}); strings.Join(got, " ") != "x Concurrent Elevation" {
		t.Errorf("mechanisms %q", got)
	}
	for r := range clr.Reason(20) {
		if known := r < 18; r.Known() != known {
			t.Errorf("%v is known: %v", r, r.Known())
		}
		if induced := strings.HasPrefix(r.String(), "Induced"); r.Induced() != induced {
			t.Errorf("%v is induced: %v", r, r.Induced())
		}
	}
}

// TestUnnamed: the text of a value without a name is parsed back; similar texts are rejected.
func TestUnnamed(t *testing.T) {
	for _, c := range []struct {
		name string
		want uint32
		ok   bool
	}{
		{"Reason(0)", 0, true},
		{"Reason(9)", 9, true},
		{"Reason(10)", 10, true},
		{"Reason(4294967295)", 1<<32 - 1, true},
		{"Reason(4294967296)", 0, false},
		{"Reason(/)", 0, false},
		{"Reason(:)", 0, false},
		{"Reason(1", 0, false},
		{"Reason1)", 0, false},
		{"Reason(12", 0, false},
		{"Season(1)", 0, false},
		{"Reason[1]", 0, false},
		{"Reason[1)", 0, false},
		{"Reason()", 0, false},
		{"Reason(1):", 0, false},
		{"Type(1)", 0, false},
		{"Reason(1x)", 0, false},
		{"AllocSmall ", 0, false},
	} {
		if got, ok := clr.ParseReason([]byte(c.name)); ok != c.ok || got != clr.Reason(c.want) {
			t.Errorf("%s is read as %d, %v", c.name, got, ok)
		}
	}
	for name, ok := range map[string]bool{"Mechanism(31)": true, "Mechanism(32)": false} {
		if got, good := clr.ParseMechanism([]byte(name)); good != ok || ok && got != 1<<31 {
			t.Errorf("%s is read as %#x, %v", name, got, good)
		}
	}
	for name, ok := range map[string]bool{"Condemned(31)": true, "Condemned(32)": false} {
		if got, good := clr.ParseCondemned([]byte(name)); good != ok || ok && got != 1<<31 {
			t.Errorf("%s is read as %#x, %v", name, got, good)
		}
	}
}

// TestSteps: the four generations in the bits of CondemnReasons0.
func TestSteps(t *testing.T) {
	for v := range 1 << 8 {
		g := clr.CondemnedGenerations(v) | 1<<8 // higher bits are ignored
		steps := [4]int{g.Initial(), g.Final(), g.BudgetExceeded(), g.TimeTuning()}
		if want := [4]int{v & 3, v / 4 & 3, v / 16 & 3, v / 64}; steps != want {
			t.Errorf("%#x is %v, want %v", v, steps, want)
		}
		if made := clr.MakeCondemnedGenerations(steps[0], steps[1], steps[2], steps[3]); made != clr.CondemnedGenerations(v) {
			t.Errorf("%v makes %#x, want %#x", steps, made, v)
		}
	}
	if made := clr.MakeCondemnedGenerations(4, 5, 6, 7); made != clr.MakeCondemnedGenerations(0, 1, 2, 3) {
		t.Errorf("what is no generation makes %#x", made)
	}
}

// TestMechanismReasons: the highest bit below mechanismDone is the reason, and its name is parsed
// back.
func TestMechanismReasons(t *testing.T) {
	compact := strings.Fields("LowEphemeral HighFragmentation NoGaps LOHForced LastGCBeforeOOM InducedCompacting FragmentedGen0 HighMemoryLoad HighMemoryFragmentation VeryHighMemoryFragmentation NoGCMode Aggressive")
	expand := strings.Fields("ReuseNormal ReuseBestFit NewSegmentPromoteEphemeral NewSegment NoMemory NextFullGC")
	name := func(kind string, names []string, bit int) string {
		if bit < len(names) {
			return names[bit]
		}
		return fmt.Sprintf("%s(%d)", kind, bit)
	}
	for bit := range 31 {
		for _, lower := range []clr.HeapMechanism{0, 1, 1<<bit - 1} {
			m := clr.HeapMechanism(1)<<bit | lower
			if m.Done() || m.CompactReason() != "" || m.ExpandReason() != "" || m.Reason() != 0 {
				t.Errorf("%#x was not done", uint32(m))
			}
			m |= 1 << 31
			alone := clr.HeapMechanism(1)<<31 | 1<<bit
			if got := m.Reason(); got != alone {
				t.Errorf("the reason of %#x is %#x", uint32(m), uint32(got))
			}
			if got, ok := clr.ParseCompactReason([]byte(m.CompactReason())); !ok || got != alone {
				t.Errorf("%s is read as %#x", m.CompactReason(), uint32(got))
			}
			if got, ok := clr.ParseExpandReason([]byte(m.ExpandReason())); !ok || got != alone {
				t.Errorf("%s is read as %#x", m.ExpandReason(), uint32(got))
			}
			if !m.Done() || m.CompactReason() != name("Compact", compact, bit) || m.ExpandReason() != name("Expand", expand, bit) {
				t.Errorf("%#x is %q and %q", uint32(m), m.CompactReason(), m.ExpandReason())
			}
		}
	}
	done := clr.HeapMechanism(1 << 31)
	if done.CompactReason() != "Compact" || done.ExpandReason() != "Expand" || done.Reason() != done || clr.HeapMechanism(0).Reason() != 0 {
		t.Errorf("%q and %q, %#x", done.CompactReason(), done.ExpandReason(), uint32(done.Reason()))
	}
	for name, kinds := range map[string][2]bool{ // whether it is a reason to compact, to expand
		"Compact": {true, false}, "Expand": {false, true}, "NoGaps": {true, false}, "NoMemory": {false, true},
		"Compact(31)": {}, "Expand(31)": {}, "": {}, "Compac": {}, "Compact ": {}, "nogaps": {},
	} {
		if m, ok := clr.ParseCompactReason([]byte(name)); ok != kinds[0] || !ok && m != 0 || name == "Compact" && m != done {
			t.Errorf("%q as a reason to compact: %#x, %v", name, uint32(m), ok)
		}
		if m, ok := clr.ParseExpandReason([]byte(name)); ok != kinds[1] || !ok && m != 0 || name == "Expand" && m != done {
			t.Errorf("%q as a reason to expand: %#x, %v", name, uint32(m), ok)
		}
	}
}
