package analysis_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/parse/clr"
)

const milli = time.Millisecond

// A ruleCase has two histories that differ little: the rule has a finding for the first and none
// for the second. Changing a threshold reverses either result.
type ruleCase struct {
	rule, name string
	bad, good  func(*past)
	severity   analysis.Severity
	gcs        []uint32 // the first of those that it must name
	text       []string // parts of the sentence
	silence    string   // a threshold that removes the finding
	wake       string   // a threshold that causes the finding
}

// Changes.

func reason(r clr.Reason) change { return func(d *gclog.GCDetails) { d.Reason = r } }

func condemned(c clr.Condemned) change {
	return func(d *gclog.GCDetails) { d.Global.Condemned |= c }
}

func suspended(part int, by time.Duration) change {
	return func(d *gclog.GCDetails) { d.Pauses[part].Suspend = int64(by) }
}

func resumed(by time.Duration) change {
	return func(d *gclog.GCDetails) { d.Pauses[0].Resume = int64(by) }
}

func dependent(took time.Duration) change {
	return func(d *gclog.GCDetails) {
		d.Heaps = append(d.Heaps, gclog.HeapDetails{})
		marked(&d.Heaps[0], clr.MarkDependentHandles, int64(took))
	}
}

func requested(before time.Duration) change {
	return func(d *gclog.GCDetails) {
		d.Suspended = d.Pauses[0].Start
		d.Triggered = d.Suspended - int64(before)
		d.Known |= gclog.GroupTrigger
	}
}

func promoted(bytes uint64) change { return func(d *gclog.GCDetails) { d.PromotedBytes = bytes } }

func load(percent uint32) change {
	return func(d *gclog.GCDetails) { d.Global.MemoryLoad = percent }
}

func foreground(d *gclog.GCDetails) { d.Kind = gclog.KindForeground }

func generation(g int, set func(*gclog.GenerationDetails)) change {
	return func(d *gclog.GCDetails) { set(&d.Generations[g]) }
}

// toGen2 promotes so many MB into gen2, of so many that gen1 keeps, so many percent.
func toGen2(in, gen1, percent uint64) change {
	return func(d *gclog.GCDetails) {
		d.Generations[2].In = in * megabyte
		d.Generations[1].ObjectsBefore, d.Generations[1].Survived = gen1*megabyte, gen1*megabyte*percent/100
	}
}

// alive leaves so many MB in gen2.
func alive(mb uint64) change {
	return func(d *gclog.GCDetails) {
		d.Generations[2].ObjectsAfter, d.Generations[1].Survived = mb*megabyte, d.Generations[1].ObjectsBefore
	}
}

// resident adds collections a minute apart, with the resident and the committed memory in MB.
func resident(h *past, n int, memory func(i uint64) (rss, committed uint64), changes ...func(i uint64) change) {
	for i := range uint64(n) {
		list := []change{func(d *gclog.GCDetails) {
			rss, committed := memory(i)
			d.Memory = gclog.Memory{Resident: rss * megabyte, At: int64(h.now)}
			d.CommittedAfter = committed * megabyte
			d.Known |= gclog.GroupCommittedAfter
		}}
		for _, c := range changes {
			list = append(list, c(i))
		}
		h.run(time.Minute-milli).gc(0, milli, list...)
	}
}

// times repeats a step.
func times(n int, step func(i int)) {
	for i := range n {
		step(i)
	}
}

// server makes it a process with server GC.
func server(h *past, heaps, processors int) {
	h.process.Server, h.process.HeapCount, h.process.Processors = gclog.Yes, heaps, processors
}

// heaps sets the heaps of a collection, with the size of each gen0 in MB.
func heaps(filled ...uint64) change {
	return func(d *gclog.GCDetails) {
		d.Heaps, d.Global.Heaps = nil, int32(len(filled))
		d.Generations[0].ObjectsBefore = 0
		for i, mb := range filled {
			h := gclog.HeapDetails{Heap: uint32(i), HasHistory: true}
			h.History.Generation[0].SizeBefore = mb * megabyte
			d.Generations[0].ObjectsBefore += mb * megabyte
			d.Heaps = append(d.Heaps, h)
		}
	}
}

