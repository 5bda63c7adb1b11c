package ecma335

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

func openBytes(b []byte) (*Assembly, error) { return Open(bytes.NewReader(b), int64(len(b))) }

// everything reads all that can be read.
func everything(a *Assembly) (list []string, err error) {
	id, err := a.ID()
	if err != nil {
		return nil, err
	}
	list = append(list, id)
	for row := 1; row <= a.NumTypes(); row++ {
		path, err := a.Path(tokenTypeDef | uint32(row))
		if err != nil {
			return nil, err
		}
		base, token, err := a.Base(tokenTypeDef | uint32(row))
		if err != nil {
			return nil, err
		}
		list = append(list, fmt.Sprintf("%s: %s %x", FullName(path), base, token))
	}
	for f, err := range a.Statics() {
		if err != nil {
			return nil, err
		}
		path, err := a.Path(f.Owner)
		if err != nil {
			return nil, err
		}
		list = append(list, fmt.Sprintf("%s.%s %x %s %t", FullName(path), f.Name, f.Kind, f.Type, f.Class))
	}
	events, err := a.EventFields()
	if err != nil {
		return nil, err
	}
	for _, token := range slices.Sorted(maps.Keys(events)) {
		path, err := a.Path(token)
		if err != nil {
			return nil, err
		}
		for _, f := range events[token] {
			list = append(list, fmt.Sprintf("event %s.%s %s", FullName(path), f.Name, f.Type))
		}
	}
	return list, nil
}

var wanted = []string{
	strings.Repeat("ab", 16),
	"<Module>:  0",
	"N.Outer`1: System.Object 0",
	"N.Outer`1+Inner`1: System.Object 0",
	"N.Plain: System.Object 0",
	"N.Plain+Deep: System.Object 0",
	"N.Plain+Deep+Deeper: N.Plain+Deep 2000005",
	"N.IFace:  0",
	"N.Publisher: System.Object 0",
	"N.Special: N.Publisher 2000008",
	"N.Plain.text e  false",
	"N.Plain.plain 12 N.Plain true",
	"N.Plain.list 12 System.Collections.Generic.List`1 false",
	"N.Plain.id 11 System.Guid false",
	"N.Plain.face 12 N.IFace false",
	"N.Publisher.Shared 12 System.Handler`1 false",
	"event N.Publisher.Changed System.Handler`1",
}

func TestCrafted(t *testing.T) {
	for name, c := range map[string]*crafted{
		"PE32": {}, "PE32+": {plus: true}, "wide heaps": {wide: true}, "uncompressed": {pointer: true},
		"wide indexes": {padding: 1 << 16}, "custom attributes": {padding: 1 << 11},
	} {
		a, err := openBytes(c.example().bytes())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := everything(a); err != nil || !slices.Equal(got, wanted) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestTruncated cuts an assembly off at each byte, and replaces each byte.
func TestTruncated(t *testing.T) {
	whole := new(crafted).example().bytes()
	for n := range whole {
		a, err := openBytes(whole[:n])
		if err == nil {
			_, err = everything(a)
		}
		if err == nil {
			t.Errorf("no error for %d of %d bytes", n, len(whole))
		}
		for _, v := range []byte{0, 1, 0x7f, 0xff} {
			b := bytes.Clone(whole)
			b[n] = v
			if a, err := openBytes(b); err == nil {
				_, _ = everything(a)
			}
		}
	}
}

// TestCycle nests a class in itself, and two in each other.
func TestCycle(t *testing.T) {
	for _, rows := range [][][]uint32{{{5, 5}}, {{5, 6}, {6, 5}}} {
		c := new(crafted).example()
		c.tables[tableNestedClass] = rows
		a, err := openBytes(c.bytes())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Path(tokenTypeDef | 5); err == nil {
			t.Error("no error for a class in itself")
		}
	}
	c := new(crafted).example()
	c.tables[tableTypeRef][4][0] = 5<<2 | 3
	a, err := openBytes(c.bytes())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.typeName(reference{tableTypeRef, 5}); err == nil {
		t.Error("no error for a reference in itself")
	}
}

func TestNoAssembly(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("MZ"), []byte("\x7fELF"), bytes.Repeat([]byte("MZ"), 100)} {
		if _, err := openBytes(b); !errors.Is(err, ErrNoMetadata) {
			t.Errorf("%q: %v", b, err)
		}
	}
}

func deflate(b []byte) []byte {
	var z bytes.Buffer
	w, _ := flate.NewWriter(&z, flate.BestCompression)
	_, _ = w.Write(b)
	_ = w.Close()
	return z.Bytes()
}

// unbounded lets everything be unpacked.
func unbounded(int64) error { return nil }

func TestBundle(t *testing.T) {
	tiny := new(crafted).example().bytes()
	for _, x := range []struct {
		kind    string
		padding int
		major   uint32
		pack    func([]byte) []byte
	}{
		{"ELF", 0, 2, nil},
		{"ELF", 0, 6, nil},
		{"ELF", 0, 6, deflate},
		{"ELF32", 100, 6, nil},
		{"PE", 0, 6, deflate},
		{"Mach-O", 0, 6, deflate},
		{"ELF", 1<<20 - 30, 6, nil}, // the signature is where two reads meet
	} {
		b := bundleIn(x.kind, x.padding, x.major, x.pack, map[string][]byte{"lib/tiny.dll": tiny})
		r := bytes.NewReader(b)
		list, err := Bundle(r, r.Size())
		if err != nil || len(list) != 1 || list[0].Name != "lib/tiny.dll" {
			t.Fatal(x.kind, x.major, list, err)
		}
		a, err := list[0].Open(r, unbounded)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := everything(a); err != nil || !slices.Equal(got, wanted) {
			t.Errorf("%q, %v", got, err)
		}
		for n := 0; n < len(b); n += max(1, x.padding/10) {
			if list, err := Bundle(bytes.NewReader(b[:n]), int64(n)); err == nil {
				t.Errorf("no error for %d of %d bytes: %v", n, len(b), list)
			}
		}
	}
	none := bundle(6, nil, nil)
	le.PutUint64(none[bytes.Index(none, bundleSignature)-8:], 0)
	elsewhere := append(make([]byte, 100), bundleSignature...) // not in the data of a program
	le.PutUint64(elsewhere[92:], 100)
	for _, b := range [][]byte{none, nil, make([]byte, 100), elsewhere} {
		if _, err := Bundle(bytes.NewReader(b), int64(len(b))); !errors.Is(err, ErrNoBundle) {
			t.Error(err)
		}
	}
}

// zeros is a file of zeros, which counts what is read of it, and what at most may be.
type zeros struct {
	head       []byte
	read, most int64
}

func (z *zeros) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < int64(len(z.head)) {
		copy(p, z.head[off:])
	}
	z.read += int64(len(p))
	if z.read > z.most {
		return 0, fmt.Errorf("%d bytes were read", z.read)
	}
	return len(p), nil
}

