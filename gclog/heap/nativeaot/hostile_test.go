package nativeaot_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap/nativeaot"
	"github.com/gclog/gclog/internal/testing/elffile"
)

// TestNoPrograms: what is no program, and one without symbols.
func TestNoPrograms(t *testing.T) {
	for _, file := range []string{"", "MZ", strings.Repeat("x", 100), "\x7fELF\x02\x02" + strings.Repeat("\x00", 100), "\x7fELF\x03\x01" + strings.Repeat("\x00", 100)} {
		if _, err := nativeaot.Open(strings.NewReader(file), int64(len(file))); !errors.Is(err, nativeaot.ErrNoProgram) {
			t.Errorf("%.10q: %v", file, err)
		}
	}
	file := (&elffile.Program{Class: elf.ELFCLASS64}).Bytes()
	binary.LittleEndian.PutUint16(file[60:], 0) // sections
	if _, err := open(t, file).Symbols(all); !errors.Is(err, nativeaot.ErrNoSymbols) {
		t.Errorf("without sections: %v", err)
	}
}

// TestDamaged: a file that ends early, or in which a byte is another one, is read or refused.
func TestDamaged(t *testing.T) {
	for _, class := range []elf.Class{elf.ELFCLASS32, elf.ELFCLASS64} {
		file := (&elffile.Program{Class: class, Symbols: []elffile.Symbol{{At: 0x100, Name: elffile.Type("Shop_Order")}, {At: 0x200, Name: "__GCSTATICSShop"}}}).Bytes()
		for i := range file {
			use(file[:i])
			for _, b := range []byte{0, 1, 0x7f, 0x80, 0xff} {
				changed := bytes.Clone(file)
				changed[i] = b
				use(changed)
			}
		}
	}
}

// use reads all of a file.
func use(file []byte) {
	p, err := nativeaot.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return
	}
	s, err := p.Symbols(all, "shop")
	if err != nil {
		return
	}
	for _, symbol := range s.Types {
		_, _ = s.Type(symbol)
	}
	for _, text := range s.Statics {
		_, _ = s.Name(text)
	}
}

// FuzzPrograms: no file makes the reader fail in any other way than with an error.
func FuzzPrograms(f *testing.F) {
	f.Add((&elffile.Program{Class: elf.ELFCLASS64, Symbols: []elffile.Symbol{{At: 0x100, Name: elffile.Type("Shop_Order")}}}).Bytes())
	f.Add((&elffile.Program{Class: elf.ELFCLASS32, Symbols: []elffile.Symbol{{At: 0x100, Name: elffile.Type("A__Array<B_1<Int32__Int32>>")}}}).Bytes())
	f.Fuzz(func(_ *testing.T, file []byte) { use(file) })
}

// FuzzNames: no text takes long, or makes anything fail.
func FuzzNames(f *testing.F) {
	f.Add("S_P_CoreLib_System_Collections_Generic_Dictionary_2_Entry<Int32____Array<UInt8>>")
	f.Add("Shop_Program___Load_g__Local_3_0_d")
	s := symbolsOf(f, elffile.Type("Shop_Order"))
	f.Fuzz(func(_ *testing.T, text string) { _, _ = s.Name(text) })
}

// endless is a file of zeros after its beginning, which counts what is read.
type endless struct {
	head []byte
	read int64
}

// ReadAt implements io.ReaderAt.
func (e *endless) ReadAt(p []byte, off int64) (int, error) {
	e.read += int64(len(p))
	clear(p)
	if off < int64(len(e.head)) {
		copy(p, e.head[off:])
	}
	return len(p), nil
}

// TestLargeNames: names of symbols that are too many are not read, and of those that overlap no more is
// kept than the names of the largest programs take.
func TestLargeNames(t *testing.T) {
	file := (&elffile.Program{Class: elf.ELFCLASS64, Symbols: []elffile.Symbol{{At: 0x100, Name: "x"}}}).Bytes()
	names := 64 + 56 + 4*64 // the head of the section with the names
	binary.LittleEndian.PutUint64(file[names+32:], 1<<40)
	e := &endless{head: file}
	p, err := nativeaot.Open(e, 1<<50)
	if err != nil {
		t.Fatal(err)
	}
	var large *nativeaot.TooLargeError
	if _, err := p.Symbols(all); !errors.As(err, &large) || e.read > 1<<20 {
		t.Errorf("%v, %d bytes were read", err, e.read)
	}

	// Long names, of which each symbol has the end from another place on.
	const long, several = 7 << 10, 4
	c := elffile.Program{Class: elf.ELFCLASS64}
	for i := range several * long {
		name := "x"
		if i < several {
			name = strings.Repeat(string(rune('a'+i)), long) + "__Get"
		}
		c.Symbols = append(c.Symbols, elffile.Symbol{At: uint64(0x200 + i), Name: name})
	}
	file = c.Bytes()
	table := 64 + 56 + 6*64 + 16 + 8 + elf.Sym64Size // after the notes, the link and the first symbol
	for i := range c.Symbols {
		binary.LittleEndian.PutUint32(file[table+i*elf.Sym64Size:], uint32(1+i))
	}
	if _, err := open(t, file).Symbols(all); !errors.As(err, &large) {
		t.Errorf("names that overlap: %v", err)
	}
	var limited io.ReaderAt = limitedReader{bytes.NewReader(file)}
	if _, err := nativeaot.Open(limited, int64(len(file))); !errors.Is(err, errLimit) {
		t.Errorf("%v", err)
	}
}

var errLimit = errors.New("no more may be read")

// limitedReader refuses to read.
type limitedReader struct{ io.ReaderAt }

// ReadAt implements io.ReaderAt.
func (limitedReader) ReadAt([]byte, int64) (int, error) { return 0, errLimit }

// TestLongNames: names of the greatest length, of the worst kinds, are parsed at once.
func TestLongNames(t *testing.T) {
	s := symbolsOf(t, elffile.Type("a"))
	for _, part := range []string{"a_", "_", "a<", "a__b", "_1", "__c", "a_a_a_d", "String__"} {
		if _, ok := s.Name(strings.Repeat(part, (8<<10)/len(part))); ok && strings.Contains(part, "<") {
			t.Errorf("%s is a name", part)
		}
	}
}