var ruleCases = []ruleCase{
	{
		rule: "high-pause-share", name: "warning",
		bad: func(h *past) {
			h.healthy(300)
			times(60, func(int) { h.run(940*milli).gc(0, 60*milli) })
			h.healthy(300)
		},
		good: func(h *past) {
			h.healthy(300)
			times(60, func(int) { h.run(955*milli).gc(0, 45*milli) })
			h.healthy(300)
		},
		severity: analysis.Warning, text: []string{"paused for 6 % of the time in the 60 s from 2026-01-31 14:05:3"},
		silence: "high-pause-share.over=7%", wake: "high-pause-share.over=4%",
	},
	{
		rule: "high-pause-share", name: "error",
		bad: func(h *past) {
			h.healthy(300)
			times(60, func(i int) { h.run(880*milli).gc(0, 120*milli+time.Duration(i)*1000) })
		},
		good:     func(h *past) { h.healthy(300) },
		severity: analysis.Error, gcs: []uint32{360, 359}, text: []string{"paused for 12 % of the time"},
	},
	{
		rule: "long-pause",
		bad: func(h *past) {
			h.healthy(30).gc(2, 250*milli).healthy(5).gc(1, 210*milli).background(205*milli, 300*milli, 3*milli)
		},
		good:     func(h *past) { h.healthy(30).gc(2, 200*milli).background(150*milli, 300*milli, 150*milli) },
		severity: analysis.Warning, gcs: []uint32{31, 37, 38},
		text:    []string{"3 of 39 pauses were longer than 200 ms, the longest 250 ms: blocking gen2 collection 31 (AllocSmall)."},
		silence: "long-pause.over=1s", wake: "long-pause.over=199ms",
	},
	{
		rule: "long-suspension", name: "long",
		bad: func(h *past) {
			h.healthy(30).gc(0, 60*milli, suspended(0, 40*milli)).gc(0, 60*milli, suspended(0, 11*milli))
		},
		good:     func(h *past) { h.healthy(30).gc(0, 60*milli, suspended(0, 10*milli)) },
		severity: analysis.Warning, gcs: []uint32{31, 32},
		text:    []string{"In 2 of 32 pauses, suspending the threads took more than 10 ms, at most 40 ms: gen0 collection 31"},
		silence: "long-suspension.over=50ms", wake: "long-suspension.over=9ms",
	},
	{
		rule: "long-resume",
		bad: func(h *past) {
			h.healthy(30).gc(0, 120*milli, resumed(100*milli)).gc(0, 60*milli, resumed(50*milli))
		},
		good: func(h *past) {
			h.healthy(30).gc(2, 2000*milli, resumed(0)).gc(0, 120*milli, resumed(100*milli)).gc(0, 60*milli, resumed(50*milli))
		},
		severity: analysis.Warning, gcs: []uint32{31, 32},
		text:    []string{"Resuming the threads took 150 ms of the 210 ms of 32 pauses (71.4 %), at most 100 ms in one: the GC itself paused the program for 60 ms."},
		silence: "long-resume.share=84%", wake: "long-resume.share=6%",
	},
	{
		rule: "dependent-handles",
		bad: func(h *past) {
			h.healthy(30).gc(2, 200*milli, dependent(150*milli)).gc(1, 100*milli, dependent(80*milli))
		},
		good: func(h *past) {
			h.healthy(30).gc(2, 900*milli, dependent(70*milli)).gc(1, 600*milli, dependent(60*milli))
		},
		severity: analysis.Warning, gcs: []uint32{31, 32},
		text:    []string{"Scanning dependent handles took 230 ms of the 300 ms that 2 collections paused the program for (76.7 %), at most 150 ms in one."},
		silence: "dependent-handles.share=77%", wake: "dependent-handles.share=8%",
	},
	{
		rule: "late-start",
		bad: func(h *past) {
			server(h, 4, 4)
			h.healthy(30).gc(0, milli, requested(500*milli)).gc(0, milli, requested(200*milli)).gc(0, milli, requested(milli))
		},
		good: func(h *past) {
			server(h, 4, 4)
			h.healthy(30).gc(0, milli, requested(100*milli))
		},
		severity: analysis.Warning, gcs: []uint32{31, 32},
		text:    []string{"2 of 3 collections started more than 100 ms after the request, at most 500 ms: the threads that requested them waited for 700 ms in total before the pauses began."},
		silence: "late-start.over=1s", wake: "late-start.over=99ms",
	},
	{
		rule: "heap-count-changes",
		bad: func(h *past) {
			h.gc(0, milli, heaps(1)).gc(0, milli, heaps(1, 1))
			times(3, func(i int) { h.gc(0, milli, heaps(1, 1, 1, 1)).gc(0, milli, heaps(1, 1)) })
			h.healthy(30)
		},
		// More and more heaps, and as few as before: the load of a day.
		good: func(h *past) {
			times(2, func(int) {
				times(20, func(i int) { h.gc(0, milli, heaps(make([]uint64, 1+i)...)) })
				times(20, func(i int) { h.gc(0, milli, heaps(make([]uint64, 20-i)...)) })
			})
		},
		severity: analysis.Info,
		text:     []string{"The number of heaps changed 8 times in ", ", between 1 and 4, and 5 of the changes took back the one before."},
		silence:  "heap-count-changes.count=6", wake: "heap-count-changes.count=3",
	},
	{
		rule:     "too-many-gen1",
		bad:      func(h *past) { h.of(6, 0, milli).of(14, 1, milli) },
		good:     func(h *past) { h.of(8, 0, milli).of(12, 1, milli) },
		severity: analysis.Info,
		text:     []string{"Of the collections that were not induced, 6 were gen0 and 14 gen1 (70 %)."},
		silence:  "too-many-gen1.share=70%", wake: "too-many-gen1.share=59%",
	},
	{
		rule: "long-suspension", name: "most of the pause",
		bad: func(h *past) {
			h.healthy(40)
			times(10, func(int) { h.run(milli).gc(0, 3*milli, suspended(0, 2*milli)) })
		},
		good: func(h *past) {
			h.healthy(41)
			times(10, func(int) { h.run(milli).gc(0, 3*milli, suspended(0, 2*milli)) })
		},
		severity: analysis.Warning, gcs: []uint32{41, 42},
		text:    []string{"In 10 of 50 pauses (20 %), suspending the threads took more than 50 %"},
		silence: "long-suspension.floor=3ms", wake: "long-suspension.of=19%",
	},
	{
		rule: "random-slow-gc",
		bad: func(h *past) {
			h.healthy(40)
			h.gc(0, 60*milli, promoted(100*megabyte)).gc(0, 30*milli).gc(1, 40*milli).gc(0, 20*milli)
		},
		good: func(h *past) {
			h.healthy(40).gc(0, 60*milli, promoted(31*megabyte/10)).gc(0, 5*milli).gc(0, 9*milli)
		},
		severity: analysis.Warning, gcs: []uint32{42, 44}, // gen1 has too few of its kind, 41 had a reason
		text:    []string{"A blocking gen0 collection paused the program for 30 ms, 30 times the median of its kind (1 ms), although it promoted 2 MB and the median is 2 MB."},
		silence: "random-slow-gc.pause=30", wake: "random-slow-gc.floor=8ms",
	},
	{
		rule: "induced-gcs", name: "rate",
		bad: func(h *past) {
			h.healthy(100)
			times(3, func(i int) { h.gc(0, time.Duration(i+1)*milli, reason(clr.ReasonInduced)) })
		},
		good: func(h *past) {
			h.healthy(100)
			times(2, func(i int) { h.gc(0, time.Duration(i+1)*milli, reason(clr.ReasonInduced)) })
		},
		severity: analysis.Warning, gcs: []uint32{103, 102, 101},
		text:    []string{"induced 3 of 103 collections (0 of 0 of gen2), 3 of them blocking (1.63 per minute); they paused it for 6 ms in total."},
		silence: "induced-gcs.rate=2/min",
	},
	{
		rule: "induced-gcs", name: "share of gen2",
		bad: func(h *past) {
			h.healthy(1000)
			times(20, func(int) { h.background(milli, milli, milli) })
			times(3, func(int) { h.background(milli, milli, milli, reason(clr.ReasonInducedNotForced)) })
		},
		good: func(h *past) {
			h.healthy(1000)
			times(27, func(int) { h.background(milli, milli, milli) })
			times(3, func(int) { h.background(milli, milli, milli, reason(clr.ReasonInducedNotForced)) })
		},
		severity: analysis.Warning, gcs: []uint32{1021},
		text:    []string{"of 1023 collections (3 of 23 of gen2), 0 of them blocking"},
		silence: "induced-gcs.share=20%", wake: "induced-gcs.share=9%",
	},
	{
		rule: "blocking-gen2",
		bad: func(h *past) {
			h.process.Concurrent = gclog.No
			h.background(milli, milli, milli).background(milli, milli, milli)
			h.gc(2, 30*milli, condemned(clr.CondemnedHighMemory)).gc(2, 50*milli, reason(clr.ReasonInduced)).gc(2, 40*milli)
		},
		good: func(h *past) {
			times(3, func(int) { h.background(milli, milli, milli).gc(2, 30*milli) })
		},
		severity: analysis.Warning, gcs: []uint32{4, 5, 3},
		text:    []string{"3 of 5 gen2 collections (60 %) were blocking, the longest pause 50 ms: 1 induced (induced-gcs), 1 because of a high memory load (memory-load-gen2) and 1 with background collections disabled."},
		silence: "blocking-gen2.share=60%", wake: "blocking-gen2.share=49%",
	},
	{
		rule: "blocking-gen2", name: "causes",
		bad: func(h *past) {
			batch := func(d *gclog.GCDetails) { d.Global.PauseMode, d.Global.HasMemoryLoad = clr.PauseModeBatch, true }
			interactive := func(d *gclog.GCDetails) {
				d.Global.PauseMode, d.Global.HasMemoryLoad = clr.PauseModeInteractive, true
			}
			times(2, func(int) {
				h.gc(2, milli, interactive, condemned(clr.CondemnedLowEphemeral|clr.CondemnedBeforeOOM|clr.CondemnedLimitBeforeOOM))
			})
			h.gc(2, milli, interactive, reason(clr.ReasonPMFullGC)).gc(2, milli, batch, condemned(clr.CondemnedTooSmallForBackground))
			h.gc(2, milli, interactive, condemned(clr.CondemnedHighMemory|clr.CondemnedTooSmallForBackground)).gc(2, milli, interactive, condemned(clr.CondemnedFragmentedGen2))
			h.gc(2, milli, interactive, func(d *gclog.GCDetails) { d.DemotedBGC = true }).gc(2, milli, interactive, condemned(clr.CondemnedExpandHeap))
		},
		good:     func(h *past) { times(3, func(int) { h.background(milli, milli, milli) }) },
		severity: analysis.Warning,
		text: []string{": 1 because full collections freed little (provisional-mode), 2 at a limit or out of memory (hard-limit), 1 with background collections disabled, " +
			"1 started as a background collection, 1 because gen2 was fragmented (gen2-fragmentation), 1 with a heap too small for a background collection and 1 for another or an unknown reason."},
	},
	{
		rule: "memory-load-gen2",
		bad: func(h *past) {
			h.process.Limits.HighMemoryPercent = 90
			h.gc(2, 10*milli, load(95)).gc(2, 30*milli, load(95), condemned(clr.CondemnedVeryHighMemory)).gc(2, 20*milli, load(92), condemned(clr.CondemnedHighMemory))
		},
		good: func(h *past) {
			h.process.Limits.HighMemoryPercent = 90
			h.gc(2, 10*milli, load(95)).gc(2, 30*milli, load(89), condemned(clr.CondemnedVeryHighMemory)).background(milli, milli, milli, load(99))
			// Its own budget made it one of gen2.
			h.gc(2, milli, load(99), condemned(clr.CondemnedAlmostMaxAlloc|clr.CondemnedTooSmallForBackground), func(d *gclog.GCDetails) {
				d.Global.CondemnedGenerations = clr.MakeCondemnedGenerations(0, 2, 2, 0)
			})
		},
		severity: analysis.Warning, gcs: []uint32{2, 3},
		text:    []string{"2 gen2 collections were caused by high memory load, up to 95 %, and 2 of them blocked because of it; they paused the program for 50 ms in total; 90 % is the limit."},
		silence: "memory-load-gen2.load=96%", wake: "memory-load-gen2.load=85%",
	},
	{
		rule: "memory-load-gen2", name: "limit not told",
		bad: func(h *past) {
			h.gc(2, 10*milli, load(3)).gc(2, 30*milli, load(3), condemned(clr.CondemnedAlmostMaxAlloc)).gc(2, 20*milli, load(2), condemned(clr.CondemnedHighMemory))
		},
		good:     func(h *past) { times(3, func(int) { h.gc(2, 10*milli, load(89)) }) },
		severity: analysis.Warning, gcs: []uint32{2, 3},
		text:    []string{"2 gen2 collections were caused by high memory load, up to 3 %, and 1 of them blocked because of it; they paused the program for 50 ms in total; the limit is not reported."},
		silence: "memory-load-gen2.load=4%",
	},
	{
		rule: "too-many-gen2",
		bad: func(h *past) {
			h.healthy(100)
			times(12, func(i int) { h.background(time.Duration(i+1)*milli, milli, milli) })
		},
		good: func(h *past) {
			h.healthy(200)
			times(10, func(int) { h.background(milli, milli, milli) })
			times(20, func(int) { h.gc(2, milli, reason(clr.ReasonInduced)) })
		},
		severity: analysis.Warning, gcs: []uint32{112, 111},
		text:    []string{"Of the collections that were not induced, 90 were gen0, 10 gen1 and 12 gen2 (10.7 %)."},
		silence: "too-many-gen2.count=13", wake: "too-many-gen2.per-gen1=0.49",
	},
	{
		rule: "mid-life-crisis",
		bad: func(h *past) {
			times(3, func(i int) {
				h.healthy(3)
				times(2, func(int) {
					h.gc(1, milli, generation(1, func(g *gclog.GenerationDetails) { g.Survived = 3 * megabyte }),
						generation(2, func(g *gclog.GenerationDetails) { g.In = 25 * megabyte }))
				})
				h.background(milli, milli, milli, generation(2, func(g *gclog.GenerationDetails) { g.Survived = uint64(80-i) * megabyte }))
			})
		},
		good: func(h *past) {
			times(3, func(int) {
				h.gc(1, milli, generation(1, func(g *gclog.GenerationDetails) { g.Survived = 3 * megabyte }),
					generation(2, func(g *gclog.GenerationDetails) { g.In = 25 * megabyte }))
				h.background(milli, milli, milli, generation(2, func(g *gclog.GenerationDetails) { g.Survived = 95 * megabyte }))
			})
		},
		severity: analysis.Warning, gcs: []uint32{18, 12, 6},
		text:    []string{"In 3 of 3 gen2 collections most of gen2 was dead (survival down to 43.3 %), although gen1 collections had just promoted 150 MB into it."},
		silence: "mid-life-crisis.in=13%", wake: "mid-life-crisis.gen2-survival=60%",
	},
	{
		rule: "high-allocation-rate", name: "rate",
		bad: func(h *past) {
			h.healthy(260, generation(0, func(g *gclog.GenerationDetails) { g.Allocated = 550 * megabyte }))
		},
		good: func(h *past) {
			h.healthy(200, generation(0, func(g *gclog.GenerationDetails) { g.Allocated = 490 * megabyte }))
		},
		severity: analysis.Warning, gcs: []uint32{1, 2},
		text:    []string{"The program allocated 1.1 GB/s in the 60 s from 2026-01-31 14:03:00"},
		silence: "high-allocation-rate.over=2GB", wake: "high-allocation-rate.over=900MB/s",
	},
	{
		rule: "high-allocation-rate", name: "churn",
		bad: func(h *past) {
			times(800, func(int) {
				h.run(79*milli).gc(0, milli, generation(0, func(g *gclog.GenerationDetails) { g.Survived = megabyte / 2 }))
			})
		},
		good: func(h *past) {
			times(800, func(int) { h.run(79*milli).gc(0, milli) })
		},
		severity: analysis.Warning,
		text:     []string{"There was a gen0 collection every 80 ms in the 60 s from 2026-01-31 14:03:00, and 2.5 % of the objects survived."},
		silence:  "high-allocation-rate.period=70ms", wake: "high-allocation-rate.survival=11%",
	},
	{
		rule: "loh-pressure", name: "reason",
		bad: func(h *past) {
			h.healthy(20)
			times(10, func(i int) { h.gc(2, time.Duration(i+1)*milli, reason(clr.ReasonAllocLarge)) })
		},
		good: func(h *past) {
			h.healthy(28)
			times(12, func(int) { h.gc(2, milli, reason(clr.ReasonAllocLarge)) })
		},
		severity: analysis.Warning, gcs: []uint32{30, 29},
		text:    []string{"10 of 30 collections (33.3 %) were caused by large objects, which take 22.6 % of the heap."},
		silence: "loh-pressure.collections=34%", wake: "loh-pressure.collections=29%",
	},
	{
		rule: "loh-pressure", name: "size",
		bad: func(h *past) {
			h.healthy(25, generation(gclog.LOH, func(g *gclog.GenerationDetails) { g.After = 300 * megabyte }))
		},
		good: func(h *past) {
			h.healthy(25, generation(gclog.LOH, func(g *gclog.GenerationDetails) { g.After = 200 * megabyte }))
		},
		severity: analysis.Warning, gcs: []uint32{1},
		text:    []string{"Large objects take 59.4 % of the heap, 300 MB on average."},
		silence: "loh-pressure.floor=301MB", wake: "loh-pressure.heap=49%",
	},
	{
		rule: "poh-misuse", name: "share",
		bad: func(h *past) {
			h.healthy(25, generation(gclog.POH, func(g *gclog.GenerationDetails) { g.After = 80 * megabyte }))
		},
		good: func(h *past) {
			h.healthy(25, generation(gclog.POH, func(g *gclog.GenerationDetails) { g.After = 60 * megabyte }))
			h.gc(2, milli)
		},
		severity: analysis.Warning, gcs: []uint32{1},
		text:    []string{"The pinned object heap takes 23.3 % of the heap, 80 MB on average."},
		silence: "poh-misuse.heap=24%", wake: "poh-misuse.heap=17%",
	},
	{
		rule: "poh-misuse", name: "holes",
		bad: func(h *past) {
			h.healthy(25).gc(2, milli, generation(gclog.POH, func(g *gclog.GenerationDetails) { g.After, g.Fragmentation = 300*megabyte, 160*megabyte }))
		},
		good: func(h *past) {
			h.healthy(25).gc(2, milli, generation(gclog.POH, func(g *gclog.GenerationDetails) { g.After, g.Fragmentation = 300*megabyte, 140*megabyte }))
		},
		severity: analysis.Warning, gcs: []uint32{26},
		text:    []string{"12.5 MB on average, and 53.3 % of it is free space after gen2 collections."},
		silence: "poh-misuse.floor=13MB", wake: "poh-misuse.fragmentation=45%",
	},
	{
		rule: "loh-fragmentation", name: "holes",
		bad: func(h *past) {
			holes := generation(gclog.LOH, func(g *gclog.GenerationDetails) { g.After, g.Fragmentation = 150*megabyte, 60*megabyte })
			h.gc(2, milli).healthy(3).gc(2, milli, holes).gc(2, milli, holes).healthy(9)
			h.gc(2, milli, generation(gclog.LOH, func(g *gclog.GenerationDetails) { g.After, g.Fragmentation = 150*megabyte, 90*megabyte }))
		},
		good: func(h *past) {
			holes := generation(gclog.LOH, func(g *gclog.GenerationDetails) { g.After, g.Fragmentation = 150*megabyte, 60*megabyte })
			less := generation(gclog.LOH, func(g *gclog.GenerationDetails) { g.After, g.Fragmentation = 300*megabyte, 80*megabyte })
			h.gc(2, milli, holes).gc(2, milli, less).gc(2, milli, less).gc(2, milli, holes)
		},
		severity: analysis.Warning, gcs: []uint32{16, 5, 6},
		text:    []string{"After 3 consecutive gen2 collections the large object heap was fragmented, with up to 90 MB of free space (60 % of it)."},
		silence: "loh-fragmentation.floor=60MB", wake: "loh-fragmentation.over=26%",
	},
	{
		rule: "loh-fragmentation", name: "two of three",
		bad: func(h *past) {
			holes := generation(gclog.LOH, func(g *gclog.GenerationDetails) { g.After, g.Fragmentation = 150*megabyte, 60*megabyte })
			h.gc(2, milli).gc(2, milli, holes).gc(2, milli).gc(2, milli, holes)
		},
		good: func(h *past) {
			holes := generation(gclog.LOH, func(g *gclog.GenerationDetails) { g.After, g.Fragmentation = 150*megabyte, 60*megabyte })
			h.gc(2, milli).gc(2, milli, holes).gc(2, milli).gc(2, milli).gc(2, milli, holes)
		},
		severity: analysis.Warning, gcs: []uint32{4},
		text:    []string{"After 2 of 3 gen2 collections the large object heap was fragmented, with up to 60 MB of free space (40 % of it)."},
		silence: "loh-fragmentation.floor=60MB",
	},
	{
		rule: "loh-fragmentation", name: "it grows",
		bad: func(h *past) {
			for i := range uint64(4) {
				h.gc(2, milli, generation(gclog.LOH, func(g *gclog.GenerationDetails) {
					g.After, g.Fragmentation = (150+150*i)*megabyte, 25*i*megabyte
				}))
			}
		},
		good: func(h *past) {
			for i := range uint64(4) {
				h.gc(2, milli, generation(gclog.LOH, func(g *gclog.GenerationDetails) {
					g.After, g.Fragmentation = (300+50*i)*megabyte, 25*i*megabyte
				}))
			}
		},
		severity: analysis.Warning,
		text:     []string{"The large object heap grew from 150 MB to 600 MB, although 75 MB of it (12.5 %) were free after the latest gen2 collection."},
	},
	{
		rule: "loh-fragmentation", name: "limit",
		bad: func(h *past) {
			h.gc(2, milli).gc(2, 2*milli, condemned(clr.CondemnedLimitLOHFragmented), generation(gclog.LOH, func(g *gclog.GenerationDetails) { g.FreeBefore = 16 * megabyte })).gc(2, milli)
		},
		good:     func(h *past) { h.gc(2, milli).gc(2, milli, condemned(clr.CondemnedLimitLOHReclaim)).gc(2, milli) },
		severity: analysis.Warning, gcs: []uint32{2},
		text: []string{"1 collection was caused by fragmentation of the large object heap near the hard limit, with up to 16 MB of free space before it."},
	},
	{
		rule: "gen2-fragmentation",
		bad: func(h *past) {
			times(3, func(i int) {
				h.background(milli, milli, milli, generation(2, func(g *gclog.GenerationDetails) { g.FreeBefore = uint64(140+10*i) * megabyte }))
			})
		},
		good: func(h *past) {
			times(3, func(i int) {
				h.background(milli, milli, milli, generation(2, func(g *gclog.GenerationDetails) { g.FreeBefore = uint64(125+10*i) * megabyte }))
			})
		},
		severity: analysis.Warning, gcs: []uint32{3, 2, 1},
		text:    []string{"When 3 background collections started, 75 % of gen2 was free space: 150 MB of 200 MB on average."},
		silence: "gen2-fragmentation.over=80%", wake: "gen2-fragmentation.over=60%",
	},
	{
		rule: "pinning", name: "many",
		bad: func(h *past) {
			h.healthy(15)
			times(5, func(i int) { h.gc(0, milli, func(d *gclog.GCDetails) { d.PinnedObjects = uint32(1001 + i) }) })
		},
		good: func(h *past) {
			h.healthy(16)
			times(4, func(int) { h.gc(0, milli, func(d *gclog.GCDetails) { d.PinnedObjects = 5000 }) })
		},
		severity: analysis.Warning, gcs: []uint32{20, 19, 18},
		text:    []string{"hindered 5 of 20 collections (25 %), with up to 1005 in one collection: 5 had many, 0 left gen0 fragmented"},
		silence: "pinning.objects=2000", wake: "pinning.of=19%",
	},
	{
		rule: "pinning", name: "holes and demotion",
		bad: func(h *past) {
			h.healthy(10, generation(0, func(g *gclog.GenerationDetails) {
				g.After, g.Fragmentation, g.SurvivedPins = 12*megabyte, 7*megabyte, 100
			}))
			h.healthy(10, generation(0, func(g *gclog.GenerationDetails) { g.After = 21 * megabyte }),
				func(d *gclog.GCDetails) { d.Global.Mechanisms |= clr.MechanismDemotion })
		},
		good: func(h *past) {
			h.healthy(10, generation(0, func(g *gclog.GenerationDetails) { g.After, g.Fragmentation = 12*megabyte, 7*megabyte }))
			h.healthy(10, generation(0, func(g *gclog.GenerationDetails) { g.After = 19 * megabyte }),
				func(d *gclog.GCDetails) { d.Global.Mechanisms |= clr.MechanismDemotion })
		},
		severity: analysis.Warning,
		text:     []string{"hindered 20 of 20 collections (100 %), with up to 10 in one collection: 0 had many, 10 left gen0 fragmented, 10 left it large by demotion."},
		silence:  "pinning.floor=30MB", wake: "pinning.demotion=40%",
	},
	{
		rule: "memory-growth", name: "line",
		bad: func(h *past) {
			times(7, func(i int) {
				h.run(10*time.Minute).gc(2, milli, generation(2, func(g *gclog.GenerationDetails) { g.ObjectsAfter = uint64(95+6*i) * megabyte }))
			})
		},
		good: func(h *past) {
			times(7, func(i int) {
				h.run(10*time.Minute).gc(2, milli, generation(2, func(g *gclog.GenerationDetails) { g.ObjectsAfter = uint64(95+5*i) * megabyte }))
			})
		},
		severity: analysis.Warning, gcs: []uint32{7, 6},
		text:    []string{"After 7 gen2 collections in 1 h, gen2 and large objects rose from 150 MB to 186 MB: 24 %/h."},
		silence: "memory-growth.floor=37MB", wake: "memory-growth.over=19%",
	},
	{
		rule: "memory-growth", name: "sawtooth",
		bad: func(h *past) { // that rises with each tooth
			times(7, func(i int) {
				h.run(10*time.Minute).gc(2, milli, generation(2, func(g *gclog.GenerationDetails) {
					g.ObjectsAfter = []uint64{100, 150, 120, 210, 190, 280, 250}[i] * megabyte
				}))
			})
		},
		good: func(h *past) { // a sawtooth that rises from the first tooth to the last
			times(7, func(i int) {
				h.run(10*time.Minute).gc(2, milli, generation(2, func(g *gclog.GenerationDetails) {
					g.ObjectsAfter = []uint64{100, 300, 120, 310, 130, 320, 150}[i] * megabyte
				}))
			})
		},
		severity: analysis.Warning, gcs: []uint32{6, 7},
		text:    []string{"After 7 gen2 collections in 1 h, gen2 and large objects rose from "},
		silence: "memory-growth.floor=200MB",
	},
	{
		rule: "memory-growth", name: "few",
		bad: func(h *past) {
			h.process.ID = 4711
			h.run(time.Minute)
			times(3, func(i int) {
				h.run(10*time.Minute).gc(2, milli, generation(2, func(g *gclog.GenerationDetails) {
					g.ObjectsAfter = []uint64{217, 414, 758}[i] * megabyte
				}))
			})
		},
		good: func(h *past) {
			times(7, func(i int) { h.run(10*time.Minute).gc(2, milli) })
		},
		severity: analysis.Warning, gcs: []uint32{3, 2, 1},
		text:    []string{"After 3 gen2 collections in 20 min, gen2 and large objects rose from 272 MB to 813 MB, 2.99 times as much; this is too little data for a trend: gclog gc 4711 --wait shows what remains after a full collection."},
		silence: "memory-growth.floor=600MB",
	},
	{
		rule: "native-growth",
		bad:  func(h *past) { resident(h, 15, func(i uint64) (rss, committed uint64) { return 980 + 15*i, 797 }) },
		good: func(h *past) {
			resident(h, 15, func(i uint64) (rss, committed uint64) { return 980 + 15*i, 797 + 14*i })
		},

		severity: analysis.Warning, gcs: []uint32{15, 14},
		text:    []string{"After 15 collections in 14 min, resident memory beyond what the GC had committed rose from 183 MB to 393 MB: 492 %/h. RSS was then 1.19 GB, of which the GC had committed 797 MB."},
		silence: "native-growth.floor=220MB",
	},
	{
		rule: "native-growth", name: "few",
		bad: func(h *past) { resident(h, 3, func(i uint64) (rss, committed uint64) { return 980 + 150*i, 797 }) },
		// What the GC had committed is touched: what is not its own stays.
		good: func(h *past) {
			resident(h, 15, func(i uint64) (rss, committed uint64) { return 800 + 15*i, 797 }, func(i uint64) change {
				return generation(2, func(g *gclog.GenerationDetails) { g.After = (300 + 15*i) * megabyte })
			})
		},
		severity: analysis.Warning, gcs: []uint32{3, 2, 1},
		text:    []string{"After 3 collections in 2 min, resident memory beyond what the GC had committed rose from 183 MB to 483 MB, 2.64 times as much; this is too little data for a trend: pmap -x PID, now and later, shows what grows. RSS was then 1.28 GB, of which the GC had committed 797 MB."},
		silence: "native-growth.quick=400MB",
	},
	{
		rule: "handle-leak",
		bad: func(h *past) {
			times(7, func(i int) {
				h.run(10*time.Minute).gc(2, milli, func(d *gclog.GCDetails) { d.Handles = int32(10000 + 200*i) })
			})
		},
		good: func(h *past) {
			times(7, func(i int) {
				h.run(10*time.Minute).gc(2, milli, func(d *gclog.GCDetails) { d.Handles = int32(10000 + 160*i) })
			})
		},
		severity: analysis.Warning, gcs: []uint32{7, 6},
		text:    []string{"After 7 gen2 collections in 1 h, GC handles rose from 10000 to 11200: 12 %/h."},
		silence: "handle-leak.floor=12000", wake: "handle-leak.over=9%/h",
	},
	{
		rule: "peak-over-after",
		bad: func(h *past) {
			server(h, 4, 4)
			h.healthy(25, func(d *gclog.GCDetails) { d.Peak = 900 * megabyte })
		},
		good: func(h *past) {
			server(h, 4, 4)
			h.healthy(25, func(d *gclog.GCDetails) { d.Peak = 790 * megabyte })
		},
		severity: analysis.Warning, gcs: []uint32{1},
		text:    []string{"The heap was 900 MB before collections and 265 MB after, on average: 3.4 times as much."},
		silence: "peak-over-after.floor=1GB", wake: "peak-over-after.over=2.9",
	},
	{
		rule: "heap-imbalance", name: "filled",
		bad: func(h *past) {
			server(h, 4, 4)
			h.healthy(15, heaps(10, 10, 10, 10)).healthy(5, heaps(40, 10, 10, 10))
		},
		good: func(h *past) {
			server(h, 4, 4)
			h.healthy(16, heaps(10, 10, 10, 10)).healthy(4, heaps(40, 10, 10, 10))
		},
		severity: analysis.Warning, gcs: []uint32{16, 17},
		text:    []string{"In 5 of 20 collections (25 %), one of 4 heaps had more than 2 times the mean, up to 2.29 times; in 0 of them"},
		silence: "heap-imbalance.over=2.3", wake: "heap-imbalance.of=19%",
	},
	{
		rule: "heap-imbalance", name: "marking",
		bad: func(h *past) {
			server(h, 4, 4)
			h.healthy(25, heaps(10, 10, 10, 10), func(d *gclog.GCDetails) {
				for i := range d.Heaps {
					marked(&d.Heaps[i], clr.MarkStack, int64(milli/4))
				}
				marked(&d.Heaps[2], clr.MarkStack, int64(3*milli))
			})
		},
		good: func(h *past) {
			server(h, 4, 4)
			h.healthy(25, heaps(10, 10, 10, 10), func(d *gclog.GCDetails) {
				for i := range d.Heaps {
					marked(&d.Heaps[i], clr.MarkStack, int64(milli/20))
				}
				marked(&d.Heaps[2], clr.MarkStack, int64(9*milli/10))
			})
		},
		severity: analysis.Warning, text: []string{"up to 3.2 times; in 25 of them it was slow in marking."},
		silence: "heap-imbalance.mark-floor=4ms", wake: "heap-imbalance.mark-floor=0.5ms",
	},
	{
		rule: "wrong-flavour", name: "workstation",
		bad: func(h *past) {
			h.process.Processors = 8
			times(120, func(i int) { h.run(900*milli).gc(0, 100*milli+time.Duration(i)*1000) })
		},
		good: func(h *past) {
			h.process.Processors = 4
			times(120, func(int) { h.run(900*milli).gc(0, 100*milli) })
		},
		severity: analysis.Warning, gcs: []uint32{120},
		text:    []string{"Workstation GC pauses the program 6", "% of the time on 8 processors."},
		silence: "wrong-flavour.share=20%", wake: "wrong-flavour.processors=3",
	},
	{
		rule: "wrong-flavour", name: "too many heaps",
		bad: func(h *past) {
			server(h, 32, 8)
			h.healthy(25, heaps(make([]uint64, 32)...), func(d *gclog.GCDetails) { d.Known |= gclog.GroupDatasTuning })
		},
		good: func(h *past) {
			server(h, 8, 8)
			h.healthy(25, heaps(make([]uint64, 8)...), func(d *gclog.GCDetails) { d.Known |= gclog.GroupDatasTuning })
		},
		severity: analysis.Warning,
		text:     []string{"Server GC has 32 heaps on 8 processors; server GC has 32 heaps for a heap of 265 MB."},
		wake:     "wrong-flavour.heaps=7",
	},
	{
		rule: "wrong-flavour", name: "concurrent off",
		bad: func(h *past) {
			h.process.Concurrent = gclog.No
			h.healthy(25).gc(2, 300*milli, reason(clr.ReasonInduced)).gc(2, 250*milli)
		},
		good: func(h *past) {
			h.process.Concurrent = gclog.No
			h.healthy(25).gc(2, 300*milli, reason(clr.ReasonInduced)).gc(2, 150*milli)
		},
		severity: analysis.Warning, gcs: []uint32{27},
		text:    []string{"Background collections are disabled and gen2 collections block for up to 250 ms."},
		silence: "wrong-flavour.pause=250ms", wake: "wrong-flavour.pause=149ms",
	},
	{
		rule: "wrong-flavour", name: "without DATAS",
		bad: func(h *past) {
			server(h, 4, 4)
			h.healthy(25, heaps(10, 10, 10, 10))
		},
		good: func(h *past) {
			server(h, 4, 4)
			h.process.RuntimeVersion = "8.0.11"
			h.healthy(25, heaps(10, 10, 10, 10))
		},
		severity: analysis.Info,
		text:     []string{"Server GC of .NET 10.0.1 runs without DATAS, with 4 heaps."},
	},
	{
		rule: "finalizer-backlog", name: "objects",
		bad: func(h *past) {
			h.healthy(25)
			times(3, func(i int) { h.gc(0, milli, func(d *gclog.GCDetails) { d.FinalizationCount = uint64(10001 + i) }) })
		},
		good: func(h *past) {
			h.healthy(25)
			times(2, func(int) { h.gc(0, milli, func(d *gclog.GCDetails) { d.FinalizationCount = 50000 }) })
			h.gc(0, milli, func(d *gclog.GCDetails) { d.FinalizationCount = 10000 })
		},
		severity: analysis.Warning, gcs: []uint32{28, 27, 26},
		text:    []string{"3 of 28 collections retained more than 10000 objects for finalization, up to 10003 objects and 10 KB."},
		silence: "finalizer-backlog.count=4", wake: "finalizer-backlog.count=2",
	},
	{
		rule: "finalizer-backlog", name: "run",
		bad: func(h *past) {
			h.healthy(25).gc(0, milli, func(d *gclog.GCDetails) {
				d.Known |= gclog.GroupFinalizers
				d.Finalizers = gclog.FinalizerDetails{Running: int64(90 * time.Second)}
			})
		},
		good: func(h *past) {
			h.healthy(25).gc(0, milli, func(d *gclog.GCDetails) {
				d.Known |= gclog.GroupFinalizers
				d.Finalizers = gclog.FinalizerDetails{Runs: 1, Longest: int64(900 * milli)}
			})
		},
		severity: analysis.Warning, gcs: []uint32{26},
		text:    []string{"The finalizer thread was busy for 90 s in one run"},
		silence: "finalizer-backlog.run=2m", wake: "finalizer-backlog.run=800ms",
	},
	{
		rule: "mid-life-crisis", name: "volume",
		bad: func(h *past) {
			for range 4 {
				h.of(10, 1, 20*milli, toGen2(12, 4, 95)).gc(2, 5*milli, alive(15))
			}
		},
		good: func(h *past) {
			for range 4 {
				h.of(10, 1, 20*milli, toGen2(12, 4, 85)).gc(2, 5*milli, alive(15))
			}
		},
		severity: analysis.Warning,
		text:     []string{"484 MB was promoted into gen2 (55 % of what was allocated in gen0), where 15 MB were alive after its collections on average: the rest died there."},
		silence:  "mid-life-crisis.of-allocated=60%",
	},
	{
		rule: "high-survival",
		bad: func(h *past) {
			h.of(30, 0, 20*milli, generation(0, func(g *gclog.GenerationDetails) { g.Survived = 5 * megabyte }))
		},
		good:     func(h *past) { h.of(30, 0, 20*milli) },
		severity: analysis.Warning,
		text:     []string{"Of 600 MB of objects in gen0, 150 MB survived (25 %): gen0 and gen1 collections marked and promoted 60 MB, for which they paused the program for 600 ms."},
		silence:  "high-survival.over=30%", wake: "high-survival.over=9%",
	},
	{
		rule: "small-gen0",
		bad: func(h *past) {
			times(1000, func(int) { h.run(19*milli).gc(0, milli) })
		},
		good: func(h *past) {
			times(400, func(int) { h.run(199*milli).gc(0, 3*milli) })
		},
		severity: analysis.Warning,
		text:     []string{"There was a gen0 or gen1 collection every 80 ms, with 20 MB of objects in gen0 on average, of which 10 % survived; they paused the program for 1 s."},
		silence:  "small-gen0.period=50ms", wake: "small-gen0.period=1s",
	},
	{
		rule: "hard-limit", name: "size",
		bad: func(h *past) {
			h.process.Limits.HardLimit = 320 * megabyte
			h.healthy(25)
		},
		good: func(h *past) {
			h.process.Limits.HardLimit = 340 * megabyte
			h.healthy(25)
		},
		severity: analysis.Warning, gcs: []uint32{1},
		text:    []string{"The heap was up to 265 MB after a collection, 82.8 % of the hard limit of the heap (320 MB)."},
		silence: "hard-limit.over=85%", wake: "hard-limit.over=75%",
	},
	{
		rule: "hard-limit", name: "control group",
		bad: func(h *past) {
			h.healthy(25, func(d *gclog.GCDetails) {
				d.Memory.CgroupLimit = 400 * megabyte
				d.CommittedAfter = 350 * megabyte
				d.Known |= gclog.GroupCommittedAfter
			})
		},
		good: func(h *past) {
			h.healthy(25, func(d *gclog.GCDetails) {
				d.Memory.CgroupLimit = 400 * megabyte
				d.CommittedAfter = 310 * megabyte
				d.Known |= gclog.GroupCommittedAfter
			})
		},
		severity: analysis.Warning,
		text:     []string{"The GC had committed up to 350 MB after a collection, 87.5 % of the memory limit of the control group (400 MB)."},
		silence:  "hard-limit.over=90%", wake: "hard-limit.over=70%",
	},
	{
		rule: "hard-limit", name: "before OutOfMemoryException",
		bad: func(h *past) {
			h.gc(0, milli).gc(2, 20*milli, condemned(clr.CondemnedBeforeOOM)).gc(2, 30*milli, condemned(clr.CondemnedLimitBeforeOOM))
		},
		good:     func(h *past) { h.healthy(25, condemned(clr.CondemnedHighMemory)) },
		severity: analysis.Error, gcs: []uint32{3, 2},
		text: []string{"2 collections were considered the last attempt before an OutOfMemoryException by the GC; the heap was up to 265 MB after a collection; the hard limit is not reported."},
	},
	{
		rule: "hard-limit", name: "committed before OutOfMemoryException",
		bad: func(h *past) {
			h.process.Limits.HardLimit = 300 * megabyte
			h.gc(2, 20*milli, condemned(clr.CondemnedLimitBeforeOOM), func(d *gclog.GCDetails) {
				d.CommittedAfter = 297 * megabyte
				d.Known |= gclog.GroupCommittedAfter
			})
		},
		good:     func(h *past) { h.healthy(25, condemned(clr.CondemnedHighMemory)) },
		severity: analysis.Error, gcs: []uint32{1},
		text: []string{"1 collection was considered the last attempt before an OutOfMemoryException by the GC; the GC had committed up to 297 MB after a collection, 99 % of the hard limit of the heap (300 MB)."},
	},
	{
		rule: "background-behind", name: "waits",
		bad: func(h *past) {
			h.gc(2, milli).run(5*time.Second).gc(2, milli).run(5*time.Second).background(milli, 500*milli, milli, func(d *gclog.GCDetails) {
				d.Background.WaitCount, d.Background.WaitMax = 2, int64(210*milli)
			})
		},
		good: func(h *past) {
			h.gc(2, milli).run(5*time.Second).gc(2, milli).run(5*time.Second).background(milli, 500*milli, milli, func(d *gclog.GCDetails) {
				d.Background.WaitCount, d.Background.WaitMax = 2, int64(190*milli)
			})
		},
		severity: analysis.Warning, gcs: []uint32{3},
		text:    []string{"Allocations of large objects waited for 1 background collection, up to 210 ms (of 1 background collection)."},
		silence: "background-behind.wait=220ms", wake: "background-behind.wait=180ms",
	},
	{
		rule: "background-behind", name: "final pause",
		bad: func(h *past) {
			times(3, func(i int) { h.run(5*time.Second).background(milli, 500*milli, time.Duration(51+i)*milli, private) })
		},
		good: func(h *past) {
			times(3, func(int) { h.run(5*time.Second).background(60*milli, 500*milli, 50*milli, private) })
		},
		severity: analysis.Warning, gcs: []uint32{3, 2, 1},
		text:    []string{"3 background collections had a second pause of up to 53 ms (of 3 background collections)."},
		silence: "background-behind.final=60ms", wake: "background-behind.final=40ms",
	},
	{
		rule: "background-behind", name: "foreground",
		bad: func(h *past) {
			times(3, func(int) {
				h.run(5 * time.Second)
				times(21, func(int) { h.gc(0, milli, foreground) })
				h.background(milli, 500*milli, milli, private)
			})
		},
		good: func(h *past) {
			times(3, func(int) {
				h.run(5 * time.Second)
				times(20, func(int) { h.gc(0, milli, foreground) })
				h.background(milli, 500*milli, milli, private)
			})
		},
		severity: analysis.Warning, gcs: []uint32{22, 44, 66},
		text:    []string{"3 background collections had more than 20 foreground collections, up to 21"},
		silence: "background-behind.foreground=21", wake: "background-behind.foreground=19",
	},
	{
		rule: "background-behind", name: "following",
		bad: func(h *past) {
			times(4, func(int) { h.run(900*milli).background(milli, 500*milli, milli, private) })
		},
		good: func(h *past) {
			times(4, func(int) { h.run(1100*milli).background(milli, 500*milli, milli, private) })
		},
		severity: analysis.Warning, gcs: []uint32{2, 3, 4},
		text:    []string{"3 background collections started within 1 s of the end of the previous one"},
		silence: "background-behind.count=4", wake: "background-behind.gap=2s",
	},
	{
		rule: "provisional-mode",
		bad: func(h *past) {
			h.healthy(20).gc(1, milli, condemned(clr.CondemnedGen1InPM)).gc(2, 90*milli, reason(clr.ReasonPMFullGC))
		},
		good:     func(h *past) { h.healthy(20).gc(2, 90*milli, condemned(clr.CondemnedMaxGenerationBudget)) },
		severity: analysis.Warning, gcs: []uint32{22, 21},
		text: []string{"2 collections followed the rules for full collections that free little, 1 of them full collections right after a gen1; they paused the program for 91 ms in total."},
	},
	{
		rule: "time-tuning",
		bad: func(h *past) {
			h.healthy(20)
			times(11, func(i int) { h.gc(1, time.Duration(i+2)*milli, dueByTime) })
		},
		good: func(h *past) {
			h.healthy(100, dueByTimeIfGen0)
			times(10, func(int) { h.gc(1, milli, dueByTime) })
		},
		severity: analysis.Info, gcs: []uint32{31, 30},
		text:    []string{"11 of 13 gen1 and gen2 collections (84.6 %) were triggered because they were due by time."},
		silence: "time-tuning.share=90%", wake: "time-tuning.share=49%",
	},
	{
		rule: "data-quality", name: "gaps",
		bad: func(h *past) {
			h.gc(0, milli).gap(gclog.Gap{Reason: gclog.GapLostEvents, LostEvents: 1234}).gap(gclog.Gap{Reason: gclog.GapMissedGCs, From: 2, To: 4})
		},
		good:     func(h *past) { h.gc(0, milli).gap(gclog.Gap{Reason: gclog.GapReattached}) },
		severity: analysis.Warning,
		text:     []string{"The data has 2 gaps: 1234 lost events, 3 missing collections."},
	},
	{
		rule: "data-quality", name: "numbers of a log without no-GC regions",
		bad: func(h *past) {
			h.gc(0, milli).gap(gclog.Gap{Reason: gclog.GapMissedGCs, From: 2, To: 4}).gap(gclog.Gap{Reason: gclog.GapLostEvents, LostEvents: 5})
			h.start(gclog.Start{CollectionsOnly: true})
		},
		good:     func(h *past) { h.gc(0, milli).start(gclog.Start{CollectionsOnly: true}) },
		severity: analysis.Warning,
		text:     []string{"The data has 2 gaps: 5 lost events, 3 missing GC numbers. No-GC regions use numbers, too, and logs of this format do not record which: some may not be collections."},
	},
	{
		rule: "data-quality", name: "incomplete",
		bad: func(h *past) {
			times(3, func(int) { h.gc(0, milli, incomplete(gclog.FlawNoEnd)) })
		},
		good: func(h *past) {
			times(5, func(int) { h.gc(0, milli, incomplete(gclog.FlawNoStart)) })
			times(2, func(int) { h.gc(0, milli, incomplete(gclog.FlawNoRestart)) })
		},
		severity: analysis.Warning, gcs: []uint32{1, 2, 3},
		text:    []string{"The data has 3 incomplete collections."},
		silence: "data-quality.incomplete=3", wake: "data-quality.incomplete=1",
	},
	{
		rule: "process-end", name: "no memory",
		bad: func(h *past) {
			h.gc(0, milli, remembers(gclog.Memory{Resident: 141 * megabyte, Cgroup: 150 * megabyte, CgroupLimit: 157 * megabyte}, 11)).run(2500*milli).end(analysis.WayOOMKilled, "was killed by the kernel, because memory ran out")
		},
		good:     func(h *past) { h.gc(0, milli).end(analysis.WayPeaceful, "exited with code 0") },
		severity: analysis.Error,
		text:     []string{"The process was killed by the kernel, because memory ran out, at 2026-01-31 14:03:02. At the latest complete collection, which ended 2.5 s before, it had 141 MB resident, the GC had committed 11 MB, and its control group used 150 MB of 157 MB."},
	},
	{
		rule: "process-end", name: "no memory for the GC",
		bad: func(h *past) {
			h.gc(2, milli, condemned(clr.CondemnedLimitBeforeOOM)).run(time.Second).gc(2, milli, incomplete(gclog.FlawNoEnd)).run(568*milli).end(analysis.WayAborted, "aborted (SIGABRT)")
		},
		good:     func(h *past) { h.gc(2, milli).end(analysis.WayPeaceful, "") },
		severity: analysis.Error, gcs: []uint32{2},
		text: []string{"The process aborted (SIGABRT), at 2026-01-31 14:03:01. Collection 2, which began 569 ms before, did not end. 1 collection was considered the last attempt before an OutOfMemoryException by the GC, the latest 1.57 s before."},
	},
	{
		rule: "process-end", name: "crash",
		bad: func(h *past) {
			h.gc(0, milli, remembers(gclog.Memory{Resident: 141 * megabyte}, 11)).gc(0, milli).end(analysis.WayCrashed, "crashed (SIGSEGV)")
		},
		good:     func(h *past) { h.end(analysis.WayPeaceful, "") },
		severity: analysis.Error, text: []string{"The process crashed (SIGSEGV), at 2026-01-31 14:03:00."},
	},
	{
		rule: "process-end", name: "kill",
		bad:      func(h *past) { h.end(analysis.WayKilled, "was killed by SIGKILL") },
		good:     func(h *past) { h.end(analysis.WayPeaceful, "was killed by SIGTERM") },
		severity: analysis.Warning, text: []string{"The process was killed by SIGKILL, at 2026-01-31 14:03:00."},
	},
}

