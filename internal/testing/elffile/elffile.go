// Package elffile makes programs with symbols, as NativeAOT has them.
package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
)

// A Symbol is a symbol of a program. One at 0 is undefined.
type Symbol struct {
	At   uint64
	Name string
}

// Type returns the name of the symbol of a type.
func Type(text string) string { return fmt.Sprintf("_ZTV%d%s", len(text), text) }

// A Program has a segment of 64 KB, a build id, the name of the file with its symbols, and symbols.
type Program struct {
	Class   elf.Class
	Base    uint64 // where it is to be loaded
	BuildID string // 4 bytes
	Link    string // .gnu_debuglink
	Symbols []Symbol
}

// Bytes returns the file. Sections follow the segment: of notes, with the link, and then, unless there
// are no symbols, with these and their names; the last one has the names of sections.
func (c *Program) Bytes() []byte {
	wide := c.Class == elf.ELFCLASS64
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
	for _, s := range append([]Symbol{{}}, c.Symbols...) {
		at := uint32(0)
		if s.Name != "" {
			at = uint32(names.Len())
			names.WriteString(s.Name + "\x00")
		}
		section := uint16(min(s.At, 1))
		if wide {
			put(&table, elf.Sym64{Name: at, Shndx: section, Value: s.At})
		} else {
			put(&table, elf.Sym32{Name: at, Shndx: section, Value: uint32(s.At)})
		}
	}
	var note bytes.Buffer
	put(&note, uint32(4), uint32(len(c.BuildID)), uint32(3), []byte("GNU\x00"+c.BuildID))
	sectionNames := "\x00.gnu_debuglink\x00"
	parts := [][]byte{nil, note.Bytes(), []byte(c.Link + "\x00\x00\x00\x00crc!"), table.Bytes(), names.Bytes(), []byte(sectionNames)}
	types := []elf.SectionType{elf.SHT_NULL, elf.SHT_NOTE, elf.SHT_PROGBITS, elf.SHT_SYMTAB, elf.SHT_STRTAB, elf.SHT_STRTAB}
	if len(c.Symbols) == 0 {
		parts, types = slices.Delete(parts, 3, 5), slices.Delete(types, 3, 5)
	}
	var b bytes.Buffer
	headSize, segmentSize, sectionSize, entry := 52, 32, 40, uint64(elf.Sym32Size)
	if wide {
		headSize, segmentSize, sectionSize, entry = 64, 56, 64, elf.Sym64Size
	}
	b.Write(append([]byte(elf.ELFMAG), byte(c.Class), byte(elf.ELFDATA2LSB), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0))
	put(&b, uint16(elf.ET_DYN), uint16(0), uint32(1), word(0), word(uint64(headSize)), word(uint64(headSize+segmentSize)), uint32(0),
		uint16(headSize), uint16(segmentSize), uint16(1), uint16(sectionSize), uint16(len(parts)), uint16(len(parts)-1))
	if wide {
		put(&b, elf.Prog64{Type: uint32(elf.PT_LOAD), Vaddr: c.Base, Memsz: 0x10000})
	} else {
		put(&b, elf.Prog32{Type: uint32(elf.PT_LOAD), Vaddr: uint32(c.Base), Memsz: 0x10000})
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
