package parse

// Call stacks.
//
// Rows refer to stacks by numbers, which Stack blocks in front of them define. A sequence point ends all
// numbers, so a stack is looked up when the row is read: its addresses wait behind the payload.

// Limits of the stacks that are kept. A runtime writes at most 100 frames for a stack, and some hundred
// stacks between two sequence points.
const (
	maxFrames     = 1024 // of a stack; the outer ones are cut off
	maxStacks     = 200_000
	maxStackBytes = 32 << 20 // of all stacks between two sequence points
	stackUnit     = 4        // bytes; the size of a stack in a row is in these
)

// KeepStacks makes the Reader deliver the call stack of each event. It must be called before the first
// Scan. It takes up to 40 MB.
func (r *Reader) KeepStacks() { r.stacks = &stackTable{spans: map[uint32]span{}} }

// A stackTable has the stacks since the last sequence point. A nil table keeps none.
type stackTable struct {
	b     []byte
	spans map[uint32]span // of b, by the number of the stack; none for an empty stack
}

type span struct{ from, to uint32 }

// of returns the addresses of a stack. They are valid until the next block is read.
func (t *stackTable) of(id uint32) []byte {
	if t == nil || id == 0 {
		return nil
	}
	s := t.spans[id]
	return t.b[s.from:s.to:s.to]
}

// end ends all numbers.
func (t *stackTable) end() {
	if t != nil {
		t.b = t.b[:0]
		clear(t.spans)
	}
}

// add keeps a stack, and reports whether there was room.
func (t *stackTable) add(id uint32, addresses []byte) bool {
	if len(t.spans) >= maxStacks || len(t.b)+len(addresses) > maxStackBytes {
		return false
	}
	at := uint32(len(t.b))
	t.b = append(t.b, addresses...)
	t.spans[id] = span{at, uint32(len(t.b))}
	return true
}

// parseStacks walks a Stack block: u32 first id, u32 count, then stacks that each start with a u32
// size in bytes and contain the addresses of their frames, the innermost first.
func (r *Reader) parseStacks(b []byte) string {
	c := cursor{b: b}
	first, n := c.u32(), c.u32()
	for i := uint32(0); i < n && !c.bad; i++ {
		addresses := c.take(uint64(c.u32()))
		if r.stacks == nil || len(addresses) == 0 {
			continue
		}
		size := r.trace.PointerSize
		kept := addresses[:min(len(addresses), maxFrames*size)]
		if len(addresses)%size != 0 || !r.stacks.add(first+i, kept) {
			r.stats.SkippedStacks++
		}
	}
	if c.bad {
		return "a stack goes beyond the end of its block"
	}
	return ""
}
