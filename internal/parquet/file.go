package parquet

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The maximum number of rows of a row group, and about how long it may be in bytes: its compressed
// pages are in memory until it is complete. Other writers have groups of up to a million rows, which
// would take hundreds of MB here; beyond 8 MB files get less than 1 % smaller.
const (
	groupRows  = 64 << 10
	groupBytes = 8 << 20
)

// application is who wrote a file, in its footer.
const application = "gclog"

// sortedBy are the columns that the rows of a file are sorted by, before the time: see Sorter.
var sortedBy = []string{
	"service_name", "orchestrator_namespace", "orchestrator_resource_name", "host_name", "process_pid",
}

// A fileWriter writes a Parquet file. Values go straight from the rows to the pages of their columns;
// those that all rows of a process have are added when another process follows. An encoder, in a
// goroutine of its own, compresses the pages and writes the row groups.
//
// The writer is gclog's own because all others take a value for each null, and half of the 260 values of a
// row are null. parquet-go has typed buffers of columns, but only its reflection over structs can put a null
// into them: that took twice the time and 80 MB more. Its Writer of values, 24 bytes each, took five times
// the time. arrow-go took 1.9 times the memory, and makes the program 22 MB larger.
type fileWriter struct {
	encoder *encoder
	leaves  []leaf
	first   []int // the first leaf of each column of the table
	rows    int   // of the current row group
	text    []byte

	process *Process
	since   int // the first row of the process whose values the leaves do not have yet
	same    []cell
}

// A cell is a value that all rows of a process have.
type cell struct {
	leaf   *leaf
	bits   uint64
	texts  [][]byte
	isText bool
}