// remembers sets the memory of the process and its control group, and what the GC has committed in MB.
func remembers(m gclog.Memory, committed uint64) change {
	return func(d *gclog.GCDetails) {
		d.Memory, d.CommittedAfter = m, committed*megabyte
		d.Known |= gclog.GroupCommittedAfter
	}
}

// private makes it a background collection with events of the private provider.
func private(d *gclog.GCDetails) { d.Background.Phase[clr.BGCBegin] = d.Start }

func dueByTime(d *gclog.GCDetails) {
	d.Global.CondemnedGenerations = clr.MakeCondemnedGenerations(0, d.Generation, 0, d.Generation)
}

func dueByTimeIfGen0(d *gclog.GCDetails) {
	if d.Generation == 0 {
		dueByTime(d)
	}
}

func incomplete(f gclog.Flaw) change {
	return func(d *gclog.GCDetails) { d.Complete, d.Flaws = false, f }
}

// pausedInAMinute returns how long the program is paused in the minute with most pauses.
func (h *past) pausedInAMinute() (most float64) {
	var list []gclog.Pause
	h.replay(silent{func(r gclog.Record) {
		if p, ok := r.(*gclog.Pause); ok {
			list = append(list, *p)
		}
	}})
	for i := range list {
		sum := 0.0
		for _, p := range list[i:] {
			if p.Start < list[i].Start+int64(time.Minute) {
				sum += float64(p.Duration)
			}
		}
		most = max(most, sum)
	}
	return most
}

