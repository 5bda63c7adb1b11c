package parquet

import (
	"bytes"
	"encoding/binary"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// pageBytes is the size from which a page is written, before compression. Pages of 128 KB make files 1 to 9 %
// smaller, but those of all columns are in memory: 20 MB more. The first one of a column in a row group is
// smaller, by a different amount for each column: if all columns filled their pages at the same row, the
// encoder would be idle until then, and adding rows would wait for it afterwards.
const pageBytes = 48 << 10

// A leaf is a column of a file, with the page that is being filled. A column with lists has levels
// instead of known: see the Parquet format, Nested Encoding.
type leaf struct {
	kind Type
	from int // the first row of the page
	most int // the size from which the page is written
	page page

	path       []string
	number     int
	plain      bool // texts without a dictionary, because they are all different
	next       int  // the row after the last one that has levels
	dictionary map[string]int32
	texts      []byte // of the dictionary
	last       []byte // the text that was added last, and its index
	lastIndex  int32
}

// A page is what an encoder needs of a page.
type page struct {
	values      int     // that are not null
	data        []byte  // values that are no indexes
	known       bitmap  // which rows have a value; nil: the first ones
	indexes     []int32 // in the dictionary
	rows        int     // or, in a list, elements and nulls
	leaf        int
	repetitions []byte
	definitions []byte
}

// A bitmap is a list of bits.
type bitmap []byte

// set sets bit i, and extends the list.
func (m *bitmap) set(i int) {
	for len(*m) <= i/8 {
		*m = append(*m, 0)
	}
	(*m)[i/8] |= 1 << (i % 8)
}

// first returns a bitmap whose first n bits are set.
func first(n int) (m bitmap) {
	for i := range n {
		m.set(i)
	}
	return m
}

func (x *leaf) hasLists() bool { return x.kind == Texts || x.kind == Labels }
func (x *leaf) isText() bool   { return x.kind == Text || x.hasLists() }

// reset forgets the row group of a file with a number of leaves.
func (x *leaf) reset(leaves int) {
	x.from, x.next = 0, 0
	x.most = pageBytes * (x.number + 1) / leaves
	if x.isText() && !x.plain {
		x.dictionary, x.texts, x.last = map[string]int32{}, nil, nil
	}
}

// full reports whether the page is large enough.
func (x *leaf) full() bool {
	return len(x.page.data)+4*len(x.page.indexes)+len(x.page.definitions) >= x.most
}

// take returns the page, which contains the rows before row.
func (x *leaf) take(row int) page {
	if x.hasLists() {
		x.skip(row)
	}
	p := x.page
	p.leaf, p.rows = x.number, row-x.from
	if x.hasLists() {
		p.rows = len(p.definitions)
	} else if p.known == nil && p.values > 0 && p.values < p.rows {
		p.known = first(p.values)
	}
	for p.known != nil && len(p.known) < (p.rows+7)/8 {
		p.known = append(p.known, 0)
	}
	x.from, x.most = row, pageBytes
	return p
}

// addText adds a text to the current row.
func (x *leaf) addText(w *fileWriter, text []byte) {
	x.putText(w.rows, text)
	if x.full() {
		w.endPage(x, w.rows+1)
	}
}

// putBits adds a value that is no text to a row.
func (x *leaf) putBits(row int, v uint64) {
	p := &x.page
	if p.known != nil || row-x.from != p.values {
		x.know(row)
	}
	if x.kind == Flag {
		p.data = appendBit(p.data, p.values, v != 0)
	} else {
		p.data = binary.LittleEndian.AppendUint64(p.data, v)
	}
	p.values++
}

// know notes that a row has a value, and that one before it has none.
func (x *leaf) know(row int) {
	if x.page.known == nil {
		x.page.known = first(x.page.values)
	}
	x.page.known.set(row - x.from)
}

// appendBit appends bit i of a list.
func appendBit(dst []byte, i int, bit bool) []byte {
	if i%8 == 0 {
		dst = append(dst, 0)
	}
	if bit {
		dst[i/8] |= 1 << (i % 8)
	}
	return dst
}

func (x *leaf) putText(row int, text []byte) {
	if x.page.known != nil || row-x.from != x.page.values {
		x.know(row)
	}
	x.value(text)
}

// value adds a text to the page.
func (x *leaf) value(text []byte) {
	x.page.values++
	if x.plain {
		x.page.data = append(binary.LittleEndian.AppendUint32(x.page.data, uint32(len(text))), text...)
		return
	}
	if x.last == nil || !bytes.Equal(x.last, text) {
		index, known := x.dictionary[string(text)]
		if !known {
			index = int32(len(x.dictionary))
			x.dictionary[string(text)] = index
			x.texts = append(binary.LittleEndian.AppendUint32(x.texts, uint32(len(text))), text...)
		}
		x.last, x.lastIndex = append(x.last[:0], text...), index
	}
	x.page.indexes = append(x.page.indexes, x.lastIndex)
}

// Levels of lists, and of the keys and values of maps: an absent list, an empty one, and an element.
const (
	levelNull    = 0
	levelEmpty   = 1
	levelElement = 2
)

// addEmpty adds an empty list as that of a row.
func (x *leaf) addEmpty(row int) {
	x.skip(row)
	x.next = row + 1
	x.page.repetitions = append(x.page.repetitions, 0)
	x.page.definitions = append(x.page.definitions, levelEmpty)
}

// addElement adds the element i of the list of a row.
func (x *leaf) addElement(row, i int, text []byte) {
	if i == 0 {
		x.skip(row)
		x.next = row + 1
	}
	x.page.repetitions = append(x.page.repetitions, byte(min(i, 1)))
	x.page.definitions = append(x.page.definitions, levelElement)
	x.value(text)
}

// skip adds that the rows before row that have no list have none.
func (x *leaf) skip(row int) {
	for ; x.next < row; x.next++ {
		x.page.repetitions = append(x.page.repetitions, 0)
		x.page.definitions = append(x.page.definitions, levelNull)
	}
}

// physical returns the type of the values of a column in a file.
func physical(t Type) format.Type {
	switch t {
	case Text, Texts, Labels:
		return format.ByteArray
	case Double:
		return format.Double
	case Flag:
		return format.Boolean
	}
	return format.Int64
}

// schemaOf returns the schema of a column, and the paths of its leaves.
func schemaOf(column int, c *Column) (elements []format.SchemaElement, leaves [][]string) {
	e := format.SchemaElement{Name: c.Name, RepetitionType: thrift.New(format.Optional)}
	if column <= columnID {
		e.RepetitionType = thrift.New(format.Required)
	}
	text := format.SchemaElement{
		Type: thrift.New(format.ByteArray), RepetitionType: thrift.New(format.Required),
		ConvertedType: thrift.New(deprecated.UTF8), LogicalType: format.LogicalType{Value: &format.StringType{}},
	}
	group := func(name string, converted deprecated.ConvertedType, logical format.LogicalTypeValue, members ...string) {
		e.NumChildren, e.ConvertedType, e.LogicalType = thrift.New(int32(1)), thrift.New(converted),
			format.LogicalType{Value: logical}
		elements = append(elements, e, format.SchemaElement{
			Name:           name,
			RepetitionType: thrift.New(format.Repeated),
			NumChildren:    thrift.New(int32(len(members))),
		})
		for _, member := range members {
			text.Name = member
			elements = append(elements, text)
			leaves = append(leaves, []string{c.Name, name, member})
		}
	}
	switch c.Type {
	case Texts:
		group("list", deprecated.List, &format.ListType{}, "element")
		return elements, leaves
	case Labels:
		group("key_value", deprecated.Map, &format.MapType{}, "key", "value")
		return elements, leaves
	case Text:
		e.ConvertedType, e.LogicalType = text.ConvertedType, text.LogicalType
	case Timestamp:
		e.ConvertedType = thrift.New(deprecated.TimestampMicros)
		e.LogicalType = format.LogicalType{Value: &format.TimestampType{
			IsAdjustedToUTC: true,
			Unit:            format.TimeUnit{Value: &format.MicroSeconds{}},
		}}
	}
	e.Type = thrift.New(physical(c.Type))
	return []format.SchemaElement{e}, [][]string{{c.Name}}
}
