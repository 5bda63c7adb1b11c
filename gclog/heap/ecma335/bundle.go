package ecma335

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// ErrNoBundle reports that a file is not a single-file program.
var ErrNoBundle = errors.New("the file is not a single-file program")

// bundleSignature is in the code that starts .NET programs. The offset of the list of embedded files
// precedes it; it is 0 if there are none.
var bundleSignature = []byte{
	0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93, 0x02, 0x14, 0xd7, 0xa0, 0x32,
	0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae, 0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae,
}

// An Embedded is an assembly in a single-file program.
type Embedded struct {
	Name       string // its path in the program, with slashes
	offset     int64
	size       int64
	compressed int64 // 0: it is not compressed
}

// maxEmbedded is the number of files in the largest list of embedded files that is read.
const maxEmbedded = 1 << 14

// Bundle lists the assemblies in a single-file program of .NET 5 or later. The error is ErrNoBundle
// if the file is none.
func Bundle(r io.ReaderAt, size int64) ([]Embedded, error) {
	at, err := bundleOffset(input{r, size})
	if err != nil {
		return nil, err
	}
	list, err := input{r, size}.part(at, size-at)
	if err != nil {
		return nil, err
	}
	b := bundleReader{r: bufio.NewReader(io.NewSectionReader(list.r, 0, list.size))}
	major := b.u32()
	b.u32()
	count := b.u32()
	b.text()
	if b.err == nil && (major < 2 || major > 6) {
		return nil, damage("version %d of the list of embedded files is unknown", major)
	}
	if b.err == nil && count > maxEmbedded {
		return nil, &TooLargeError{"list of embedded files", int64(count), maxEmbedded}
	}
	b.skip(5 * 8) // where the settings are, and flags
	var assemblies []Embedded
	for range count {
		e, kind := b.entry(major)
		if b.err != nil {
			break
		}
		stored := e.size
		if e.compressed != 0 {
			stored = e.compressed
		}
		if _, err := (input{r, size}).part(e.offset, stored); err != nil {
			return nil, err
		}
		const kindAssembly = 1
		if kind == kindAssembly {
			assemblies = append(assemblies, e)
		}
	}
	if b.err != nil {
		return nil, damage("the list of embedded files: %w", b.err)
	}
	return assemblies, nil
}

// bundleOffset finds the list of the embedded files. A host has the signature in its data.
func bundleOffset(file input) (int64, error) {
	for _, data := range programData(file) {
		offset, err := findSignature(data)
		switch {
		case err != nil:
			return 0, err
		case offset == 0:
			continue
		case offset > math.MaxInt64 || int64(offset) > file.size:
			return 0, damage("the list of embedded files is at %d of %d bytes", offset, file.size)
		}
		return int64(offset), nil
	}
	return 0, ErrNoBundle
}

// findSignature returns the number that precedes the signature, 0 if it is not there.
func findSignature(data input) (uint64, error) {
	const (
		chunk = 1 << 20
		tail  = 8 + 32 // of a chunk, which may be cut
	)
	for at := int64(0); data.size-at >= tail; at += chunk - tail + 1 {
		b, err := data.bytes(at, min(chunk, data.size-at))
		if err != nil {
			return 0, err
		}
		if i := bytes.Index(b[8:], bundleSignature); i >= 0 {
			return le.Uint64(b[i:]), nil
		}
	}
	return 0, nil
}

// A bundleReader reads the list of the embedded files.
type bundleReader struct {
	r   *bufio.Reader
	err error
}

// entry reads the description of a file.
func (b *bundleReader) entry(major uint32) (e Embedded, kind byte) {
	e.offset, e.size = b.i64(), b.i64()
	if major >= 6 {
		e.compressed = b.i64()
	}
	kind = b.bytes(1)[0]
	e.Name = b.text()
	return e, kind
}

func (b *bundleReader) bytes(n int) []byte {
	v := make([]byte, n)
	if b.err == nil {
		_, b.err = io.ReadFull(b.r, v)
	}
	return v
}

func (b *bundleReader) skip(n int)  { b.bytes(n) }
func (b *bundleReader) u32() uint32 { return le.Uint32(b.bytes(4)) }
func (b *bundleReader) i64() int64  { return int64(le.Uint64(b.bytes(8))) }

// text reads a string, preceded by its length as a varint.
func (b *bundleReader) text() string {
	if b.err != nil {
		return ""
	}
	n, err := binary.ReadUvarint(b.r)
	if err != nil {
		b.err = err
		return ""
	}
	const longest = 4096
	if n > longest {
		b.err = damage("a name of %d bytes", n)
		return ""
	}
	return string(b.bytes(int(n)))
}

// Open reads the head of an embedded assembly, given the program that contains it. The metadata of a
// compressed one is kept in memory. unpacking is called before bytes of it are unpacked, with their
// number, and may refuse that with an error.
func (e *Embedded) Open(r io.ReaderAt, unpacking func(bytes int64) error) (*Assembly, error) {
	if e.compressed == 0 {
		return Open(io.NewSectionReader(r, e.offset, e.size), e.size)
	}
	const ratio = 1032 // deflate compresses no better
	if e.size/ratio > e.compressed {
		return nil, damage("%d bytes cannot contain the %d of %s", e.compressed, e.size, e.Name)
	}
	unpacked := &inflated{packed: io.NewSectionReader(r, e.offset, e.compressed), unpacking: unpacking}
	m, err := metadata(input{unpacked, e.size})
	if err != nil {
		return nil, err
	}
	b, err := m.bytes(0, m.size)
	if err != nil {
		return nil, err
	}
	return open(input{memory(b), m.size})
}