// silent observes only records.
type silent struct{ observe gclog.Observer }

func (s silent) Observe(r gclog.Record)                       { s.observe(r) }
func (silent) Event(gclog.Stamp, clr.Event, *gclog.GCDetails) {}
func (silent) Damaged(string)                                 {}
func (silent) Ended(analysis.Ending)                          {}

func TestRules(t *testing.T) {
	for _, c := range ruleCases {
		name := c.rule
		if c.name != "" {
			name += "/" + c.name
		}
		t.Run(name, func(t *testing.T) {
			bad, good := newPast(), newPast()
			c.bad(bad)
			c.good(good)
			f, why := of(bad.findings(t), c.rule)
			if f == nil {
				t.Fatalf("nothing was found: %q", why)
			}
			if want := c.severity; f.Severity != want && (f.Severity != analysis.Info || bad.pausedInAMinute() >= 0.6*float64(time.Second)) {
				t.Errorf("severity is %s, want %s", f.Severity, want)
			}
			for _, part := range c.text {
				if !strings.Contains(f.Text, part) {
					t.Errorf("text is %q, want %q", f.Text, part)
				}
			}
			if rest := unproven(f); rest != "" {
				t.Errorf("%s\nhas numbers that its evidence lacks: %q", f.Text, rest)
			}
			if !strings.HasSuffix(f.Text, ".") || len(f.Evidence) == 0 || len(f.GCs) > 10 {
				t.Errorf("no whole finding: %+v", f)
			}
			if n := len(c.gcs); len(f.GCs) < n || !slices.Equal(f.GCs[:n], c.gcs) {
				t.Errorf("collections are %v, want %v first", f.GCs, c.gcs)
			}
			if f, why := of(good.findings(t), c.rule); f != nil || why != "" {
				t.Errorf("the good history is not judged good: %+v %q", f, why)
			}
			if c.silence != "" {
				if f, _ := of(bad.findings(t, c.silence), c.rule); f != nil {
					t.Errorf("found in spite of %s: %s", c.silence, f.Text)
				}
			}
			if c.wake != "" {
				if f, why := of(good.findings(t, c.wake), c.rule); f == nil {
					t.Errorf("nothing was found with %s: %q", c.wake, why)
				}
			}
		})
	}
	for _, r := range analysis.Rules() {
		if !slices.ContainsFunc(ruleCases, func(c ruleCase) bool { return c.rule == r.ID }) {
			t.Errorf("no case of %s", r.ID)
		}
	}
}

