package analysis

import "github.com/gclog/gclog/gclog"

// A ranking contains the ten collections with the largest weights. Of equal ones the earlier comes
// first.
type ranking struct {
	n    int
	list [10]ranked
}

type ranked struct {
	number uint32
	weight float64
}

// add adds a collection. If it is there already, its larger weight counts; a collection without a
// number is ignored.
func (r *ranking) add(d *gclog.GCDetails, weight float64) {
	if d != nil && d.Known.Has(gclog.GroupNumber) {
		r.addNumber(d.Number, weight)
	}
}

func (r *ranking) addNumber(number uint32, weight float64) {
	i := r.n
	for j := range r.list[:r.n] {
		if r.list[j].number == number {
			i, weight = j, max(weight, r.list[j].weight)
		}
	}
	switch {
	case i < r.n: // it moves up
	case r.n < len(r.list):
		r.n++
	case r.list[r.n-1].weight >= weight:
		return
	default:
		i = r.n - 1
	}
	for ; i > 0 && r.list[i-1].weight < weight; i-- {
		r.list[i] = r.list[i-1]
	}
	r.list[i] = ranked{number, weight}
}

func (r *ranking) numbers() (list []uint32) {
	for _, x := range r.list[:r.n] {
		list = append(list, x.number)
	}
	return list
}
