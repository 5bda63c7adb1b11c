package ecma335

import (
	"bytes"
	"encoding/binary"
)

// A crafted is a small assembly that a test writes. Rows are lists of values in the order of the
// columns; their sizes are those of the schema.
type crafted struct {
	plus    bool // PE32+
	wide    bool // all heaps have indexes of 4 bytes
	pointer bool // the table of fields is used through FieldPtr
	padding int  // further fields of <Module>, to make indexes wide
	tables  [numTables][][]uint32
	strings bytes.Buffer
	blobs   bytes.Buffer
}

func (c *crafted) text(s string) uint32 {
	if c.strings.Len() == 0 {
		c.strings.WriteByte(0)
	}
	if s == "" {
		return 0
	}
	at := c.strings.Len()
	c.strings.WriteString(s + "\x00")
	return uint32(at)
}

func (c *crafted) blob(b ...byte) uint32 {
	if c.blobs.Len() == 0 {
		c.blobs.WriteByte(0)
	}
	at := c.blobs.Len()
	c.blobs.WriteByte(byte(len(b)))
	c.blobs.Write(b)
	return uint32(at)
}

func (c *crafted) row(table int, values ...uint32) {
	c.tables[table] = append(c.tables[table], values)
}

// example fills the tables:
//
//	namespace N;
//	class Outer<T> { class Inner<U> { static string generic; } }
//	class Plain { static string text; static int number; [ThreadStatic] static object own;
//	    const string literal; string instance; static Plain plain; static List<int> list;
//	    static volatile Guid id; class Deep { class Deeper : Deep {} } }
//	interface IFace {}
//	class Publisher { event Handler<int> Changed; event Handler<int> Custom { add {} remove {} };
//	    static event Handler<int> Shared; Handler<int> own; int Named; event Handler<int> Named { ... } }
//	class Special : Publisher {}
func (c *crafted) example() *crafted {
	fields := uint32(1 + c.padding)
	c.row(tableModule, 0, c.text("tiny.dll"), 1, 0, 0)
	assembly := uint32(1)<<2 | 2
	c.row(tableTypeRef, assembly, c.text("Object"), c.text("System"))
	c.row(tableTypeRef, assembly, c.text("ThreadStaticAttribute"), c.text("System"))
	c.row(tableTypeRef, assembly, c.text("List`1"), c.text("System.Collections.Generic"))
	c.row(tableTypeRef, assembly, c.text("Guid"), c.text("System"))
	c.row(tableTypeRef, 4<<2|3, c.text("Part"), 0) // Guid+Part
	c.row(tableTypeRef, assembly, c.text("Handler`1"), c.text("System"))
	object := uint32(1<<2 | 1)
	n := c.text("N")
	c.row(tableTypeDef, 0, c.text("<Module>"), 0, 0, 1, 1)
	c.row(tableTypeDef, 1, c.text("Outer`1"), n, object, fields, 1)
	c.row(tableTypeDef, 2, c.text("Inner`1"), 0, object, fields, 1)
	c.row(tableTypeDef, 1, c.text("Plain"), n, object, fields+1, 1)
	c.row(tableTypeDef, 2, c.text("Deep"), 0, object, fields+10, 1)
	c.row(tableTypeDef, 2, c.text("Deeper"), 0, 5<<2, fields+10, 1)
	c.row(tableTypeDef, 0x20, c.text("IFace"), n, 0, fields+10, 1)
	c.row(tableTypeDef, 1, c.text("Publisher"), n, object, fields+10, 1)
	c.row(tableTypeDef, 1, c.text("Special"), n, 8<<2, fields+14, 1)
	for range c.padding {
		c.row(tableField, 0, 0, 0)
	}
	static := func(flags uint32, name string, signature ...byte) {
		c.row(tableField, flags, c.text(name), c.blob(append([]byte{6}, signature...)...))
	}
	static(0x10, "generic", 0x0e)
	static(0x10, "text", 0x0e)
	static(0x10, "number", 0x08)
	static(0x10, "own", 0x1c)
	static(0x50, "literal", 0x0e)
	static(0, "instance", 0x0e)
	static(0x10, "plain", 0x12, 4<<2)
	static(0x10, "list", 0x15, 0x12, 3<<2|1, 1, 8)
	static(0x10, "id", 0x1f, 2<<2|1, 0x11, 4<<2|1)
	static(0x10, "face", 0x12, 7<<2)
	handler := []byte{0x15, 0x12, 6<<2 | 1, 1, 8}
	static(0x11, "Shared", handler...)
	static(1, "Changed", handler...)
	static(1, "own", handler...)
	static(1, "Named", 0x08)
	c.row(tableEventMap, 8, 1)
	for _, name := range []string{"Changed", "Custom", "Shared", "Named"} {
		c.row(tableEvent, 0, c.text(name), 6<<2|1)
	}
	if c.pointer {
		for i := range c.tables[tableField] {
			c.row(tableFieldPtr, uint32(i+1))
		}
	}
	c.row(tableMemberRef, 2<<3|1, c.text(".ctor"), c.blob(0x20, 0, 1))
	c.row(tableAttribute, (fields+3)<<5|1, 1<<3|3, 0)
	c.row(tableNestedClass, 3, 2)
	c.row(tableNestedClass, 5, 4)
	c.row(tableNestedClass, 6, 5)
	for i, owner := range []uint32{2, 3, 3} {
		c.row(tableGenericParam, uint32(i/2), 0, owner<<1, 0)
	}
	return c
}

