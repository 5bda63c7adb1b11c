package analysis

// pageSize is the number of items in a page.
const pageSize = 256

// pages is a list that grows by pages, so that it never has to be copied.
type pages[T any] struct {
	list []*[pageSize]T
	n    int // items
}

func (p *pages[T]) add(x T) {
	if p.n == len(p.list)*pageSize {
		p.list = append(p.list, new([pageSize]T))
	}
	p.n++
	*p.at(p.n - 1) = x
}

func (p *pages[T]) at(i int) *T { return &p.list[uint(i)/pageSize][uint(i)%pageSize] }

// drop removes the pages before an item for reuse, and returns how many items they had.
func (p *pages[T]) drop(before int) (dropped int) {
	for ; dropped+pageSize <= before; dropped += pageSize {
		first := p.list[0]
		copy(p.list, p.list[1:])
		p.list[len(p.list)-1] = first
	}
	p.n -= dropped
	return dropped
}
