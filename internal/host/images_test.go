package host_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/host"
)

// The programs here are made up: they contain what a loader reads, and garbage everywhere else.

// A draft is a file that is being written.
type draft struct {
	order binary.ByteOrder
	b     []byte
}

// grow makes room for size bytes of garbage and returns their offset.
func (d *draft) grow(size int) (at int) {
	at = len(d.b)
	d.b = append(d.b, bytes.Repeat([]byte{0xa5}, size)...)
	return at
}

// add appends a text and returns its offset.
func (d *draft) add(text string) (at int) {
	at = d.grow(len(text))
	copy(d.b[at:], text)
	return at
}

// put writes a number of size bytes.
func (d *draft) put(at, size int, v uint64) {
	var b [8]byte
	if d.order == binary.BigEndian {
		binary.BigEndian.PutUint64(b[:], v)
		copy(d.b[at:at+size], b[8-size:])
		return
	}
	binary.LittleEndian.PutUint64(b[:], v)
	copy(d.b[at:at+size], b[:size])
}

// An elf is a Linux program.
type elf struct {
	wide     bool // 64-bit
	order    binary.ByteOrder
	entry    int // size of an entry in the segment table; 0: the usual size
	segments func(names, dynamic segment) []segment
	dynamic  func(names segment) [][2]uint64
}

type segment struct{ kind, offset, address, size uint64 }

// ahead is in front of the names in their segment.
const ahead = "ahead\x00DotNetRuntimeInf\x00"

func (e elf) file(names string) []byte {
	d := &draft{order: e.order}
	d.grow(64)
	at := func(narrow, wide int) int {
		if e.wide {
			return wide
		}
		return narrow
	}
	word := at(4, 8)
	copy(d.b, "\x7fELF\x01\x01")
	if e.wide {
		d.b[4] = 2
	}
	if e.order == binary.BigEndian {
		d.b[5] = 2
	}
	inNames := segment{1, 0, 0x40000, uint64(len(ahead) + len(names))}
	var tags [][2]uint64
	if e.dynamic != nil {
		tags = e.dynamic(inNames)
	} else {
		tags = [][2]uint64{{1, 77}, {5, inNames.address + uint64(len(ahead))}, {10, uint64(len(names))}}
	}
	dynamic := segment{2, 0, 0x30000, uint64(len(tags) * 2 * word)}
	list := func() []segment {
		if e.segments != nil {
			return e.segments(inNames, dynamic)
		}
		return []segment{{6, 64, 0x40000, 1 << 20}, {1, 0, 0x10000, 0x30000}, inNames, dynamic, {1, 64, 0x50000, 100}}
	}
	entry := at(32, 56)
	if e.entry != 0 {
		entry = e.entry
	}
	table := d.grow(entry * len(list()))
	dynamic.offset = uint64(d.grow(len(tags) * 2 * word))
	inNames.offset = uint64(d.add(ahead))
	d.add(names)
	d.put(at(28, 32), word, uint64(table))
	d.put(at(42, 54), 2, uint64(entry))
	d.put(at(44, 56), 2, uint64(len(list())))
	for i, s := range list() {
		base := table + i*entry
		if entry < at(20, 40) {
			continue
		}
		d.put(base, 4, s.kind)
		d.put(base+at(4, 8), word, s.offset)
		d.put(base+at(8, 16), word, s.address)
		d.put(base+at(16, 32), word, s.size)
	}
	for i, tag := range tags {
		d.put(int(dynamic.offset)+2*i*word, word, tag[0])
		d.put(int(dynamic.offset)+(2*i+1)*word, word, tag[1])
	}
	return d.b
}

// A macho is a macOS program.
type macho struct {
	before int // size of a command in front of that of the symbols
	symtab int // size of the command of the symbols
}

func (m macho) file(names string) []byte {
	d := &draft{order: binary.LittleEndian}
	d.grow(32)
	d.put(0, 4, 0xfeedfacf)
	d.put(20, 4, uint64(m.before+m.symtab))
	if m.before > 0 {
		at := d.grow(m.before)
		d.put(at, 4, 0x19)
		d.put(at+4, 4, uint64(m.before))
	}
	at := d.grow(max(m.symtab, 24))
	d.put(at, 4, 2)
	d.put(at+4, 4, uint64(m.symtab))
	d.grow(3)
	d.put(at+16, 4, uint64(d.add(names)))
	d.put(at+20, 4, uint64(len(names)))
	return d.b
}

