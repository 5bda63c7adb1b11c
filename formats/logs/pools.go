package logs

import (
	"github.com/gclog/gclog/gclog"
)

// pools are the sizes as JDK logs have them, in KiB.
type pools struct {
	young, old, heap          sizes // gen0 and gen1; gen2, large and pinned objects; all
	hasYoung, hasOld, hasHeap bool
	large                     sizes // of old, large and pinned objects, where that is known
	capacity                  int64 // of the heap
}

// divide finds the pool that is missing, if one is.
func (p *pools) divide() {
	switch {
	case !p.hasHeap || p.hasYoung == p.hasOld:
	case p.hasYoung:
		p.old, p.hasOld = p.heap.without(p.young)
	default:
		p.young, p.hasYoung = p.heap.without(p.old)
	}
}

type sizes struct{ before, after int64 }

// without is what remains without a part of it; ok is false if that is none.
func (s sizes) without(part sizes) (rest sizes, ok bool) {
	rest = sizes{s.before - part.before, s.after - part.after}
	if rest.before < 0 || rest.after < 0 {
		return sizes{}, false
	}
	return rest, true
}

// needed is the capacity that the sizes need at least.
func (p *pools) needed() int64 {
	return max(p.heap.before, p.heap.after, max(p.young.before, p.young.after)+max(p.old.before, p.old.after))
}

func (p *pools) setSizes(d *gclog.GCDetails) {
	if !p.hasYoung || !p.hasOld {
		p.heap.set(&d.Generations[gclog.Gen2])
		return
	}
	p.young.set(&d.Generations[gclog.Gen0])
	if rest, ok := p.old.without(p.large); ok {
		rest.set(&d.Generations[gclog.Gen2])
		p.large.set(&d.Generations[gclog.LOH])
	} else {
		p.old.set(&d.Generations[gclog.Gen2])
	}
}

func (s sizes) set(g *gclog.GenerationDetails) {
	g.Before, g.After = uint64(s.before)*kibibyte, uint64(s.after)*kibibyte
}

const (
	kibibyte = 1024
	maxKiB   = 1 << 50 // sums of sizes stay within 63 bits
)

// size reads a number of KiB with the K behind it.
func size(b []byte) (kib int64, rest []byte, ok bool) {
	v, rest, ok := number(b)
	if !ok || v >= maxKiB || len(rest) == 0 || rest[0] != 'K' {
		return 0, b, false
	}
	return int64(v), rest[1:], true
}

// pair reads 28672K->3072K.
func pair(b []byte) (s sizes, rest []byte, ok bool) {
	if s.before, rest, ok = size(b); !ok {
		return s, b, false
	}
	if rest, ok = literal(rest, "->"); !ok {
		return s, b, false
	}
	s.after, rest, ok = size(rest)
	return s, rest, ok
}

// bounded reads (73728K).
func bounded(b []byte) (capacity int64, rest []byte, ok bool) {
	if rest, ok = literal(b, "("); !ok {
		return 0, b, false
	}
	if capacity, rest, ok = size(rest); !ok {
		return 0, b, false
	}
	rest, ok = literal(rest, ")")
	return capacity, rest, ok
}

// bounds reads 28672K->3072K(73728K).
func bounds(b []byte) (s sizes, capacity int64, rest []byte, ok bool) {
	if s, rest, ok = pair(b); !ok {
		return s, 0, b, false
	}
	capacity, rest, ok = bounded(rest)
	return s, capacity, rest, ok
}
