package nativeaot

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
)

// ErrNoProgram reports that a file is not an ELF file of a little-endian machine, which all are that
// NativeAOT knows.
var ErrNoProgram = errors.New("the file is not a program")

// ErrNoSymbols reports that a program was stripped of its symbols.
var ErrNoSymbols = errors.New("the file has no symbols")

// A TooLargeError reports that a part of a file is larger than what is read.
type TooLargeError struct {
	Part        string
	Size, Limit uint64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("its %s has the size %d; up to %d is read", e.Part, e.Size, e.Limit)
}

// A damage is a file that is a program, but whose content is not as the format prescribes.
func damage(format string, a ...any) error {
	return fmt.Errorf("damaged program: "+format, a...)
}

// A Program is a NativeAOT program, or the file with the symbols that were taken out of one. It reads
// from its file when it is asked. The debug/elf of the standard library is not for files that anyone may
// have written: it keeps as many long names as a file claims to have.
type Program struct {
	// BuildID identifies what the linker has made, in hexadecimal: the same in a program and in the file
	// with its symbols. "": unknown.
	BuildID string
	// DebugLink is the name of the file with the symbols (.gnu_debuglink), "" if there is none.
	DebugLink string

	r        io.ReaderAt
	size     uint64
	is64     bool
	base     uint64 // the lowest address, where the module begins
	end      uint64 // the address after the last segment
	sections []elf.SectionHeader
}

// The limits of what is kept of a file.
const (
	maxNote  = 4 << 10   // bytes of a section with notes
	maxNotes = 64        // sections with notes
	maxText  = 128 << 20 // bytes of the names of all symbols: programs of 150 MB have that many
	maxNames = 64 << 20  // bytes of those of types that are kept, with what a map needs
	maxName  = 8 << 10   // bytes of one: longer ones are left out
)

var le = binary.LittleEndian

// Open reads the head of a file of size bytes. The error is ErrNoProgram if it is no ELF file.
func Open(r io.ReaderAt, size int64) (*Program, error) {
	p := &Program{r: r, size: uint64(max(size, 0))}
	head, err := p.bytes(0, min(p.size, 64))
	if err != nil {
		return nil, err
	}
	if len(head) < 52 || string(head[:4]) != elf.ELFMAG || elf.Data(head[elf.EI_DATA]) != elf.ELFDATA2LSB {
		return nil, ErrNoProgram
	}
	switch class := elf.Class(head[elf.EI_CLASS]); {
	case class == elf.ELFCLASS64 && len(head) == 64:
		p.is64 = true
		err = p.open(le.Uint64(head[32:]), le.Uint64(head[40:]), head[54:])
	case class == elf.ELFCLASS32:
		err = p.open(uint64(le.Uint32(head[28:])), uint64(le.Uint32(head[32:])), head[42:])
	default:
		return nil, ErrNoProgram
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// open reads the lists of segments and sections. The counts are the last fields of the head.
func (p *Program) open(segments, sections uint64, counts []byte) error {
	count := func(i int) uint64 { return uint64(le.Uint16(counts[2*i:])) }
	b, err := p.table("list of segments", segments, count(0), count(1), p.pick(56, 32))
	if err != nil {
		return err
	}
	p.base = math.MaxUint64
	for ; len(b) > 0; b = b[count(0):] {
		if elf.ProgType(le.Uint32(b)) == elf.PT_LOAD {
			at, length := p.word(b, 16, 8), p.word(b, 40, 20)
			p.base, p.end = min(p.base, at), max(p.end, at+length)
		}
	}
	const page = 4096
	if p.base > p.end { // there is none
		p.base, p.end = 0, math.MaxUint64
	}
	p.base &^= page - 1 // the first one may begin with a part of a page
	if b, err = p.table("list of sections", sections, count(2), count(3), p.pick(64, 40)); err != nil {
		return err
	}
	for ; len(b) > 0; b = b[count(2):] {
		p.sections = append(p.sections, elf.SectionHeader{
			Type:     elf.SectionType(le.Uint32(b[4:])),
			Flags:    elf.SectionFlag(p.word(b, 8, 8)),
			Offset:   p.word(b, 24, 16),
			FileSize: p.word(b, 32, 20),
			Link:     le.Uint32(b[p.pick(40, 24):]),
			Entsize:  p.word(b, 56, 36),
			Info:     le.Uint32(b), // the offset of its name
		})
	}
	return p.identify(count(4))
}

// pick returns the first number for files of 64 bits, else the second.
func (p *Program) pick(wide, narrow uint64) uint64 {
	if p.is64 {
		return wide
	}
	return narrow
}

// word reads an address, an offset or a size.
func (p *Program) word(b []byte, wide, narrow int) uint64 {
	if p.is64 {
		return le.Uint64(b[wide:])
	}
	return uint64(le.Uint32(b[narrow:]))
}

// table reads a list of entries, each of at least some bytes.
func (p *Program) table(what string, at, entry, count, least uint64) ([]byte, error) {
	if count == 0 {
		return nil, nil
	}
	if entry < least || entry > 1<<10 {
		return nil, damage("an entry of the %s has %d bytes", what, entry)
	}
	return p.bytes(at, entry*count)
}

// bytes reads a part of the file.
func (p *Program) bytes(at, size uint64) ([]byte, error) {
	if at > p.size || size > p.size-at {
		return nil, damage("%d bytes at %d exceed its %d bytes", size, at, p.size)
	}
	b := make([]byte, size)
	if n, err := p.r.ReadAt(b, int64(at)); err != nil && (n < len(b) || !errors.Is(err, io.EOF)) {
		return nil, err
	}
	return b, nil
}

// identify finds the build id and the name of the file with the symbols. names is the section with the
// names of the sections.
func (p *Program) identify(names uint64) error {
	notes := 0
	for i := range p.sections {
		s := &p.sections[i]
		switch {
		case s.Type == elf.SHT_NOTE && s.FileSize <= maxNote && notes < maxNotes:
			notes++
			b, err := p.bytes(s.Offset, s.FileSize)
			if err != nil {
				return err
			}
			if id := buildID(b); id != "" {
				p.BuildID = id
			}
		case s.Type == elf.SHT_PROGBITS && s.FileSize <= maxNote && p.DebugLink == "" &&
			p.isNamed(names, s.Info, ".gnu_debuglink"):
			b, err := p.bytes(s.Offset, s.FileSize)
			if err != nil {
				return err
			}
			if name, _, ok := bytes.Cut(b, []byte{0}); ok {
				p.DebugLink = string(name)
			}
		}
	}
	return nil
}

// isNamed reports whether the name at an offset in a section is a certain one.
func (p *Program) isNamed(names uint64, at uint32, name string) bool {
	if names >= uint64(len(p.sections)) {
		return false
	}
	s := &p.sections[names]
	if uint64(at)+uint64(len(name)) >= s.FileSize {
		return false
	}
	b, err := p.bytes(s.Offset+uint64(at), uint64(len(name))+1)
	return err == nil && string(b) == name+"\x00"
}

// buildID returns the build id in a section with notes, or "".
func buildID(b []byte) string {
	const head, gnuBuildID, longest = 12, 3, 64
	for len(b) >= head {
		name, id, kind := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:])), le.Uint32(b[8:])
		at := head + (name+3)&^3
		if at+id > uint64(len(b)) {
			return ""
		}
		if kind == gnuBuildID && id <= longest && string(b[head:head+name]) == "GNU\x00" {
			return hex.EncodeToString(b[at : at+id])
		}
		b = b[min(at+(id+3)&^3, uint64(len(b))):]
	}
	return ""
}

