package analysis_test

import (
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// TestExplainHeapsOfDATAS checks that the runtime reports 0 for what it has not computed.
func TestExplainHeapsOfDATAS(t *testing.T) {
	for _, tt := range []struct {
		least, most uint16
		want        string
	}{
		{0, 0, "DATAS chose the number of heaps: 2 heaps"},
		{0, 16, "DATAS chose the number of heaps: 2 heaps"},
		{3, 16, "DATAS chose the number of heaps: 2 heaps"},
		{1, 1, "DATAS chose the number of heaps: 2 heaps"},
		{1, 2, "DATAS chose the number of heaps (1 to 2 are right for the long-lived objects): 2 heaps"},
		{2, 2, "DATAS chose the number of heaps (2 to 2 are right for the long-lived objects): 2 heaps"},
		{1, 43, "DATAS chose the number of heaps (1 to 43 are right for the long-lived objects): 2 heaps"},
	} {
		e := explain(func(d *gclog.GCDetails) {
			d.Known |= gclog.GroupDatasTuning
			d.Datas.Tuning = clr.SizeAdaptationTuning{NewHeaps: 2, MinHeaps: tt.least, MaxHeaps: tt.most}
		})
		if got := sentences(e.Result); !strings.Contains(got, "datas: "+tt.want) {
			t.Errorf("%d to %d: no %q in\n%s", tt.least, tt.most, tt.want, got)
		}
	}
}

// TestExplainHandles checks that a young collection counts only the handles that it scans.
func TestExplainHandles(t *testing.T) {
	young := explain(func(d *gclog.GCDetails) { d.Handles, d.SyncBlocks = 1, 2 })
	if got := sentences(young.Result); strings.Contains(got, "handle.") || !strings.Contains(got, "handles: The runtime had 2 sync blocks after it.\n") || whyUnknown(&young, "handles") == "" {
		t.Errorf("%s%+v", got, young.Unknown)
	}
	full := explain(func(d *gclog.GCDetails) { d.Generation, d.Handles, d.SyncBlocks = gclog.Gen2, 1, 2 })
	if got := sentences(full.Result); !strings.Contains(got, "handles: The runtime had 1 handle and 2 sync blocks after it.\n") || whyUnknown(&full, "handles") != "" {
		t.Errorf("%s%+v", got, full.Unknown)
	}
}

func TestExplainSegments(t *testing.T) {
	for _, tt := range []struct {
		created, freed uint32
		want           string
	}{
		{0, 4, "returned 4 pieces of memory to the system."},
		{0, 1, "returned 1 piece of memory to the system."},
		{1, 0, "obtained 1 piece of memory from the system (64 B) and returned none."},
		{2, 4, "obtained 2 pieces of memory from the system (64 B) and returned 4."},
	} {
		e := explain(func(d *gclog.GCDetails) {
			d.Segments.Created, d.Segments.Freed = tt.created, tt.freed
			d.Known |= gclog.GroupSegments
			if tt.created > 0 {
				d.Segments.CreatedBytes = 64
			}
		})
		if got := sentences(e.Result); !strings.Contains(got, "segments: Since the previous collection, the heap "+tt.want) {
			t.Errorf("no %q in\n%s", tt.want, got)
		}
	}
}

// TestExplainLargeObjects checks that of several heaps the slowest counts, and that values that are
// 0 in all are left out.
func TestExplainLargeObjects(t *testing.T) {
	for _, tt := range []struct {
		heaps []clr.LOHCompact
		want  string
	}{
		{[]clr.LOHCompact{{}, {}}, ""},
		{[]clr.LOHCompact{{PlanMicroseconds: 7}, {RelocateMicroseconds: 2, CompactMicroseconds: 1}}, "in the slowest heap, plan took 7 µs, relocate 2 µs and compact 1 µs."},
		{[]clr.LOHCompact{{TotalRefs: 1}}, "plan took 0 ns, relocate 0 ns and compact 0 ns; they contained 1 reference."},
		{[]clr.LOHCompact{{PlanMicroseconds: 7, TotalRefs: 1}, {PlanMicroseconds: 9, TotalRefs: 4}}, "plan took 9 µs, relocate 0 ns and compact 0 ns; they contained 5 references."},
	} {
		e := explain(func(d *gclog.GCDetails) { d.LOHCompactions = tt.heaps })
		got := sentences(e.Result)
		if tt.want == "" && strings.Contains(got, "loh-compaction") || !strings.Contains(got, tt.want) {
			t.Errorf("%+v: no %q in\n%s", tt.heaps, tt.want, got)
		}
	}
}

// TestExplainMemory checks the memory of the process and of its control group.
func TestExplainMemory(t *testing.T) {
	for want, m := range map[string]gclog.Memory{
		"After it, the process had 1 B of resident memory.":                                          {Resident: 1},
		"After it, its control group used 1 B.":                                                      {Cgroup: 1},
		"After it, its control group used 1 B of 1 B.":                                               {Cgroup: 1, CgroupLimit: 1},
		"After it, the process had 5 KB of resident memory and its control group used 6 KB of 7 KB.": {Resident: 5000, Cgroup: 6000, CgroupLimit: 7000},
	} {
		e := explain(func(d *gclog.GCDetails) { d.Memory = m })
		if got := sentences(e.Result); !strings.Contains(got, "memory: "+want+"\n") {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, m := range []gclog.Memory{{}, {CgroupLimit: 5}} {
		if got := sentences(explain(func(d *gclog.GCDetails) { d.Memory = m }).Result); strings.Contains(got, "memory: ") {
			t.Errorf("of %+v it says\n%s", m, got)
		}
	}
}
