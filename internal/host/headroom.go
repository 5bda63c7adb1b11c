package host

// A Room is a limit of the memory that a process can take.
type Room struct {
	Of    string // "the host", "its control group", "the process"
	Limit uint64 // bytes
	Used  uint64 // bytes, without what the kernel can reclaim at once
}

// Free returns how many bytes there are left.
func (r *Room) Free() uint64 { return r.Limit - min(r.Used, r.Limit) }
