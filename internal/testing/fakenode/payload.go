//go:build linux

package fakenode

import (
	"encoding/binary"
	"time"

	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse/clr"
)

// kinds returns the metadata at the start of a session.
func kinds() []nettracetest.Kind {
	runtime := func(id, version uint32) nettracetest.Kind {
		return nettracetest.Kind{ID: id, Provider: clr.RuntimeProvider, EventID: id, Version: version, Level: clr.LevelInformational, Keywords: clr.KeywordGC}
	}
	return []nettracetest.Kind{
		runtime(clr.IDGCStart, 2), runtime(clr.IDGCEnd, 1), runtime(clr.IDGCRestartEEEnd, 1), runtime(clr.IDGCHeapStats, 2),
		runtime(clr.IDGCRestartEEBegin, 1), runtime(clr.IDGCSuspendEEEnd, 1), runtime(clr.IDGCSuspendEEBegin, 1), runtime(clr.IDGCTriggered, 0),
		runtime(clr.IDGCPerHeapHistory, 3), runtime(clr.IDGCGlobalHeapHistory, 4), rundownSettings(),
	}
}

// rundownSettings returns the metadata of the event with the GC's settings at the end of a session.
func rundownSettings() nettracetest.Kind {
	const id = 1000 // of the metadata: the event's own is in use
	return nettracetest.Kind{ID: id, Provider: clr.RundownProvider, EventID: clr.IDRundownGCSettings, Level: clr.LevelInformational, Keywords: clr.KeywordGC}
}

func appendSettings(b []byte) []byte {
	b = le64(b, 0, 85_000, 0, 256<<10, 6<<20)
	b = le32(b, 90, 0)
	return append(b, 0, 0)
}

// appendHead writes the start of a stream that was opened at that time of the monotonic clock.
func appendHead(w *nettracetest.V4, pid int, opened int64) {
	w.Begin(nettracetest.Clock{
		Time: time.Now(), Ticks: opened, PerSecond: int64(time.Second), PointerSize: 8, ProcessID: uint32(pid), Processors: 2,
	})
	w.Metadata(kinds()...)
}

// appendPayload appends the payload of an event. Sizes are computed from the collection's number,
// so that every session receives the same.
func (e *event) appendPayload(b []byte, heaps int) []byte {
	const reasonAllocSmall = 0
	size := uint64(e.number%64+16) << 18 // of the heap after the collection
	switch e.id {
	case clr.IDGCSuspendEEBegin:
		count := e.number - 1
		if e.reason == clr.SuspendForGCPrep { // in the middle of a background collection
			count = e.number
		}
		b = le32(b, uint32(e.reason), count)
	case clr.IDGCTriggered:
		b = le32(b, reasonAllocSmall)
	case clr.IDGCStart:
		b = le32(b, e.number, uint32(e.gen), reasonAllocSmall, uint32(e.kind))
		b = append(b, 0, 0)
		return le64(b, 0)
	case clr.IDGCEnd:
		b = le32(b, e.number, uint32(e.gen))
	case clr.IDGCHeapStats:
		b = le64(b, size/4, 1<<16, size/4, 1<<16, size/4, 1<<16, size/4, 0, 0, 0)
		b = le32(b, 3, 1, 200)
		b = append(b, 0, 0)
		return le64(b, 0, 0)
	case clr.IDGCGlobalHeapHistory:
		mechanisms := clr.MechanismPromotion
		if e.kind == Background {
			mechanisms |= clr.MechanismConcurrent
		}
		b = le64(b, 6<<20)
		b = le32(b, uint32(heaps), uint32(e.gen), 0, reasonAllocSmall, uint32(mechanisms))
		b = append(b, 0, 0)
		b = le32(b, 1, 40, 0, 0, 5, 10, 20, 30, 40, 50) // interactive, 40 % of the memory in use, five times
	case clr.IDGCPerHeapHistory:
		b = append(b, 0, 0)
		b = le64(b, 0, 0, 0, 0, 0, 0)
		b = le32(b, 80, 0, 0, 0, 0, uint32(e.heap))
		b = le64(b, 0)
		b = le32(b, clr.Generations)
		share := size / 4 / uint64(heaps)
		for g := range uint64(clr.Generations) {
			if g == clr.POH {
				share = 0
			}
			before := share
			if g == clr.Gen0 {
				before += 6 << 20
			}
			b = le64(b, before, 0, 0, share, share/16, 0, 0, 0, share, 6<<20)
		}
		return b
	}
	return append(b, 0, 0) // the instance of the runtime
}

func le32(b []byte, vs ...uint32) []byte {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func le64(b []byte, vs ...uint64) []byte {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}