// TestCount checks that as many as a threshold says are a finding, but that there must be one.
func TestCount(t *testing.T) {
	late := func(d *gclog.GCDetails) { d.FinalizationCount = 1e6 }
	for _, c := range []struct {
		rule    string
		of      func(n int) *past // n collections with the problem
		nothing string            // the reason if there is none
	}{
		{"background-behind", func(n int) *past {
			h := newPast().gc(2, milli)
			times(n+1, func(int) { h.background(milli, milli, milli) })
			return h
		}, "no event reports whether allocations waited for background collections (level normal records that); the other checks of the rule found nothing"},
		{"too-many-gen2", func(n int) *past { return newPast().healthy(9).of(n, 2, milli) }, ""},
		{"time-tuning", func(n int) *past { return newPast().healthy(9).of(n, 1, milli, dueByTime) }, "needs 1 gen1 or gen2 collection, saw 0 that report why their generation was chosen"},
		{"finalizer-backlog", func(n int) *past { return newPast().healthy(9).of(n, 0, milli, late) }, ""},
	} {
		for n := range 4 {
			for count := range 4 {
				x, why := of(c.of(n).findings(t, c.rule+".count="+strconv.Itoa(count)), c.rule)
				if (x != nil) != (n >= max(1, count)) {
					t.Errorf("%s: %d of at least %d: %+v %q", c.rule, n, count, x, why)
				}
				if short := strings.HasPrefix(why, "needs 20 complete") || strings.HasPrefix(why, "needs 3 complete"); n == 0 && count == 0 && !short && why != c.nothing {
					t.Errorf("%s: of none it says %q", c.rule, why)
				}
			}
		}
	}
}