// A pe is a Windows program.
type pe struct {
	wide     bool
	optional int // size of the optional header; 0: the minimum
	before   int // offset of the names in their section
}

func (p pe) file(names string) []byte {
	d := &draft{order: binary.LittleEndian}
	d.grow(64)
	copy(d.b, "MZ")
	d.grow(9)
	head := d.grow(24)
	d.put(60, 4, uint64(head))
	copy(d.b[head:], "PE\x00\x00")
	directories := 96
	if p.wide {
		directories = 112
	}
	size := p.optional
	if size == 0 {
		size = directories + 8
	}
	optional := d.grow(size)
	magic := uint64(0x10b)
	if p.wide {
		magic = 0x20b
	}
	if size >= 2 {
		d.put(optional, 2, magic)
	}
	if size >= directories+8 {
		d.put(optional+directories, 4, uint64(0x3000+p.before))
		d.put(optional+directories+4, 4, uint64(len(names)))
	}
	sections := d.grow(3 * 40)
	d.put(head+6, 2, 3)
	d.put(head+20, 2, uint64(size))
	d.grow(p.before)
	at := d.add(names)
	for i, s := range []segment{
		{address: 0x2000, size: 0x1000 + uint64(p.before), offset: 64}, // ends where the names start
		{address: 0x3000, size: uint64(p.before + len(names)), offset: uint64(at - p.before)},
		{address: 0x3000, size: 0x1000, offset: 64},
	} {
		base := sections + 40*i
		d.put(base+12, 4, s.address)
		d.put(base+16, 4, s.size)
		d.put(base+20, 4, s.offset)
	}
	return d.b
}

// images returns functions that make programs of all kinds.
func images() map[string]func(names string) []byte {
	list := map[string]func(string) []byte{
		"Mach-O":                      macho{symtab: 24}.file,
		"Mach-O, more before":         macho{before: 8, symtab: 24}.file,
		"Mach-O, a larger command":    macho{before: 80, symtab: 40}.file,
		"PE of 32 bits":               pe{}.file,
		"PE of 32 bits, inside":       pe{before: 5}.file,
		"PE of 64 bits":               pe{wide: true}.file,
		"PE of 64 bits, more headers": pe{wide: true, optional: 240, before: 1}.file,
	}
	for _, wide := range []bool{false, true} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			list[fmt.Sprintf("ELF, wide: %v, %v", wide, order)] = elf{wide: wide, order: order}.file
			list[fmt.Sprintf("ELF of large entries, wide: %v, %v", wide, order)] = elf{wide: wide, order: order, entry: 72}.file
		}
	}
	return list
}

// TestMadeUpPrograms: the exports of a program are found in all formats, and nothing else is taken
// for them. A program that lacks its last byte, or more, is rejected.
func TestMadeUpPrograms(t *testing.T) {
	for name, file := range images() {
		for _, tc := range []struct {
			names string
			want  host.Runtime
		}{
			{"\x00x\x00DotNetRuntimeInfo\x00", host.RuntimeCoreCLR},
			{"\x00DotNetRuntimeInfo\x00y\x00", host.RuntimeCoreCLR},
			{"\x00_DotNetRuntimeInfo\x00", host.RuntimeCoreCLR},
			{"\x00x\x00DotNetRuntimeDebugHeader\x00", host.RuntimeNativeAOT},
			{"\x00DotNetRuntimeInfos\x00", host.RuntimeUnknown},
			{"\x00myDotNetRuntimeInfo\x00", host.RuntimeUnknown},
			{"\x00__DotNetRuntimeDebugHeader\x00", host.RuntimeUnknown},
		} {
			b := file(tc.names)
			if got := host.ProgramRuntime(bytes.NewReader(b)); got != tc.want {
				t.Errorf("%s with %q: runtime %d, want %d", name, tc.names, got, tc.want)
			}
			for n := range len(b) {
				if got := host.ProgramRuntime(bytes.NewReader(b[:n])); got != host.RuntimeUnknown {
					t.Errorf("%s with %q: runtime %d of %d bytes of %d", name, tc.names, got, n, len(b))
				}
			}
		}
	}
}

