package analysis

// A Number is a value that may be unknown.
type Number struct {
	Value float64
	Unit  string // "ns", "bytes", "bytes/s", "%", "%/h", "1/min", or "" of counts and ratios
	Why   string // why it is unknown, in a sentence without full stop; "" if it is known
	// AtMost is an upper limit of an unknown value, 0 if there is none.
	AtMost float64
}

// Known reports whether the value is known.
func (n Number) Known() bool { return n.Why == "" }

// Text formats the value with three digits; "n/a" if it is unknown.
func (n Number) Text() string {
	if !n.Known() {
		return "n/a"
	}
	return valueText(n.Value, n.Unit)
}

func (n Number) in(unit string) Number {
	n.Unit = unit
	return n
}

func known(v float64) Number { return Number{Value: v} }

func unknown(why string) Number { return Number{Why: why} }

func nanoseconds(n int64) Number { return known(float64(n)).in("ns") }

// ratio returns a / b, unknown if there is nothing to divide by.
func ratio(a, b float64, why string) Number {
	if b <= 0 {
		return unknown(why)
	}
	return known(a / b)
}

// A Quantity is the sum, mean and maximum of something over the collections that report it.
type Quantity struct {
	Count uint64 `json:"count"` // collections that report it
	Total Number `json:"total"`
	Mean  Number `json:"-"` // Total / Count
	Max   Number `json:"max"`
}

func (q Quantity) in(unit string) Quantity {
	q.Total.Unit, q.Mean.Unit, q.Max.Unit = unit, unit, unit
	return q
}

// A tally sums values. Sums of integers are exact up to 2⁵³: 104 days in nanoseconds, 9 PB.
type tally struct {
	n        uint64
	sum, max float64
}

func (t *tally) add(v float64) {
	if t.n == 0 || v > t.max {
		t.max = v
	}
	t.n++
	t.sum += v
}

func (t *tally) quantity(why string) Quantity {
	if t.n == 0 {
		return Quantity{Total: unknown(why), Mean: unknown(why), Max: unknown(why)}
	}
	return Quantity{t.n, known(t.sum), known(t.sum / float64(t.n)), known(t.max)}
}
