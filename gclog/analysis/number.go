package analysis

// A Number is a value that may be unknown. Its unit is said where it stands.
type Number struct {
	Value float64
	Why   string // it is unknown, in a sentence without full stop; "": it is known
	// AtMost is a limit of one that is unknown, 0 if there is none.
	AtMost float64
}

// Known reports whether the value is known.
func (n Number) Known() bool { return n.Why == "" }

// Text is the value for people, with three digits; "n/a" if it is not known. unit is
// that of its Metric.
func (n Number) Text(unit string) string {
	if !n.Known() {
		return "n/a"
	}
	return valueText(n.Value, unit)
}

func known(v float64) Number { return Number{Value: v} }

func unknown(why string) Number { return Number{Why: why} }

// ratio is a / b, unknown where there is nothing to divide by.
func ratio(a, b float64, why string) Number {
	if b <= 0 {
		return unknown(why)
	}
	return known(a / b)
}

// A Quantity is what the collections of a class come to in one respect. Those that
// do not tell it are left out of it.
type Quantity struct {
	Told  uint64 // collections that told it
	Total Number
	Mean  Number // Total / Told
	Max   Number
}

// A tally adds values up. Sums of whole numbers are exact up to 2⁵³: 104 days in
// nanoseconds, 9 PB.
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
		return unknownQuantity(why)
	}
	return Quantity{t.n, known(t.sum), known(t.sum / float64(t.n)), known(t.max)}
}

func unknownQuantity(why string) Quantity {
	return Quantity{Total: unknown(why), Mean: unknown(why), Max: unknown(why)}
}
