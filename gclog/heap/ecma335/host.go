package ecma335

import (
	"encoding/binary"
	"math"
)

// maxData is how many bytes of a program's initialized data are searched. Those of the hosts of .NET
// programs have some megabytes at most.
const maxData = 32 << 20

// programData returns the parts of a program's file that are loaded as writable data: of ELF files and
// Mach-O files segments, of PE files sections. There are none if the file is no program.
func programData(file input) []input {
	head, err := file.bytes(0, min(64, file.size))
	if err != nil || len(head) < 64 {
		return nil
	}
	var parts []filePart
	switch le.Uint32(head) {
	case 0x464c457f:
		parts = elfData(file, head)
	case 0xfeedfacf:
		parts = machoData(file, head)
	default:
		parts = peData(file)
	}
	var list []input
	left := int64(maxData)
	for _, p := range parts {
		if p.offset > math.MaxInt64 || p.size > math.MaxInt64 {
			continue
		}
		data, err := file.part(int64(p.offset), min(int64(p.size), left))
		if err != nil {
			continue
		}
		list = append(list, data)
		left -= data.size
	}
	return list
}

type filePart struct{ offset, size uint64 }

// elfData lists the segments with PT_LOAD and PF_W.
func elfData(file input, head []byte) (list []filePart) {
	var order binary.ByteOrder = le
	if head[5] == 2 {
		order = binary.BigEndian
	}
	const load, writable = 1, 2
	if head[4] == 2 { // 64 bits
		const size = 56
		b, _ := file.bytes(int64(order.Uint64(head[32:])), size*int64(order.Uint16(head[56:])))
		for ; len(b) >= size; b = b[size:] {
			if order.Uint32(b) == load && order.Uint32(b[4:])&writable != 0 {
				list = append(list, filePart{order.Uint64(b[8:]), order.Uint64(b[32:])})
			}
		}
		return list
	}
	const size = 32
	b, _ := file.bytes(int64(order.Uint32(head[28:])), size*int64(order.Uint16(head[44:])))
	for ; len(b) >= size; b = b[size:] {
		if order.Uint32(b) == load && order.Uint32(b[24:])&writable != 0 {
			list = append(list, filePart{uint64(order.Uint32(b[4:])), uint64(order.Uint32(b[16:]))})
		}
	}
	return list
}

// machoData lists the writable segments of a 64-bit program.
func machoData(file input, head []byte) (list []filePart) {
	const (
		header      = 32
		maxCommands = 1 << 20 // bytes
		segment64   = 0x19
		segmentSize = 72
		writable    = 2
	)
	commands, _ := file.bytes(header, min(int64(le.Uint32(head[20:])), maxCommands))
	for len(commands) >= 8 {
		size := int(le.Uint32(commands[4:]))
		if size < 8 || size > len(commands) {
			break
		}
		if c := commands[:size]; le.Uint32(c) == segment64 && size >= segmentSize && le.Uint32(c[60:])&writable != 0 {
			list = append(list, filePart{le.Uint64(c[40:]), le.Uint64(c[48:])})
		}
		commands = commands[size:]
	}
	return list
}

// peData lists the writable sections.
func peData(file input) (list []filePart) {
	_, sections, err := readPE(file)
	if err != nil {
		return nil
	}
	const writable = 0x80000000
	for _, s := range sections {
		if s.flags&writable != 0 {
			list = append(list, filePart{uint64(s.offset), uint64(s.size)})
		}
	}
	return list
}
