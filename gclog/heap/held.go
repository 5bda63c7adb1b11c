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
	h.blocks[i] = appendVarints(h.blocks[i], n.Address-h.last, n.TypeID, n.Size, n.Edges)
	h.last = n.Address
	return true
}

// each calls f with the objects in their order.
func (h *heldNodes) each(f func(clr.Node)) {
	address := uint64(0)
	for _, b := range h.blocks {
		for len(b) > 0 {
			address += takeVarint(&b)
			f(clr.Node{Address: address, TypeID: takeVarint(&b), Size: takeVarint(&b), Edges: takeVarint(&b)})
		}
	}
}

// appendVarints packs numbers, most of which are small, for takeVarint.
func appendVarints(b []byte, values ...uint64) []byte {
	for _, v := range values {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

func takeVarint(b *[]byte) uint64 {
	v, n := binary.Uvarint(*b)
	*b = (*b)[n:]
	return v
}
