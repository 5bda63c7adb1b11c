package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// limits are the smallest and the largest value of a column in a row group. Engines skip the row
// groups that cannot contain what a query is about.
type limits struct {
	known     bool
	low, high []byte // as in a file
}

// addPage adds the values of a page that are no indexes.
func (l *limits) addPage(kind Type, data []byte, values int) {
	switch kind {
	case Integer, Timestamp:
		if len(data) > 0 {
			low, high := int64(math.MaxInt64), int64(math.MinInt64)
			for at := 0; at < len(data); at += 8 {
				v := int64(binary.LittleEndian.Uint64(data[at:]))
				low, high = min(low, v), max(high, v)
			}
			l.add(binary.LittleEndian.AppendUint64(nil, uint64(low)), compareIntegers)
			l.add(binary.LittleEndian.AppendUint64(nil, uint64(high)), compareIntegers)
		}
	case Double:
		for ; len(data) > 0; data = data[8:] {
			l.add(data[:8], compareDoubles)
		}
	case Flag:
		for i := range values { // not the bits that fill the last byte
			l.add([]byte{data[i/8] >> (i % 8) & 1}, bytes.Compare)
		}
	default:
		l.addTexts(data)
	}
}

// addTexts adds texts, each after its length.
func (l *limits) addTexts(data []byte) {
	for len(data) > 0 {
		end := 4 + binary.LittleEndian.Uint32(data)
		l.add(data[4:end], bytes.Compare)
		data = data[end:]
	}
}

func (l *limits) add(v []byte, compare func(a, b []byte) int) {
	if !l.known || compare(v, l.low) < 0 {
		l.low = append(l.low[:0], v...)
	}
	if !l.known || compare(v, l.high) > 0 {
		l.high = append(l.high[:0], v...)
	}
	l.known = true
}

func compareIntegers(a, b []byte) int {
	return cmp.Compare(int64(binary.LittleEndian.Uint64(a)), int64(binary.LittleEndian.Uint64(b)))
}

func compareDoubles(a, b []byte) int {
	x, y := math.Float64frombits(binary.LittleEndian.Uint64(a)), math.Float64frombits(binary.LittleEndian.Uint64(b))
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// statistics returns the limits for a row group. A file must not have those of a column with NaN.
func (l *limits) statistics(kind Type, nulls int64) format.Statistics {
	s := format.Statistics{NullCount: nulls}
	if l.known && !(kind == Double && (isNaN(l.low) || isNaN(l.high))) {
		s.MinValue, s.MaxValue = bytes.Clone(l.low), bytes.Clone(l.high)
	}
	return s
}

func isNaN(v []byte) bool { return math.IsNaN(math.Float64frombits(binary.LittleEndian.Uint64(v))) }