func u16(b *bytes.Buffer, v ...uint32) {
	for _, v := range v {
		_ = binary.Write(b, le, uint16(v))
	}
}

func u32(b *bytes.Buffer, v ...uint32) {
	for _, v := range v {
		_ = binary.Write(b, le, v)
	}
}

// stream returns the tables.
func (c *crafted) stream() []byte {
	var b bytes.Buffer
	var valid uint64
	heaps := byte(0)
	if c.wide {
		heaps = 7
	}
	var tables [numTables]table
	for i, rows := range c.tables {
		tables[i].rows = len(rows)
		if len(rows) > 0 {
			valid |= 1 << i
		}
	}
	u32(&b, 0)
	b.Write([]byte{2, 0, heaps, 1})
	_ = binary.Write(&b, le, valid)
	u32(&b, 0, 0)
	for _, rows := range c.tables {
		if len(rows) > 0 {
			u32(&b, uint32(len(rows)))
		}
	}
	for i, rows := range c.tables {
		tables[i].layOut(columns[i], heaps, &tables)
		for _, values := range rows {
			for k, v := range values {
				if tables[i].columns[k].size == 2 {
					u16(&b, v)
				} else {
					u32(&b, v)
				}
			}
		}
	}
	return b.Bytes()
}

// metadata returns the root of the metadata and its streams.
func (c *crafted) metadata() []byte {
	tables := "#~"
	if c.pointer {
		tables = "#-"
	}
	names := []string{tables, "#Strings", "#GUID", "#Blob"}
	data := [][]byte{c.stream(), c.strings.Bytes(), bytes.Repeat([]byte{0xab}, 16), c.blobs.Bytes()}
	var b, heads bytes.Buffer
	u32(&b, 0x424a5342, 0x10001, 0, 8)
	b.WriteString("v4.0.30\x00")
	u16(&b, 0, uint32(len(names)))
	at := b.Len()
	for _, name := range names {
		at += 8 + (len(name)+4)&^3
	}
	for i, name := range names {
		u32(&heads, uint32(at), uint32(len(data[i])))
		heads.WriteString(name + "\x00\x00\x00\x00"[:4-len(name)%4])
		at += len(data[i])
	}
	b.Write(heads.Bytes())
	for _, d := range data {
		b.Write(d)
	}
	return b.Bytes()
}

// bytes returns the PE file.
func (c *crafted) bytes() []byte {
	const header, address = 0x200, 0x2000
	metadata := c.metadata()
	var b bytes.Buffer
	b.WriteString("MZ")
	b.Write(make([]byte, 0x3c-2))
	u32(&b, 0x40)
	b.WriteString("PE\x00\x00")
	optional, magic := 96, uint32(0x10b)
	if c.plus {
		optional, magic = 112, 0x20b
	}
	u16(&b, 0x14c, 1)
	u32(&b, 0, 0, 0)
	u16(&b, uint32(optional+16*8), 0x2000)
	u16(&b, magic)
	b.Write(make([]byte, optional-2-4))
	u32(&b, 16)
	b.Write(make([]byte, cliDirectory*8))
	u32(&b, address, cliHeaderSize)
	u32(&b, 0, 0)
	b.WriteString(".text\x00\x00\x00")
	size := uint32(cliHeaderSize + len(metadata))
	u32(&b, size, address, size, header, 0, 0, 0, 0)
	b.Write(make([]byte, header-b.Len()))
	u32(&b, cliHeaderSize, 0x50002, address+cliHeaderSize, uint32(len(metadata)))
	b.Write(make([]byte, cliHeaderSize-16))
	b.Write(metadata)
	return b.Bytes()
}

