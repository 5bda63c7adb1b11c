package nettracetest

import "encoding/binary"

// A Payload is that of an event, field by field: &Payload{PointerSize: 8}.U32(7).Text("name").
type Payload struct {
	PointerSize int // 4 or 8 bytes
	Bytes       []byte
}

// U8 appends bytes.
func (p *Payload) U8(list ...uint8) *Payload {
	p.Bytes = append(p.Bytes, list...)
	return p
}

// U16 appends numbers of 2 bytes.
func (p *Payload) U16(list ...uint16) *Payload {
	for _, v := range list {
		p.Bytes = binary.LittleEndian.AppendUint16(p.Bytes, v)
	}
	return p
}

// U32 appends numbers of 4 bytes.
func (p *Payload) U32(list ...uint32) *Payload {
	p.Bytes = le32(p.Bytes, list...)
	return p
}

// U64 appends numbers of 8 bytes.
func (p *Payload) U64(list ...uint64) *Payload {
	p.Bytes = le64(p.Bytes, list...)
	return p
}

// Pointer appends numbers of the process's pointer size.
func (p *Payload) Pointer(list ...uint64) *Payload {
	if p.PointerSize == 8 {
		return p.U64(list...)
	}
	for _, v := range list {
		p.U32(uint32(v))
	}
	return p
}

// Text appends a zero-terminated string.
func (p *Payload) Text(s string) *Payload {
	p.Bytes = append(p.Bytes, UTF16(s)...)
	return p
}
