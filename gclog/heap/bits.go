package heap

// bits is a set of objects.
type bits []uint64

func newBits(objects int) bits { return make(bits, (objects+63)/64) }

func (b bits) has(o Object) bool { return b[o/64]&(1<<(o%64)) != 0 }

func (b bits) set(o Object) { b[o/64] |= 1 << (o % 64) }

func (b bits) clear(o Object) { b[o/64] &^= 1 << (o % 64) }
