package parse

// A label list of V6 holds facts that rows share: activity ids, and sometimes
// what the metadata leaves out. Of it only the version is kept: it decides how
// a payload is decoded.
type labelList struct{ version int }

// Kinds of the items of a label list; the high bit marks the last of a list.
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

// parseLabels reads the lists of a LabelList block and puts them under their ids
// from the block's first one on. An item of an unknown kind has no size: the
// rest of the block is given up, and rows that refer to it have empty labels.
func (r *Reader) parseLabels(b []byte) string {
	c := cursor{b: b}
	first, n := c.u32(), c.u32()
	if c.bad {
		return "the head of the block is incomplete"
	}
	for i := range n {
		l, versioned, known := parseLabelList(&c)
		if c.bad {
			return "a label list ends behind the block"
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

// parseLabelList reads one, and reports whether it has a version and all kinds in it are known.
func parseLabelList(c *cursor) (l labelList, versioned, known bool) {
	for {
		kind := c.u8() // 0, of which there is no item, after the end
		switch kind &^ labelLast {
		case labelActivity, labelRelated, labelTrace:
			c.skip(16)
		case labelSpan, labelKeywords:
			c.skip(8)
		case labelString:
			c.utf8()
			c.utf8()
		case labelNumber:
			// one-collect writes "Version" as a plain varint where the format says
			// zigzag, so the number cannot be told from its neighbour: 2 reads as 1,
			// 1 as -1. Not used; payload length decides.
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
