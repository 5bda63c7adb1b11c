package heap

// A Count is a number of objects and the bytes that they occupy.
type Count struct {
	Objects uint64
	Bytes   uint64 // Space of all
}

func (c *Count) add(space uint64) {
	c.Objects++
	c.Bytes += space
}

// A TypeCount says how many objects of a type there are.
type TypeCount struct {
	Count
	RawBytes    uint64 // Size of all
	References  uint64 // from them
	Generations [UnknownGeneration + 1]Count
}

// Histogram counts the objects of each type, reachable or not. The result is indexed as Types.
func (g *Graph) Histogram() []TypeCount {
	list := make([]TypeCount, len(g.Types))
	for i := range g.address {
		o := Object(i)
		space := g.Space(o)
		c := &list[g.typ[i]]
		c.add(space)
		c.RawBytes += g.Size(o)
		c.References += uint64(g.first[i+1] - g.first[i])
		c.Generations[g.Generation(o)].add(space)
	}
	return list
}
