package logs

import (
	"bytes"
	"math"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// stats is the contents of a DotNet line:
//
//	gen0 blocking compacting, reason=AllocSmall, gen0=2560K->56K, …, suspend=0.025ms, workers=1
type stats struct {
	generation       int
	kind             gclog.Kind
	compacting       bool
	knownMechanism   bool // compacting is known
	reason           clr.Reason
	hasReason        bool
	heapDump         bool
	heapDumpBy       gclog.Requester
	sizes            [gclog.Generations]sizes
	generations      int // how many entries of sizes are set
	promoted         int64
	hasPromoted      bool
	fragmentation    int64
	hasFragmentation bool
	committed        int64
	hasCommitted     bool
	before           int64 // committed before; 0: same as committed, or unknown
	peak             int64 // 0: unknown
	flaws            gclog.Flaw
	suspend          int64
	hasSuspend       bool
	workers          int32 // 0: unknown
}

func readStats(b []byte) (s stats, ok bool) {
	head, b, ok := cutComma(b)
	if !ok || !s.readHead(head) {
		return s, false
	}
	return s, eachField(b, s.read)
}

// readHead reads gen0 blocking compacting.
func (s *stats) readHead(b []byte) bool {
	b, ok := literal(b, "gen")
	if !ok {
		return false
	}
	generation, b, ok := number(b)
	if !ok || generation > math.MaxUint8 {
		return false
	}
	s.generation = int(generation)
	if b, ok = literal(b, " "); !ok {
		return false
	}
	kind, mechanism, _ := bytes.Cut(b, space)
	switch string(kind) {
	case "blocking":
	case "background":
		s.kind = gclog.KindBackground
	case "foreground":
		s.kind = gclog.KindForeground
	default:
		return false
	}
	switch string(mechanism) {
	case "compacting":
		s.compacting, s.knownMechanism = true, true
	case "sweeping":
		s.knownMechanism = true
	case "":
	default:
		return false
	}
	return true
}

func (s *stats) read(key, b []byte) (ok bool) {
	switch string(key) {
	case "reason":
		s.reason, s.hasReason = clr.ParseReason(b)
		return s.hasReason
	case "heap_dump":
		s.heapDump = true
		s.heapDumpBy, _ = gclog.ParseRequester(b)
		return true
	case "gen0", "gen1", "gen2":
		return s.readSizes(int(key[3]-'0'), b)
	case "loh":
		return s.readSizes(gclog.LOH, b)
	case "poh":
		return s.readSizes(gclog.POH, b)
	case "promoted":
		s.promoted, b, s.hasPromoted = size(b)
		return s.hasPromoted && len(b) == 0
	case "fragmentation":
		s.fragmentation, b, s.hasFragmentation = size(b)
		return s.hasFragmentation && len(b) == 0
	case "committed":
		s.committed, b, s.hasCommitted = size(b)
		return s.hasCommitted && len(b) == 0
	case "committed_before":
		s.before, b, ok = size(b)
		return ok && len(b) == 0
	case "peak":
		s.peak, b, ok = size(b)
		return ok && len(b) == 0
	case "flaws":
		for name := range bytes.SplitSeq(b, []byte{'+'}) {
			f, ok := gclog.ParseFlaw(name)
			if !ok {
				return false
			}
			s.flaws |= f
		}
		return true
	case "suspend":
		s.suspend, b, ok = millis(b)
		s.hasSuspend = true
		return ok && len(b) == 0
	case "workers":
		return readWorkers(&s.workers, b)
	}
	return true // from a later version
}

func (s *stats) readSizes(g int, b []byte) (ok bool) {
	s.sizes[g], b, ok = pair(b)
	s.generations = max(s.generations, g+1)
	return ok && len(b) == 0
}

func (s *stats) fill(d *gclog.GCDetails) {
	d.Reason, d.HasReason = s.reason, s.hasReason
	d.HeapDump, d.HeapDumpBy = s.heapDump, s.heapDumpBy
	d.Global.Heaps = s.workers
	d.Flaws |= s.flaws
	if d.HasCompaction = s.knownMechanism; s.compacting {
		d.Global.Mechanisms = clr.MechanismCompaction
	}
	if s.generations > 0 {
		d.GenerationCount = s.generations
		d.HasBefore, d.HasSizesAfter = true, true
		for g := range s.sizes {
			s.sizes[g].set(&d.Generations[g])
		}
	}
	d.PromotedBytes, d.HasPromoted = uint64(s.promoted)*kibibyte, s.hasPromoted
	d.Generations[gclog.Gen2].Fragmentation, d.HasFragmentation = uint64(s.fragmentation)*kibibyte, s.hasFragmentation
	d.Peak = uint64(s.peak) * kibibyte
	d.CommittedAfter, d.HasCommittedAfter = uint64(s.committed)*kibibyte, s.hasCommitted
	if s.before > 0 {
		d.CommittedBefore, d.HasCommittedBefore = uint64(s.before)*kibibyte, true
	}
}
