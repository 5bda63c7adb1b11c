package ecma335

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrNoMetadata reports that a file is not a .NET assembly.
var ErrNoMetadata = errors.New("the file contains no .NET metadata")

// A damage is a file that is an assembly, but whose content is not as the format prescribes.
func damage(format string, a ...any) error {
	return fmt.Errorf("damaged assembly: "+format, a...)
}

// A TooLargeError reports that a part of an assembly, or of a single-file program, is larger than what
// is read.
type TooLargeError struct {
	Part        string
	Size, Limit int64 // bytes, or a number of files
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("its %s has the size %d; up to %d is read", e.Part, e.Size, e.Limit)
}

// An input is a file, or a part of one.
type input struct {
	r    io.ReaderAt
	size int64
}

// part returns a part of the input.
func (in input) part(at, size int64) (input, error) {
	if at < 0 || size < 0 || at > in.size || size > in.size-at {
		return input{}, damage("%d bytes at %d exceed its %d bytes", size, at, in.size)
	}
	if m, ok := in.r.(memory); ok {
		return input{m[at : at+size], size}, nil
	}
	return input{io.NewSectionReader(in.r, at, size), size}, nil
}

// memory is a part of a file that is kept.
type memory []byte

// ReadAt implements io.ReaderAt.
func (m memory) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(m).ReadAt(p, off) }

// bytes reads a part of the input.
func (in input) bytes(at, size int64) ([]byte, error) {
	p, err := in.part(at, size)
	if err != nil {
		return nil, err
	}
	if m, ok := p.r.(memory); ok {
		return m, nil
	}
	b := make([]byte, size)
	if _, err := p.r.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	} else if errors.Is(err, io.EOF) && size > 0 {
		return nil, damage("%d bytes at %d: %w", size, at, io.ErrUnexpectedEOF)
	}
	return b, nil
}

var le = binary.LittleEndian

// A section of a PE file.
type section struct {
	address, virtualSize, offset, size int64
	flags                              uint32
}

const (
	peHeaderSize  = 24 // with the signature
	sectionSize   = 40
	cliDirectory  = 14
	cliHeaderSize = 72
)

// maxMetadata is the size of the largest metadata that is read. The largest libraries that are in use
// have a third of it.
const maxMetadata = 64 << 20

// metadata finds the metadata in a PE file.
func metadata(file input) (input, error) {
	optional, sections, err := readPE(file)
	if err != nil {
		return input{}, err
	}
	address, size, err := directory(optional, cliDirectory)
	if err != nil {
		return input{}, err
	}
	cli, err := at(file, sections, address, size)
	if err != nil {
		return input{}, err
	}
	b, err := cli.bytes(0, cliHeaderSize)
	if err != nil {
		return input{}, err
	}
	if address, size = int64(le.Uint32(b[8:])), int64(le.Uint32(b[12:])); size > maxMetadata {
		return input{}, &TooLargeError{"metadata", size, maxMetadata}
	}
	return at(file, sections, address, size)
}

// readPE reads the head of a PE file. The error is ErrNoMetadata if it is none.
func readPE(file input) (optional []byte, sections []section, err error) {
	dos, err := file.bytes(0, 64)
	if err != nil || dos[0] != 'M' || dos[1] != 'Z' {
		return nil, nil, ErrNoMetadata
	}
	pe := int64(le.Uint32(dos[0x3c:]))
	header, err := file.bytes(pe, peHeaderSize)
	if err != nil || !bytes.HasPrefix(header, []byte("PE\x00\x00")) {
		return nil, nil, ErrNoMetadata
	}
	optional, err = file.bytes(pe+peHeaderSize, int64(le.Uint16(header[20:])))
	if err != nil {
		return nil, nil, err
	}
	sections, err = readSections(file, pe+peHeaderSize+int64(len(optional)), int(le.Uint16(header[6:])))
	return optional, sections, err
}

// directory returns the address and the size of an entry of the data directory.
func directory(optional []byte, entry int) (address, size int64, err error) {
	if len(optional) < 2 {
		return 0, 0, ErrNoMetadata
	}
	start := map[uint16]int{0x10b: 96, 0x20b: 112}[le.Uint16(optional)] // PE32, PE32+
	if start == 0 || len(optional) < start+8*(entry+1) || le.Uint32(optional[start-4:]) <= uint32(entry) {
		return 0, 0, ErrNoMetadata
	}
	d := optional[start+8*entry:]
	address, size = int64(le.Uint32(d)), int64(le.Uint32(d[4:]))
	if address == 0 {
		return 0, 0, ErrNoMetadata
	}
	return address, size, nil
}

func readSections(file input, from int64, n int) ([]section, error) {
	b, err := file.bytes(from, int64(n)*sectionSize)
	if err != nil {
		return nil, err
	}
	list := make([]section, n)
	for i := range list {
		h := b[i*sectionSize:]
		list[i] = section{
			virtualSize: int64(le.Uint32(h[8:])), address: int64(le.Uint32(h[12:])),
			size: int64(le.Uint32(h[16:])), offset: int64(le.Uint32(h[20:])), flags: le.Uint32(h[36:]),
		}
	}
	return list, nil
}

// at returns the part of a file that is loaded at an address.
func at(file input, sections []section, address, size int64) (input, error) {
	for _, s := range sections {
		if address >= s.address && address-s.address < s.size {
			if size > s.size-(address-s.address) {
				return input{}, damage("%d bytes at address 0x%x exceed their section", size, address)
			}
			return file.part(s.offset+address-s.address, size)
		}
	}
	return input{}, damage("no section contains address 0x%x", address)
}