// Contains reports whether an offset from the beginning of the module is in it.
func (p *Program) Contains(offset uint64) bool { return offset < p.end-p.base }

// each calls a function with the symbols that are defined, by their offsets from the beginning of the
// module. The name belongs to the caller only until the function returns.
func (p *Program) each(use func(offset uint64, name []byte) error) error {
	for i := range p.sections {
		if s := &p.sections[i]; s.Type == elf.SHT_SYMTAB && s.FileSize > 0 {
			return p.eachOf(s, use)
		}
	}
	return ErrNoSymbols
}

// eachOf does so with those of a section.
func (p *Program) eachOf(s *elf.SectionHeader, use func(offset uint64, name []byte) error) error {
	entry := p.pick(elf.Sym64Size, elf.Sym32Size)
	if s.Entsize != entry || s.Flags&elf.SHF_COMPRESSED != 0 || uint64(s.Link) >= uint64(len(p.sections)) {
		return damage("its list of symbols has entries of %d bytes, and names in section %d", s.Entsize, s.Link)
	}
	text := &p.sections[s.Link]
	switch {
	case text.Type != elf.SHT_STRTAB || text.Flags&elf.SHF_COMPRESSED != 0:
		return damage("the names of its symbols are in a section of type %v", text.Type)
	case text.FileSize > maxText:
		return &TooLargeError{"list of names of symbols", text.FileSize, maxText}
	}
	names, err := p.bytes(text.Offset, text.FileSize)
	if err != nil {
		return err
	}
	const some = 1 << 15 // symbols that are read at once
	for left, at := s.FileSize/entry, s.Offset; left > 0; {
		n := min(left, some)
		b, err := p.bytes(at, n*entry)
		if err != nil {
			return err
		}
		for left, at = left-n, at+n*entry; len(b) > 0; b = b[entry:] {
			section := le.Uint16(b[p.pick(6, 14):])
			value, from := p.word(b, 8, 4), uint64(le.Uint32(b))
			if section == uint16(elf.SHN_UNDEF) || value < p.base || from >= uint64(len(names)) {
				continue
			}
			name := names[from:min(from+maxName+1, uint64(len(names)))]
			end := bytes.IndexByte(name, 0)
			if end <= 0 {
				continue // it has none, or is not that of a type
			}
			if err := use(value-p.base, name[:end]); err != nil {
				return err
			}
		}
	}
	return nil
}