// newFileWriter returns a fileWriter. If described is set, the file says what its columns are: that is
// 20 KB.
func newFileWriter(to io.Writer, version string, described bool) *fileWriter {
	w := &fileWriter{}
	meta := format.FileMetaData{
		Version: 2, CreatedBy: application + " version " + version,
		Schema: thrift.Slice[format.SchemaElement]{{Name: application, NumChildren: thrift.New(int32(len(table)))}},
		KeyValueMetadata: thrift.Slice[format.KeyValue]{
			{Key: "gclog.schema", Value: Schema},
			{Key: "gclog.units", Value: unitsText()},
		},
	}
	if described {
		meta.KeyValueMetadata = append(meta.KeyValueMetadata,
			format.KeyValue{Key: "gclog.descriptions", Value: descriptionsText()})
	}
	for i, c := range table {
		w.first = append(w.first, len(w.leaves))
		elements, leaves := schemaOf(i, &c)
		meta.Schema = append(meta.Schema, elements...)
		for _, path := range leaves {
			x := leaf{kind: c.Type, path: path, plain: i == columnID}
			meta.ColumnOrders = append(meta.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
			w.leaves = append(w.leaves, x)
		}
	}
	for i := range w.leaves {
		w.leaves[i].number = i
		w.leaves[i].reset(len(w.leaves))
	}
	w.encoder = newEncoder(to, meta, w.leaves)
	return w
}

// IsOurs reports whether gclog wrote a Parquet file of this size.
func IsOurs(f io.ReaderAt, size int64) bool {
	// The footer ends with who wrote it, and a few bytes for each column.
	begin, end := make([]byte, len(magic)), make([]byte, min(size, 16<<10))
	if _, err := f.ReadAt(begin, 0); err != nil || string(begin) != magic {
		return false
	}
	if _, err := f.ReadAt(end, size-int64(len(end))); err != nil {
		return false
	}
	return bytes.HasSuffix(end, []byte(magic)) && bytes.Contains(end, []byte(application+" version "))
}

// unitsText returns the units of the columns that have one, and descriptionsText what the columns are,
// as JSON objects by name.
func unitsText() string {
	return byName(func(c *Column) string { return c.Unit })
}

func descriptionsText() string {
	return byName(func(c *Column) string { return c.Doc })
}

func byName(text func(*Column) string) string {
	all := map[string]string{}
	for i := range table {
		if s := text(&table[i]); s != "" {
			all[table[i].Name] = s
		}
	}
	b, _ := json.Marshal(all) // always succeeds
	return string(b)
}

// add adds a row of a process.
func (w *fileWriter) add(p *Process, r row) error {
	if p != w.process {
		w.repeat()
		w.process, w.same = p, w.ofProcess(w.same[:0], p)
	}
	at := &w.leaves[columnTime]
	at.putBits(w.rows, uint64(microseconds(uint64(r.time()))))
	if at.full() {
		w.endPage(at, w.rows+1)
	}
	w.leaves[columnAction].addText(w, []byte(actionNames[r.action()]))
	w.text = hex.AppendEncode(w.text[:0], r.id())
	w.leaves[columnID].addText(w, w.text)
	column := 0
	for rest := r[rowHead:]; len(rest) > 0; {
		distance, n := uvarint(rest)
		column += int(distance)
		rest = w.take(&w.leaves[w.first[column]], rest[n:])
	}
	w.rows++
	if w.rows == groupRows || w.encoder.waiting.Load() > groupBytes {
		w.endGroup()
	}
	return w.encoder.failed()
}

// uvarint is binary.Uvarint, which is not inlined; most values of a row are one or two bytes long.
func uvarint(b []byte) (uint64, int) {
	if len(b) > 1 {
		if b[0] < 0x80 {
			return uint64(b[0]), 1
		}
		if b[1] < 0x80 {
			return uint64(b[0]&0x7f) | uint64(b[1])<<7, 2
		}
	}
	return binary.Uvarint(b)
}

// take adds the value of a column, and returns what follows it.
func (w *fileWriter) take(x *leaf, b row) row {
	var v uint64
	switch x.kind {
	case Text:
		size, n := uvarint(b)
		end := n + int(size)
		x.addText(w, b[n:end])
		return b[end:]
	case Texts:
		count, n := uvarint(b)
		b = b[n:]
		if count == 0 {
			x.addEmpty(w.rows)
		}
		for i := range int(count) {
			size, n := uvarint(b)
			end := n + int(size)
			x.addElement(w.rows, i, b[n:end])
			b = b[end:]
		}
		if x.full() {
			w.endPage(x, w.rows+1)
		}
		return b
	case Double:
		v, b = binary.LittleEndian.Uint64(b), b[8:]
	default:
		var n int
		v, n = uvarint(b)
		b = b[n:]
		if x.kind == Timestamp {
			v = uint64(microseconds(v))
		}
	}
	x.putBits(w.rows, v)
	if len(x.page.data) >= x.most {
		w.endPage(x, w.rows+1)
	}
	return b
}

// microseconds returns nanoseconds as microseconds, rounded down.
func microseconds(ns uint64) int64 {
	us := int64(ns) / 1000
	if int64(ns)%1000 < 0 {
		us--
	}
	return us
}

// ofProcess returns what all rows of a process have.
func (w *fileWriter) ofProcess(list []cell, p *Process) []cell {
	for i, c := range table {
		x := &w.leaves[w.first[i]]
		switch {
		case c.textOfProcess != nil:
			if text := cleanText(c.textOfProcess(p)); text != "" {
				list = append(list, cell{leaf: x, isText: true, texts: [][]byte{[]byte(text)}})
			}
		case c.ofProcess != nil:
			v, known := c.ofProcess(p)
			switch {
			case !known:
				continue
			case c.Type == Integer && !c.signed:
				v = min(v, math.MaxInt64)
			case c.Type == Timestamp:
				v = uint64(microseconds(v))
			}
			list = append(list, cell{leaf: x, bits: v})
		case c.labels != nil && len(p.Labels) > 0:
			keys, values := cell{leaf: x}, cell{leaf: &w.leaves[w.first[i]+1]}
			for _, name := range slices.Sorted(maps.Keys(p.Labels)) {
				keys.texts = append(keys.texts, []byte(cleanText(name)))
				values.texts = append(values.texts, []byte(cleanText(p.Labels[name])))
			}
			list = append(list, keys, values)
		}
	}
	return list
}

// repeat adds the values that all rows of the process have, for those rows that lack them.
func (w *fileWriter) repeat() {
	for _, c := range w.same {
		for at := w.since; at < w.rows; at++ {
			switch {
			case c.isText:
				c.leaf.putText(at, c.texts[0])
			case c.texts != nil:
				for i, text := range c.texts {
					c.leaf.addElement(at, i, text)
				}
			default:
				c.leaf.putBits(at, c.bits)
			}
			if c.leaf.full() {
				w.endPage(c.leaf, at+1)
			}
		}
	}
	w.since = w.rows
}

// endPage ends the page of a leaf in front of a row.
func (w *fileWriter) endPage(x *leaf, row int) {
	p := x.take(row)
	x.page = w.encoder.emptyPage(&p)
	if p.rows > 0 {
		w.encoder.page(p)
	}
}

// endGroup ends a row group.
func (w *fileWriter) endGroup() {
	w.repeat()
	for i := range w.leaves {
		w.endPage(&w.leaves[i], w.rows)
	}
	w.encoder.group(w.leaves, w.rows)
	for i := range w.leaves {
		w.leaves[i].reset(len(w.leaves))
	}
	w.rows, w.since = 0, 0
}

// close writes what is left, and the end of the file.
func (w *fileWriter) close() error {
	if w.rows > 0 {
		w.endGroup()
	}
	return w.encoder.close()
}