// TestNamesAtTheBegin: the names may be everything that is in their segment.
func TestNamesAtTheBegin(t *testing.T) {
	for _, wide := range []bool{false, true} {
		e := elf{wide: wide, order: binary.LittleEndian, dynamic: func(n segment) [][2]uint64 { return [][2]uint64{{5, n.address}, {10, n.size}} }}
		if got := host.ProgramRuntime(bytes.NewReader(e.file("\x00DotNetRuntimeInfo\x00"))); got != host.RuntimeCoreCLR {
			t.Errorf("wide: %v: runtime %d", wide, got)
		}
	}
}

// TestDamagedPrograms: a program with a table that points nowhere, or is too small, is rejected.
func TestDamagedPrograms(t *testing.T) {
	const names = "\x00DotNetRuntimeInfo\x00"
	list := map[string][]byte{
		"Mach-O, a command without a size":       macho{before: 7, symtab: 24}.file(names),
		"Mach-O, a command that is too small":    macho{symtab: 23}.file(names),
		"Mach-O, less than a command":            macho{symtab: 7}.file(names),
		"PE without an optional header":          pe{optional: 1}.file(names),
		"PE, a small optional header":            pe{wide: true, optional: 119}.file(names),
		"PE, a small optional header of 32 bits": pe{optional: 103}.file(names),
	}
	for _, wide := range []bool{false, true} {
		entry := 31
		if wide {
			entry = 55
		}
		with := func(what string, e elf) {
			e.wide, e.order = wide, binary.LittleEndian
			list[fmt.Sprintf("ELF, wide: %v, %s", wide, what)] = e.file(names)
		}
		with("small entries", elf{entry: entry})
		with("no address of the names", elf{dynamic: func(n segment) [][2]uint64 { return [][2]uint64{{10, n.size}} }})
		with("no size of the names", elf{dynamic: func(n segment) [][2]uint64 { return [][2]uint64{{5, n.address}} }})
		with("names that are nowhere", elf{segments: func(_, dynamic segment) []segment { return []segment{dynamic} }})
		with("names below their segment", elf{dynamic: func(n segment) [][2]uint64 {
			return [][2]uint64{{5, n.address - 1}, {10, n.size}}
		}})
		with("names behind their segment", elf{segments: func(n, dynamic segment) []segment {
			n.size = uint64(len(ahead))
			return []segment{n, dynamic}
		}})
		with("no dynamic segment", elf{segments: func(n, _ segment) []segment { return []segment{n} }})
		with("a dynamic segment that is too large", elf{segments: func(n, dynamic segment) []segment {
			dynamic.size = 1<<20 + 1
			return []segment{n, dynamic}
		}})
		with("a dynamic segment at the end of all", elf{segments: func(n, dynamic segment) []segment {
			dynamic.offset = 1<<64 - 8
			return []segment{n, dynamic}
		}})
	}
	for name, b := range list {
		if got := host.ProgramRuntime(bytes.NewReader(b)); got != host.RuntimeUnknown {
			t.Errorf("%s: runtime %d", name, got)
		}
	}
	for n := range 70 { // the fields of the header: no value breaks anything
		for name, file := range images() {
			b := file(names)
			for _, c := range []byte{0, 1, 0x7f, 0xff} {
				old := b[n]
				b[n] = c
				host.ProgramRuntime(bytes.NewReader(b))
				if b[n] = old; t.Failed() {
					t.Fatalf("%s with %d at %d", name, c, n)
				}
			}
		}
	}
}

// TestProgramBounded: 1 MB of names is read, which includes the exported ones.
func TestProgramBounded(t *testing.T) {
	const most, name = 1 << 20, "\x00DotNetRuntimeInfo\x00"
	for kind, file := range images() {
		for _, tc := range []struct {
			at   int
			want host.Runtime
		}{{most - len(name), host.RuntimeCoreCLR}, {most - len(name) + 1, host.RuntimeUnknown}} {
			b := file(strings.Repeat("x", tc.at) + name + strings.Repeat("y", 10))
			if got := host.ProgramRuntime(bytes.NewReader(b)); got != tc.want {
				t.Errorf("%s: a name at %d of the others: runtime %d, want %d", kind, tc.at, got, tc.want)
			}
		}
	}
}
