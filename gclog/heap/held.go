package heap

import (
	"encoding/binary"

	"github.com/gclog/gclog/parse/clr"
)

// heldNodes are objects that wait to be counted until it is known which generations they were in:
// with server GC other threads write that, and in the stream it may come after tens of megabytes of
// objects. The objects take a fifth of their size in the stream.
type heldNodes struct {
	blocks [][]byte
	last   uint64 // address of the latest object
}

const (
	heldBlock  = 64 << 10
	heldBlocks = 96                        // 6 MB, about a million objects
	heldMost   = 4 * binary.MaxVarintLen64 // bytes of an object
)

// add adds an object, whose TypeID is the number of its type, and reports whether there was room.
func (h *heldNodes) add(n clr.Node) bool {
	i := len(h.blocks) - 1
	if i < 0 || len(h.blocks[i])+heldMost > heldBlock {
		if len(h.blocks) == heldBlocks {
			return false
		}
		h.blocks = append(h.blocks, make([]byte, 0, heldBlock))
		i++
	}
	b := binary.AppendVarint(h.blocks[i], int64(n.Address-h.last))
	b = binary.AppendUvarint(b, n.TypeID)
	b = binary.AppendUvarint(b, n.Size)
	h.blocks[i] = binary.AppendUvarint(b, n.Edges)
	h.last = n.Address
	return true
}

// each calls f with the objects in their order.
func (h *heldNodes) each(f func(clr.Node)) {
	var n clr.Node
	for _, b := range h.blocks {
		for len(b) > 0 {
			distance, i := binary.Varint(b)
			n.Address += uint64(distance)
			b = b[i:]
			for _, v := range []*uint64{&n.TypeID, &n.Size, &n.Edges} {
				*v, i = binary.Uvarint(b)
				b = b[i:]
			}
			f(n)
		}
	}
}