// TestHugeFiles: of a file of terabytes, only that is read which the host of a program, or an assembly,
// has where its head says.
func TestHugeFiles(t *testing.T) {
	const size = 4 << 40
	widened := func(kind string) []byte { // its data is the whole file
		b, _ := host(kind, 0)
		switch b = b[:0x200]; kind {
		case "ELF":
			le.PutUint64(b[64+2*56+32:], size)
		case "PE":
			le.PutUint32(b[0x40+24+112+40+16:], 0xffffffff)
		case "Mach-O":
			le.PutUint64(b[32+24+48:], size)
		}
		return b
	}
	for name, head := range map[string][]byte{
		"zeros": nil, "ELF": []byte("\x7fELF"), "MZ": []byte("MZ"), "an ELF file": widened("ELF"), "a PE file": widened("PE"), "a Mach-O file": widened("Mach-O"),
	} {
		z := &zeros{head: head, most: maxData + 1<<20}
		if _, err := Bundle(z, size); !errors.Is(err, ErrNoBundle) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Open(z, size); err == nil {
			t.Errorf("%s is an assembly", name)
		}
	}
	list := bundle(6, nil, map[string][]byte{"a.dll": nil})
	le.PutUint32(list[bytes.Index(list, []byte("\x05ident"))-4:], 1<<31)
	var large *TooLargeError
	if _, err := Bundle(&zeros{head: list, most: 1 << 20}, size); !errors.As(err, &large) {
		t.Errorf("a list of 2^31 files: %v", err)
	}
	b := new(crafted).example().bytes()
	at := bytes.Index(b, []byte{2, 0, 5, 0}) // CLI header, after its size
	le.PutUint32(b[at+8:], maxMetadata+1)
	if _, err := Open(&zeros{head: b, most: 1 << 20}, size); !errors.As(err, &large) {
		t.Errorf("huge metadata: %v", err)
	}
}

// TestBomb: what an embedded assembly unpacks to is asked for before it is unpacked, and only its
// metadata is kept.
func TestBomb(t *testing.T) {
	b := bundle(6, func([]byte) []byte { return deflate(make([]byte, 1<<20)) }, map[string][]byte{"a": make([]byte, 1<<24)})
	list, err := Bundle(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := list[0].Open(bytes.NewReader(b), unbounded); err == nil {
		t.Error("no error for a size that the data does not have")
	}
	far := new(crafted).example().bytes()
	section := bytes.Index(far, []byte(".text")) // the only one, which moves to the end
	le.PutUint32(far[section+20:], 1<<24)
	far = append(far, make([]byte, 1<<24)...)
	b = bundle(6, deflate, map[string][]byte{"a": far})
	if list, err = Bundle(bytes.NewReader(b), int64(len(b))); err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	unpacked := int64(0)
	_, err = list[0].Open(bytes.NewReader(b), func(n int64) error {
		if unpacked += n; unpacked > 4<<20 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || unpacked > 6<<20 {
		t.Errorf("%d bytes unpacked: %v", unpacked, err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(new(crafted).example().bytes())
	f.Add((&crafted{plus: true, wide: true, pointer: true}).example().bytes())
	f.Fuzz(func(_ *testing.T, b []byte) {
		if a, err := openBytes(b); err == nil {
			_, _ = everything(a)
		}
	})
}

func FuzzBundle(f *testing.F) {
	tiny := new(crafted).example().bytes()
	f.Add(bundle(2, nil, map[string][]byte{"a.dll": tiny}))
	f.Add(bundle(6, deflate, map[string][]byte{"a.dll": tiny}))
	for _, kind := range []string{"ELF32", "PE", "Mach-O"} {
		f.Add(bundleIn(kind, 0, 6, nil, map[string][]byte{"a.dll": tiny}))
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		list, err := Bundle(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for i := range list {
			if a, err := list[i].Open(bytes.NewReader(b), unbounded); err == nil {
				_, _ = everything(a)
			}
		}
	})
}

// TestTestdata compares the assembly that other packages use for tests with the crafted one.
func TestTestdata(t *testing.T) {
	const path = "testdata/tiny.dll"
	want := new(crafted).example().bytes()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		if os.Getenv("UPDATE_TINY") != "" {
			err = os.WriteFile(path, want, 0o600)
		}
		t.Errorf("%s is not the crafted assembly (set UPDATE_TINY=1 to write it): %v", path, err)
	}
}