// TestSmallest checks that one byte counts: rules that divide by sizes only ignore what is empty.
func TestSmallest(t *testing.T) {
	burdened := func(budget uint64) change {
		return func(d *gclog.GCDetails) {
			d.Generations[0].After, d.Generations[0].Budget = 10*megabyte, budget
			d.Global.Mechanisms |= clr.MechanismDemotion
		}
	}
	crisis := func(objects, size uint64) *past {
		h := newPast().gc(2, milli)
		times(2, func(int) {
			h.gc(1, milli, generation(1, func(g *gclog.GenerationDetails) { g.ObjectsBefore, g.Survived = objects, objects }),
				generation(2, func(g *gclog.GenerationDetails) { g.Before, g.In = size, 25*megabyte }))
			h.gc(2, milli, generation(2, func(g *gclog.GenerationDetails) { g.Survived = 80 * megabyte }))
		})
		return h
	}
	for _, c := range []struct {
		rule, name string
		h          *past
		found      bool
	}{
		{"pinning", "no budget", newPast().healthy(20, burdened(0)), false},
		{"pinning", "a budget of 1 byte", newPast().healthy(20, burdened(1)), true},
		{"mid-life-crisis", "no objects", crisis(0, 100*megabyte), false},
		{"mid-life-crisis", "1 byte of objects", crisis(1, 100*megabyte), true},
		{"mid-life-crisis", "no gen2", crisis(megabyte, 0), false},
		{"mid-life-crisis", "1 byte of gen2", crisis(megabyte, 1), true},
	} {
		if x, why := of(c.h.findings(t), c.rule); (x != nil) != c.found {
			t.Errorf("%s, %s: %+v %q", c.rule, c.name, x, why)
		}
	}
}

