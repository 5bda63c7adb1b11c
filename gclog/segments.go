package gclog

import "github.com/gclog/gclog/parse/clr"

// segments counts the memory that the heap acquires and releases.
type segments struct {
	now     SegmentDetails    // since the previous collection
	seen    bool              // the session has seen a segment created or freed
	size    map[uint64]uint64 // by address, of those whose creation the session saw
	regions bool              // a region was created
}

// smallestSegment is less than the runtime's smallest segment, unless GCSegmentSize is set, and more
// than a region for small objects, which has 4 MB or less.
const smallestSegment = 16 << 20

// maxSegments limits how many are remembered: 256 GB of regions.
const maxSegments = 1 << 16

func (s *segments) create(e *clr.GCCreateSegment) {
	s.seen = true
	s.regions = s.regions || e.Size < smallestSegment
	s.now.Created++
	s.now.CreatedBytes += e.Size
	if s.size == nil {
		s.size = map[uint64]uint64{}
	}
	if len(s.size) < maxSegments {
		s.size[e.Address] = e.Size
	}
}

func (s *segments) free(e *clr.GCFreeSegment) {
	s.seen = true
	s.now.Freed++
	s.now.FreedBytes += s.size[e.Address]
	delete(s.size, e.Address)
}

// since moves the counts to c, unless c is nil, and starts over.
func (s *segments) since(c *collection) {
	if c != nil {
		c.Known.Set(GroupSegments, s.seen)
		c.Segments.Created, c.Segments.Freed = s.now.Created, s.now.Freed
		c.Segments.CreatedBytes, c.Segments.FreedBytes = s.now.CreatedBytes, s.now.FreedBytes
	}
	s.now = SegmentDetails{}
}

// generationRange records the address ranges of the heap. They are reported twice: when a
// collection starts and, after its history, when it is done. The second report counts.
func (r *Reducer) generationRange(e *clr.GCGenerationRange) {
	c := r.current()
	if c == nil {
		return
	}
	d := &c.Segments
	if c.Known.Has(GroupGlobal) && !c.walked {
		c.walked = true
		d.Reserved, d.Used, d.Count = 0, 0, 0
	}
	c.Known |= GroupReserved
	d.Reserved += e.Reserved
	d.Used += e.Used
	d.Count++
}
