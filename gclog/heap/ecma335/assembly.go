package ecma335

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math/bits"
	"strings"
)

// An Assembly is the metadata of an assembly. It reads from its file when it is asked; it is not
// safe for concurrent use.
type Assembly struct {
	tables  [numTables]table
	heaps   map[byte]input // by the letter of their columns
	outer   []uint32       // the enclosing class of each type, once it was asked for
	generic []bool         // types with type parameters, likewise
	threads []bool         // fields with [ThreadStatic], likewise
}

// A table of the metadata.
type table struct {
	rows    int
	columns []column
	row     int64 // bytes
	data    input
	read    []byte // data, once it was needed
}

// A column is a part of each row.
type column struct {
	at, size int64
	tables   []int // the tables that it refers to
}

// Open reads the head of an assembly of size bytes. The error is ErrNoMetadata if it is none.
func Open(r io.ReaderAt, size int64) (*Assembly, error) {
	m, err := metadata(input{r, size})
	if err != nil {
		return nil, err
	}
	return open(m)
}

// open reads the root of the metadata: the list of its streams.
func open(m input) (*Assembly, error) {
	root, err := m.bytes(0, 16)
	if err != nil {
		return nil, err
	}
	if le.Uint32(root) != 0x424a5342 {
		return nil, damage("the metadata begins with 0x%x", root[:4])
	}
	at := 16 + int64(le.Uint32(root[12:])) // after the version
	b, err := m.bytes(at, 4)
	if err != nil {
		return nil, err
	}
	at += 4
	a := &Assembly{heaps: map[byte]input{}}
	var tables input
	for range le.Uint16(b[2:]) {
		stream, name, size, err := readStream(m, at)
		if err != nil {
			return nil, err
		}
		at += size
		switch name {
		case "#~", "#-":
			tables = stream
		case "#Strings":
			a.heaps['s'] = stream
		case "#GUID":
			a.heaps['g'] = stream
		case "#Blob":
			a.heaps['b'] = stream
		}
	}
	if tables.r == nil {
		return nil, damage("the metadata has no tables")
	}
	return a, a.open(tables)
}

// readStream reads the head of a stream at an offset, and returns its own size as well.
func readStream(m input, at int64) (stream input, name string, size int64, err error) {
	const longest = 32
	head, err := m.bytes(at, min(8+longest, max(m.size-at, 0)))
	if err != nil {
		return input{}, "", 0, err
	}
	if len(head) < 8 {
		return input{}, "", 0, damage("the list of streams exceeds the metadata")
	}
	n := bytes.IndexByte(head[8:], 0)
	if n < 0 {
		return input{}, "", 0, damage("the name of a stream has no end")
	}
	stream, err = m.part(int64(le.Uint32(head)), int64(le.Uint32(head[4:])))
	return stream, string(head[8 : 8+n]), 8 + int64(n+4)&^3, err
}

// open reads the head of the tables.
func (a *Assembly) open(m input) error {
	head, err := m.bytes(0, 24)
	if err != nil {
		return err
	}
	heapSizes, valid := head[6], le.Uint64(head[8:])
	at := int64(24)
	counts, err := m.bytes(at, 4*int64(bits.OnesCount64(valid)))
	if err != nil {
		return err
	}
	at += int64(len(counts))
	if heapSizes&0x40 != 0 {
		at += 4
	}
	for i := range 64 {
		if valid&(1<<i) == 0 {
			continue
		}
		if n := le.Uint32(counts); n >= 1<<24 {
			return damage("table 0x%x has %d rows", i, n)
		} else if i < numTables {
			a.tables[i].rows = int(n)
		}
		counts = counts[4:]
	}
	for i := range a.tables {
		t := &a.tables[i]
		t.layOut(columns[i], heapSizes, &a.tables)
		if t.data, err = m.part(at, t.row*int64(t.rows)); err != nil {
			return err
		}
		at += t.data.size
	}
	return nil
}

// layOut determines the columns of a table.
func (t *table) layOut(kinds string, heapSizes byte, tables *[numTables]table) {
	for _, kind := range kinds {
		c := column{at: t.row, size: 2}
		switch kind {
		case '2':
		case '4':
			c.size = 4
		case 's', 'g', 'b':
			if heapSizes&(1<<strings.IndexRune("sgb", kind)) != 0 {
				c.size = 4
			}
		default:
			c.tables = rowIndexes[kind]
			for _, i := range c.tables {
				if i >= 0 && tables[i].rows >= 1<<(16-tagBits(len(c.tables))) {
					c.size = 4
				}
			}
		}
		t.columns = append(t.columns, c)
		t.row += c.size
	}
}

// load reads a table.
func (a *Assembly) load(number int) (t *table, err error) {
	t = &a.tables[number]
	if t.read == nil && t.rows > 0 {
		t.read, err = t.data.bytes(0, t.data.size)
	}
	return t, err
}

// cell returns a value of a row that exists. Rows count from 1.
func (t *table) cell(row, col int) uint32 {
	c := t.columns[col]
	b := t.read[int64(row-1)*t.row+c.at:]
	if c.size == 2 {
		return uint32(le.Uint16(b))
	}
	return le.Uint32(b)
}

// A reference is a row of a table; row 0 is none.
type reference struct{ table, row int }

// reference returns what a column refers to.
func (t *table) reference(row, col int) reference {
	tables := t.columns[col].tables
	return decodeReference(t.cell(row, col), tables)
}

func decodeReference(v uint32, tables []int) reference {
	n := tagBits(len(tables))
	if tag := int(v & (1<<n - 1)); tag < len(tables) {
		return reference{tables[tag], int(v >> n)}
	}
	return reference{tableNone, 0}
}

// exists reports whether there is such a row.
func (a *Assembly) exists(r reference) bool {
	return r.table >= 0 && r.row > 0 && r.row <= a.tables[r.table].rows
}

// maxName is the length of the longest name that the runtime accepts, in bytes.
const maxName = 1023

// string returns a string of the heap.
func (a *Assembly) string(index uint32) (string, error) {
	heap := a.heaps['s']
	for size := int64(64); ; size *= 4 {
		b, err := heap.bytes(int64(index), min(size, max(heap.size-int64(index), 1)))
		if err != nil {
			return "", err
		}
		if name, _, ok := bytes.Cut(b, []byte{0}); ok {
			return string(name), nil
		}
		if size > maxName || int64(len(b)) < size {
			return "", damage("the name at %d has no end", index)
		}
	}
}

// ID returns the identifier of the build (MVID), in hexadecimal: two files with the same one have
// the same metadata.
func (a *Assembly) ID() (string, error) {
	t, err := a.load(tableModule)
	if err != nil || t.rows == 0 {
		return "", errors.Join(err, damage("it has no module"))
	}
	const guid = 16
	b, err := a.heaps['g'].bytes((int64(t.cell(1, 2))-1)*guid, guid)
	return hex.EncodeToString(b), err
}