// TestConditions checks which conditions of a single gen2 collection are a finding, and for which
// of them it counts as blocking.
func TestConditions(t *testing.T) {
	memory := []string{"memory-load-gen2", "because of a high memory load (memory-load-gen2)"}
	provisional := []string{"provisional-mode", "because full collections freed little (provisional-mode)"}
	limit := []string{"hard-limit", "at a limit or out of memory (hard-limit)"}
	fragmented := []string{"", "because gen2 was fragmented (gen2-fragmentation)"}
	want := map[clr.Condemned][]string{
		clr.CondemnedHighMemory: memory, clr.CondemnedVeryHighMemory: memory,
		clr.CondemnedFragmentedGen2HighMemory: memory, clr.CondemnedFragmentedGen2VeryHighMemory: memory,
		clr.CondemnedAlmostMaxAlloc:    {"memory-load-gen2", ""},
		clr.CondemnedAvoidUnproductive: provisional, clr.CondemnedPMInducedFull: provisional, clr.CondemnedPMAllocLOH: provisional, clr.CondemnedGen1InPM: provisional,
		clr.CondemnedBeforeOOM: limit, clr.CondemnedLimitBeforeOOM: limit, clr.CondemnedLimitLOHReclaim: limit,
		clr.CondemnedLimitLOHFragmented: {"hard-limit loh-fragmentation", "at a limit or out of memory (hard-limit)"},
		clr.CondemnedFragmentedGen2:     fragmented, clr.CondemnedFragmentedGen1ToGen2: fragmented,
		clr.CondemnedTooSmallForBackground: {"", "with a heap too small for a background collection"},
	}
	for i := range 32 {
		bit := clr.Condemned(1) << i
		h := newPast()
		times(3, func(int) {
			h.gc(2, milli, condemned(bit), func(d *gclog.GCDetails) { d.Global.PauseMode = clr.PauseModeInteractive })
		})
		var found []string
		cause := ""
		for _, x := range h.findings(t).List() {
			if x.Rule.ID != "blocking-gen2" {
				if x.Rule.ID != "too-many-gen2" {
					found = append(found, x.Rule.ID)
				}
				continue
			}
			_, cause, _ = strings.Cut(x.Text, ": 3 ")
		}
		w := want[bit]
		if w == nil {
			w = []string{"", ""}
		}
		if w[1] == "" {
			w = []string{w[0], "for another or an unknown reason"}
		}
		slices.Sort(found)
		if got := strings.Join(found, " "); got != w[0] || cause != w[1]+"." {
			t.Errorf("%v: %q, %q, want %q", bit.Names(nil), got, cause, w)
		}
	}
}

// TestLeast checks samples that are just too small for a rule, and with one more.
func TestLeast(t *testing.T) {
	crisis := func(h *past, survived uint64) {
		h.gc(1, milli, generation(1, func(g *gclog.GenerationDetails) { g.Survived = 3 * megabyte }),
			generation(2, func(g *gclog.GenerationDetails) { g.In = 25 * megabyte }))
		h.background(milli, milli, milli, generation(2, func(g *gclog.GenerationDetails) { g.Survived = survived * megabyte }))
	}
	fragmented := func(h *past, size uint64) {
		times(3, func(int) {
			h.background(milli, milli, milli, generation(2, func(g *gclog.GenerationDetails) { g.Before, g.FreeBefore = size, size/4*3 }))
		})
	}
	for _, c := range []struct {
		rule         string
		enough, less func(*past)
	}{
		{
			"blocking-gen2",
			func(h *past) { h.gc(2, milli).gc(2, milli).gc(2, milli).background(milli, milli, milli) },
			func(h *past) { h.gc(2, milli).gc(2, milli).background(milli, milli, milli) },
		},
		{
			"mid-life-crisis", // half of the gen2 collections
			func(h *past) {
				times(2, func(int) { crisis(h, 80) })
				times(2, func(int) { crisis(h, 170) })
			},
			func(h *past) {
				times(2, func(int) { crisis(h, 80) })
				times(3, func(int) { crisis(h, 170) })
			},
		},
		{
			"mid-life-crisis", // however many cannot be judged
			func(h *past) { crisis(h, 80); crisis(h, 80) },
			func(h *past) { times(5, func(int) { h.gc(2, milli) }); crisis(h, 80); crisis(h, 170) },
		},
		{
			"gen2-fragmentation",
			func(h *past) { fragmented(h, 50*megabyte) },
			func(h *past) { fragmented(h, 50*megabyte-4) },
		},
		{
			"wrong-flavour", // without DATAS: the histories of the heaps would report it
			func(h *past) { server(h, 4, 4); h.healthy(20, heaps(10, 10, 10, 10)) },
			func(h *past) { server(h, 4, 4); h.healthy(19, heaps(10, 10, 10, 10)).gc(0, milli) },
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			enough, less := newPast(), newPast()
			c.enough(enough)
			c.less(less)
			if f, why := of(enough.findings(t), c.rule); f == nil {
				t.Errorf("nothing was found: %q", why)
			}
			if f, _ := of(less.findings(t), c.rule); f != nil {
				t.Errorf("found of too little: %s", f.Text)
			}
		})
	}
}

