package parse

// A labelList of V6 holds properties that rows share: activity ids, and sometimes values that the
// metadata lacks. Only the version is kept, because it decides how a payload is decoded.
type labelList struct{ version int }

// Kinds of the items of a label list; the high bit marks the last item of a list.
const (
	labelActivity = 1
	labelRelated  = 2
	labelTrace    = 3
	labelSpan     = 4
	labelString   = 5
	labelNumber   = 6
	labelOpcode   = 7
	labelKeywords = 8
	labelLevel    = 9
	labelVersion  = 10
	labelLast     = 0x80
	maxLabelLists = 1 << 20
)

// parseLabels reads the lists of a LabelList block and stores them under consecutive ids, starting
// with the block's first id. An item of an unknown kind has no size, so the rest of the block is
// skipped, and rows that refer to it have no labels.
func (r *Reader) parseLabels(b []byte) string {
	c := cursor{b: b}
	first, n := c.u32(), c.u32()
	if c.bad {
		return "the head of the block is incomplete"
	}
	for i := range n {
		l, versioned, known := parseLabelList(&c)
		if c.bad {
			return "a label list ends after the end of the block"
		}
		if !known {
			r.stats.SkippedLabels += int64(n - i)
			return ""
		}
		if len(r.labels) >= maxLabelLists {
			return "more than 1048576 label lists between two sequence points"
		}
		if versioned {
			r.labels[first+i] = l
		}
	}
	return ""
}

// parseLabelList reads one label list. It reports whether the list has a version, and whether all
// its item kinds are known.
func parseLabelList(c *cursor) (l labelList, versioned, known bool) {
	for {
		kind := c.u8() // 0 if c is past its end; no item has kind 0
		switch kind &^ labelLast {
		case labelActivity, labelRelated, labelTrace:
			c.skip(16)
		case labelSpan, labelKeywords:
			c.skip(8)
		case labelString:
			c.utf8()
			c.utf8()
		case labelNumber:
			// one-collect writes "Version" as a plain varint where the format requires zigzag
			// encoding, so the number is ambiguous: 2 reads as 1, and 1 as -1. It is ignored; the
			// payload's length decides.
			c.utf8()
			c.uvarint()
		case labelOpcode, labelLevel:
			c.u8()
		case labelVersion:
			l.version, versioned = int(c.u8()), true
		default:
			return l, versioned, false
		}
		if kind&labelLast != 0 {
			return l, versioned, true
		}
	}
}