// host returns a program of a kind whose writable data is some padding, 8 bytes for the offset of the
// list, which begin at at, and the signature.
func host(kind string, padding int) (program []byte, at int) {
	var b bytes.Buffer
	const data = 0x200
	size := uint32(padding + 8 + len(bundleSignature))
	segment := func(flags uint32, offset, size uint32) { // of 64-bit ELF
		u32(&b, 1, flags, offset, 0, 0, 0, 0, 0, size, 0, size, 0, 0x1000, 0)
	}
	switch kind {
	case "ELF":
		b.WriteString("\x7fELF\x02\x01\x01")
		b.Write(make([]byte, 32-b.Len()))
		u32(&b, 64, 0, 0, 0, 0)
		u16(&b, 64, 56, 3, 0, 0, 0)
		segment(5, 0, data)
		segment(6, 0, 16)
		segment(6, data, size)
	case "ELF32":
		b.WriteString("\x7fELF\x01\x01\x01")
		b.Write(make([]byte, 28-b.Len()))
		u32(&b, 52, 0, 0)
		u16(&b, 52, 32, 1, 0, 0, 0)
		u32(&b, 1, data, 0, 0, size, size, 6, 0x1000)
	case "PE":
		b.WriteString("MZ")
		b.Write(make([]byte, 0x3c-2))
		u32(&b, 0x40)
		b.WriteString("PE\x00\x00")
		u16(&b, 0x8664, 2)
		u32(&b, 0, 0, 0)
		u16(&b, 112, 0x22, 0x20b)
		b.Write(make([]byte, 110))
		b.WriteString(".text\x00\x00\x00")
		u32(&b, 0x100, 0x1000, 0x100, 0x100, 0, 0, 0, 0x60000020)
		b.WriteString(".data\x00\x00\x00")
		u32(&b, size, 0x2000, size, data, 0, 0, 0, 0xc0000040)
	case "Mach-O":
		u32(&b, 0xfeedfacf, 0x0100000c, 0, 2, 2, 24+72, 0, 0)
		u32(&b, 2, 24, 0, 0, 0, 0) // LC_SYMTAB
		u32(&b, 0x19, 72)
		b.WriteString("__DATA\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
		u32(&b, 0, 1, size, 0, data, 0, size, 0, 3, 3, 0, 0)
	}
	b.Write(make([]byte, data-b.Len()+padding))
	at = b.Len()
	b.Write(make([]byte, 8))
	b.Write(bundleSignature)
	return b.Bytes(), at
}

// bundle returns a single-file program with some files.
func bundle(major uint32, pack func([]byte) []byte, files map[string][]byte) []byte {
	return bundleIn("ELF", 0, major, pack, files)
}

func bundleIn(kind string, padding int, major uint32, pack func([]byte) []byte, files map[string][]byte) []byte {
	var b, list bytes.Buffer
	program, at := host(kind, padding)
	b.Write(program)
	u32(&list, major, 0, uint32(len(files)))
	list.WriteString("\x05ident")
	list.Write(make([]byte, 5*8))
	for name, data := range files {
		stored, compressed := data, 0
		if pack != nil {
			stored = pack(data)
			compressed = len(stored)
		}
		_ = binary.Write(&list, le, []int64{int64(b.Len()), int64(len(data))})
		if major >= 6 {
			_ = binary.Write(&list, le, int64(compressed))
		}
		list.WriteByte(1)
		list.WriteByte(byte(len(name)))
		list.WriteString(name)
		b.Write(stored)
	}
	offset := b.Len()
	b.Write(list.Bytes())
	le.PutUint64(b.Bytes()[at:], uint64(offset))
	return b.Bytes()
}