// TestUnbounded checks that nothing is found that depends on the observed time if that is unknown.
func TestUnbounded(t *testing.T) {
	const noBounds = "logs of this format do not record when the observation started and ended"
	judge := func(c *ruleCase, history func(*past)) *analysis.Finding {
		h := newPast()
		history(h)
		f := h.findings(t)
		f.Observe(&gclog.Start{At: int64(h.now), Unbounded: true})
		x, why := of(f, c.rule)
		if x == nil && why != noBounds {
			t.Errorf("%s %s: it is not found, because %q", c.rule, c.name, why)
		}
		return x
	}
	unjudged := map[string]bool{}
	for _, c := range ruleCases {
		x := judge(&c, c.bad)
		if x == nil {
			unjudged[c.rule] = true
			continue
		}
		for _, e := range x.Evidence {
			if slices.Contains([]string{"pause.share", "duration", "induced.blocking.rate"}, e.Name) {
				t.Errorf("%s %s: %s is %v, of a time that is not known", c.rule, c.name, e.Name, e.Value)
			}
		}
	}
	for _, rule := range []string{"induced-gcs", "wrong-flavour"} {
		if !unjudged[rule] {
			t.Errorf("%s is found in all histories", rule)
		}
	}
	h := newPast()
	times(20, func(int) { h.run(100*milli).gc(0, 900*milli) })
	f := analysis.NewFindings(&h.process, analysis.Thresholds{}, analysis.Always())
	for _, call := range h.calls {
		call(f)
	}
	if x, _ := of(f, "high-pause-share"); x == nil {
		t.Error("20 s of pauses are no finding")
	}
	f.Observe(&gclog.Start{At: int64(h.now), Unbounded: true})
	if x, why := of(f, "high-pause-share"); x != nil || why != noBounds {
		t.Errorf("of less than a minute that may be longer there is %v, %q", x, why)
	}
}

// TestNumbersOnly checks that missing numbers are not a loss if no-GC regions may have used them
// up.
func TestNumbersOnly(t *testing.T) {
	h := newPast()
	h.gc(0, milli).gap(gclog.Gap{Reason: gclog.GapMissedGCs, From: 2, To: 4})
	f := h.findings(t)
	if x, _ := of(f, "data-quality"); x == nil {
		t.Error("three missing collections are no finding")
	}
	f.Observe(&gclog.Start{At: int64(h.now), CollectionsOnly: true})
	if x, why := of(f, "data-quality"); x != nil || !strings.Contains(why, "do not report the numbers that no-GC regions used") {
		t.Errorf("of a log that does not hold no-GC regions there is %v, %q", x, why)
	}
}

// TestQuickGrowth checks that large growth in a short time is found although the sample is small
// for a trend: three values, each larger, over 5 s; by a fifth and by more than 100 MB. From half
// on it is a warning.
func TestQuickGrowth(t *testing.T) {
	for _, c := range []struct {
		every  time.Duration
		sizes  []uint64 // in MB
		want   analysis.Severity
		saying string
	}{
		{30 * time.Second, []uint64{500, 601}, 0, "needs 5 gen2 collections over 10 min, saw 2 over 30 s: 500 MB, then 601 MB"},
		{30 * time.Second, []uint64{500, 550, 600}, 0, "needs 5 gen2 collections over 10 min, saw 3 over 60 s: 500 MB, then 600 MB"},
		{30 * time.Second, []uint64{500, 550, 601}, analysis.Info, "rose from 500 MB to 601 MB, 1.2 times as much"},
		{30 * time.Second, []uint64{1000, 1100, 1199}, 0, "then 1.2 GB"},
		{30 * time.Second, []uint64{1000, 1100, 1200}, analysis.Info, "rose from 1 GB to 1.2 GB, 1.2 times as much"},
		{30 * time.Second, []uint64{400, 500, 599}, analysis.Info, "1.5 times as much"},
		{30 * time.Second, []uint64{400, 500, 600}, analysis.Warning, "1.5 times as much"},
		{30 * time.Second, []uint64{400, 400, 600}, 0, "saw 3 over"},
		{30 * time.Second, []uint64{400, 600, 600}, 0, "saw 3 over"},
		{30 * time.Second, []uint64{400, 401, 600}, analysis.Warning, "1.5 times as much"},
		{30 * time.Second, []uint64{0, 60, 120}, analysis.Warning, "rose from 0 B to 120 MB; this is too little data for a trend"},
		{2500 * milli, []uint64{400, 500, 600}, analysis.Warning, "After 3 gen2 collections in 5 s"},
		{2499 * milli, []uint64{400, 500, 600}, 0, "saw 3 over 5 s"},
		{30 * time.Second, []uint64{400, 650, 380, 600}, 0, "saw 4 over"},
	} {
		h := newPast()
		for _, size := range c.sizes {
			h.run(c.every-milli).gc(2, milli, func(d *gclog.GCDetails) {
				d.Generations[gclog.Gen2].ObjectsAfter, d.Generations[gclog.LOH].ObjectsAfter = size*megabyte, 0
			})
		}
		x, text := of(h.findings(t), "memory-growth")
		severity := analysis.Severity(0)
		if x != nil {
			severity, text = x.Severity, x.Text
		}
		if severity != c.want || !strings.Contains(text, c.saying) {
			t.Errorf("%v every %v: %v %q, want %v %q", c.sizes, c.every, severity, text, c.want, c.saying)
		}
	}
}

// TestAdviceOfEnd checks that the advice is that for how the process ended, and none that takes a running
// process is given for one that is not.
func TestAdviceOfEnd(t *testing.T) {
	for way, want := range map[analysis.Way]string{
		analysis.WayKilled: "The journal, ", analysis.WayOOMKilled: "If most of the resident memory ",
		analysis.WayAborted: "The exception is ", analysis.WayCrashed: "Set DOTNET_DbgEnableMiniDump=1 ",
	} {
		x, _ := of(newPast().end(way, "ended").findings(t), "process-end")
		if x == nil || !strings.HasPrefix(x.Advice, want) || strings.Count(x.Advice, ": ") > 0 || !strings.Contains(x.Rule.Advice, x.Advice) {
			t.Errorf("way %d: %+v", way, x)
		}
	}
	for _, text := range []string{"", "exited with code 0"} {
		h := newPast()
		for size := range uint64(3) {
			h.run(29*time.Second).gc(2, milli, func(d *gclog.GCDetails) { d.Generations[gclog.Gen2].ObjectsAfter = (size + 4) * 100 * megabyte })
		}
		x, _ := of(h.end(analysis.WayPeaceful, text).findings(t), "memory-growth")
		if x == nil || strings.HasPrefix(x.Advice, "The process has ended: do this when it runs again. Compare ") != (text != "") || strings.Contains(x.Text, "gclog gc ") != (text == "") {
			t.Errorf("%q: %+v", text, x)
		}
	}
}

// TestLimitWithoutSizes checks that the finding mentions no size if none is reported.
func TestLimitWithoutSizes(t *testing.T) {
	unsized := func(d *gclog.GCDetails) {
		d.Flaws, d.Complete = gclog.FlawNoSizes, false
		d.Known &^= gclog.GroupAfter
	}
	h := newPast()
	h.process.Limits.HardLimit = 1
	h.healthy(30, unsized)
	if x, why := of(h.findings(t), "hard-limit"); x != nil || why != "" {
		t.Errorf("%+v %q", x, why)
	}
	h.gc(2, milli, unsized, condemned(clr.CondemnedBeforeOOM))
	if x, why := of(h.findings(t), "hard-limit"); x == nil || x.Text != "1 collection was considered the last attempt before an OutOfMemoryException by the GC." || x.Evidence[0].Name != "collections.before-oom" {
		t.Errorf("%+v %q", x, why)
	}
}

// TestLimitUnknown checks that one of the conditions of a last attempt implies a hard limit.
func TestLimitUnknown(t *testing.T) {
	for c, want := range map[clr.Condemned]string{
		clr.CondemnedBeforeOOM:      "no limit is reported",
		clr.CondemnedLimitBeforeOOM: "the hard limit is not reported",
	} {
		h := newPast().gc(2, milli, condemned(c|clr.CondemnedHighMemory))
		if x, why := of(h.findings(t), "hard-limit"); x == nil || !strings.HasSuffix(x.Text, "; the heap was up to 265 MB after a collection; "+want+".") {
			t.Errorf("%v: %+v %q", c.Names(nil), x, why)
		}
	}
}

// TestSlowBesideLarge checks that collections that were slower because they promoted more do not
// hide one that was slow without a reason, however close their sizes are.
func TestSlowBesideLarge(t *testing.T) {
	for _, size := range []uint64{2 * megabyte, 3 * megabyte, 5 * megabyte, 6 * megabyte, 7 * megabyte} {
		h := newPast().healthy(60, promoted(size)).of(5, 0, 60*milli, promoted(size*31/20)).gc(0, 30*milli, promoted(size)).of(5, 0, 60*milli, promoted(size*31/20))
		if x, why := of(h.findings(t), "random-slow-gc"); x == nil || !slices.Equal(x.GCs, []uint32{66}) {
			t.Errorf("%d bytes: %+v %q", size, x, why)
		}
	}
}
