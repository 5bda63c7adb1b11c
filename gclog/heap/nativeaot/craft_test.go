package nativeaot_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap/nativeaot"
)

// A symbol of a crafted program.
type symbol struct {
	at   uint64
	name string
}

// typeSymbol returns the symbol of a type.
func typeSymbol(text string) string { return fmt.Sprintf("_ZTV%d%s", len(text), text) }

// A crafted program has a segment, a build id, the name of the file with its symbols, and symbols.
type crafted struct {
	class   elf.Class
	base    uint64
	symbols []symbol
}

// bytes returns the file.
func (c *crafted) bytes() []byte {
	wide := c.class == elf.ELFCLASS64
	var names, table bytes.Buffer
	put := func(b *bytes.Buffer, values ...any) {
		for _, v := range values {
			if err := binary.Write(b, binary.LittleEndian, v); err != nil {
				panic(err)
			}
		}
	}
	word := func(v uint64) any {
		if wide {
			return v
		}
		return uint32(v)
	}
	names.WriteByte(0)
	for _, s := range append([]symbol{{}}, c.symbols...) {
		at := uint32(0)
		if s.name != "" {
			at = uint32(names.Len())
			names.WriteString(s.name + "\x00")
		}
		section := uint16(min(s.at, 1))
		if wide {
			put(&table, elf.Sym64{Name: at, Shndx: section, Value: s.at})
		} else {
			put(&table, elf.Sym32{Name: at, Shndx: section, Value: uint32(s.at)})
		}
	}
	var note bytes.Buffer
	put(&note, uint32(4), uint32(4), uint32(3), []byte("GNU\x00\xde\xad\xbe\xef"))
	sectionNames := "\x00.gnu_debuglink\x00"
	parts := [][]byte{nil, note.Bytes(), []byte("shop.dbg\x00\x00\x00\x00crc!"), table.Bytes(), names.Bytes(), []byte(sectionNames)}
	types := []elf.SectionType{elf.SHT_NULL, elf.SHT_NOTE, elf.SHT_PROGBITS, elf.SHT_SYMTAB, elf.SHT_STRTAB, elf.SHT_STRTAB}
	var b bytes.Buffer
	headSize, segmentSize, sectionSize, entry := 52, 32, 40, uint64(elf.Sym32Size)
	if wide {
		headSize, segmentSize, sectionSize, entry = 64, 56, 64, elf.Sym64Size
	}
	b.Write(append([]byte(elf.ELFMAG), byte(c.class), byte(elf.ELFDATA2LSB), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0))
	put(&b, uint16(elf.ET_DYN), uint16(0), uint32(1), word(0), word(uint64(headSize)), word(uint64(headSize+segmentSize)), uint32(0),
		uint16(headSize), uint16(segmentSize), uint16(1), uint16(sectionSize), uint16(len(parts)), uint16(len(parts)-1))
	if wide {
		put(&b, elf.Prog64{Type: uint32(elf.PT_LOAD), Vaddr: c.base, Memsz: 0x10000})
	} else {
		put(&b, elf.Prog32{Type: uint32(elf.PT_LOAD), Vaddr: uint32(c.base), Memsz: 0x10000})
	}
	at := uint64(headSize + segmentSize + len(parts)*sectionSize)
	for i, part := range parts {
		name, link, each := uint32(0), uint32(0), uint64(0)
		switch types[i] {
		case elf.SHT_PROGBITS:
			name = 1
		case elf.SHT_SYMTAB:
			link, each = 4, entry
		}
		if wide {
			put(&b, elf.Section64{Name: name, Type: uint32(types[i]), Off: at, Size: uint64(len(part)), Link: link, Entsize: each})
		} else {
			put(&b, elf.Section32{Name: name, Type: uint32(types[i]), Off: uint32(at), Size: uint32(len(part)), Link: link, Entsize: uint32(each)})
		}
		at += uint64(len(part))
	}
	b.Write(bytes.Join(parts, nil))
	return b.Bytes()
}

// open opens a file.
func open(t testing.TB, file []byte) *nativeaot.Program {
	t.Helper()
	p, err := nativeaot.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func all(uint64) bool { return true }

// symbolsOf returns the symbols of a program that has these, at 0x1000, 0x1010 and so on.
func symbolsOf(t testing.TB, names ...string) *nativeaot.Symbols {
	t.Helper()
	c := crafted{class: elf.ELFCLASS64}
	for i, name := range names {
		c.symbols = append(c.symbols, symbol{uint64(0x1000 + 0x10*i), name})
	}
	s, err := open(t, c.bytes()).Symbols(all)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSymbols: what the symbols of a program say, wherever it is to be loaded.
func TestSymbols(t *testing.T) {
	for _, c := range []crafted{{class: elf.ELFCLASS64}, {class: elf.ELFCLASS64, base: 0x400000}, {class: elf.ELFCLASS32, base: 0x10000}} {
		for i, name := range []string{
			"", typeSymbol("Shop_Order"), typeSymbol("__Array<Shop_Order>"), "_ZTV4Shop_Other", "__GCStaticEEType_011",
			"__GCSTATICSShop_Second", "__GCSTATICSShop_First__PreInitData", "__GCSTATICSShop_First", strings.Repeat("x", 20<<10), "Shop_Order___ctor",
		} {
			c.symbols = append(c.symbols, symbol{c.base + 0x100*uint64(i), name})
		}
		c.symbols[5].at += 0x1000
		p := open(t, c.bytes())
		if p.BuildID != "deadbeef" || p.DebugLink != "shop.dbg" || !p.Contains(0xffff) || p.Contains(0x10000) {
			t.Errorf("%+v", p)
		}
		s, err := p.Symbols(func(offset uint64) bool { return offset != 0x200 })
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Types) != 1 || s.Types[0x100] != "_ZTV10Shop_Order" || len(s.Layouts) != 1 || !s.Layouts[0x400] {
			t.Errorf("%v: types %v, layouts %v", c.class, s.Types, s.Layouts)
		}
		if strings.Join(s.Statics, " ") != "Shop_First Shop_Second" {
			t.Errorf("%v: the statics of %v", c.class, s.Statics)
		}
	}
}
