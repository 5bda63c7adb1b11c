package host

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strings"
)

// A Runtime is a kind of .NET runtime.
type Runtime uint8

// The kinds of runtimes.
const (
	RuntimeUnknown Runtime = iota
	RuntimeCoreCLR
	RuntimeNativeAOT
)

// programRuntime reports which runtime is part of a program, by a symbol that the program exports
// for debuggers. The result is unknown if the runtime is a library or the file is not a program. At
// most about 1 MB of a malicious file is read.
func programRuntime(program io.ReaderAt) Runtime {
	names := exportedNames(program)
	exports := func(name string) bool {
		return bytes.Contains(names, []byte("\x00"+name+"\x00")) ||
			bytes.Contains(names, []byte("\x00_"+name+"\x00")) // in Mach-O
	}
	switch {
	case exports("DotNetRuntimeInfo"):
		return RuntimeCoreCLR
	case exports("DotNetRuntimeDebugHeader"):
		return RuntimeNativeAOT
	}
	return RuntimeUnknown
}

// maxSymbols is the number of bytes that are read of a program's symbol names, and of any other
// part. The names of exported symbols come first: after them, macOS has those of all others, and a
// single-file program its assemblies.
const maxSymbols = 1 << 20

// exportedNames returns the part of a program that contains the names of its exported symbols, each
// with a 0 before and after it.
func exportedNames(program io.ReaderAt) []byte {
	p := image{program, binary.LittleEndian}
	switch head := string(p.read(0, 4)); {
	case head == "\x7fELF":
		return p.elfNames()
	case head == "\xcf\xfa\xed\xfe": // 64-bit, little-endian
		return p.machoNames()
	case strings.HasPrefix(head, "MZ"):
		return p.peNames()
	}
	return nil
}

// An image is the file of a program.
type image struct {
	io.ReaderAt
	order binary.ByteOrder
}

// read reads a part of the file, or returns nil if that is not there or too large. An offset beyond
// an int64 becomes negative, which is an error like an offset past the end.
func (p *image) read(offset, size uint64) []byte {
	if size > maxSymbols {
		return nil
	}
	b := make([]byte, size)
	if n, _ := p.ReadAt(b, int64(offset)); uint64(n) < size {
		return nil
	}
	return b
}

// elfNames returns the string table of the dynamic symbols, found in the same way as by the dynamic
// loader.
func (p *image) elfNames() []byte {
	head := p.read(0, 58) // up to the end of the needed fields
	if head == nil {
		return nil
	}
	if head[5] == 2 {
		p.order = binary.BigEndian
	}
	// Offsets of the fields in 32-bit and 64-bit files.
	wide := head[4] == 2
	at := func(narrow, b64 int) int {
		if wide {
			return b64
		}
		return narrow
	}
	word := func(b []byte) uint64 {
		if wide {
			return p.order.Uint64(b)
		}
		return uint64(p.order.Uint32(b))
	}
	entry, count := int(p.order.Uint16(head[at(42, 54):])), int(p.order.Uint16(head[at(44, 56):]))
	if entry < at(32, 56) {
		return nil
	}
	segments := p.read(word(head[at(28, 32):]), uint64(entry*count))
	var dynamic []byte
	for s := range slices.Chunk(segments, entry) {
		if p.order.Uint32(s) == 2 { // PT_DYNAMIC
			dynamic = p.read(word(s[at(4, 8):]), word(s[at(16, 32):]))
		}
	}
	var address, size uint64
	for pair := at(8, 16); len(dynamic) >= pair; dynamic = dynamic[pair:] {
		switch tag, value := word(dynamic), word(dynamic[at(4, 8):]); tag {
		case 5: // DT_STRTAB
			address = value
		case 10: // DT_STRSZ
			size = value
		}
	}
	for s := range slices.Chunk(segments, entry) {
		offset, start, length := word(s[at(4, 8):]), word(s[at(8, 16):]), word(s[at(16, 32):])
		if p.order.Uint32(s) == 1 && start <= address && address-start < length { // PT_LOAD
			return p.read(offset+address-start, min(size, maxSymbols))
		}
	}
	return nil
}

// machoNames returns the string table of all symbols.
func (p *image) machoNames() []byte {
	head := p.read(0, 24)
	if head == nil {
		return nil
	}
	commands := p.read(32, uint64(p.order.Uint32(head[20:])))
	for len(commands) >= 8 {
		size := uint64(p.order.Uint32(commands[4:]))
		if size < 8 || size > uint64(len(commands)) {
			return nil
		}
		if p.order.Uint32(commands) == 2 && size >= 24 { // LC_SYMTAB
			return p.read(uint64(p.order.Uint32(commands[16:])), uint64(min(p.order.Uint32(commands[20:]), maxSymbols)))
		}
		commands = commands[size:]
	}
	return nil
}

// peNames returns the export directory, including the names.
func (p *image) peNames() []byte {
	dos := p.read(0, 64)
	if dos == nil {
		return nil
	}
	at := uint64(p.order.Uint32(dos[60:]))
	head := p.read(at, 22)
	if head == nil || string(head[:4]) != "PE\x00\x00" {
		return nil
	}
	size := uint64(p.order.Uint16(head[20:]))
	optional := p.read(at+24, size)
	directories := 112
	if len(optional) >= 2 && p.order.Uint16(optional) == 0x10b { // 32-bit
		directories = 96
	}
	if len(optional) < directories+8 {
		return nil
	}
	exports, length := p.order.Uint32(optional[directories:]), p.order.Uint32(optional[directories+4:])
	const entry = 40
	for s := p.read(at+24+size, entry*uint64(p.order.Uint16(head[6:]))); len(s) >= entry; s = s[entry:] {
		start, size, offset := p.order.Uint32(s[12:]), p.order.Uint32(s[16:]), p.order.Uint32(s[20:])
		if start <= exports && exports-start < size {
			return p.read(uint64(offset)+uint64(exports-start), uint64(min(length, maxSymbols)))
		}
	}
	return nil
}
