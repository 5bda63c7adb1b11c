package ecma335

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
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
	"N.Plain.text e  false",
	"N.Plain.plain 12 N.Plain true",
	"N.Plain.list 12 System.Collections.Generic.List`1 false",
	"N.Plain.id 11 System.Guid false",
	"N.Plain.face 12 N.IFace false",
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

func TestBundle(t *testing.T) {
	tiny := new(crafted).example().bytes()
	for _, x := range []struct {
		major uint32
		pack  func([]byte) []byte
	}{{2, nil}, {6, nil}, {6, deflate}} {
		b := bundle(x.major, x.pack, map[string][]byte{"lib/tiny.dll": tiny})
		b = append(make([]byte, 1<<20-30), b...) // the signature is where two reads meet
		for i := range b[1<<20-30:] {
			if bytes.HasPrefix(b[1<<20-30+i:], bundleSignature) {
				at := 1<<20 - 30 + i - 8
				le.PutUint64(b[at:], le.Uint64(b[at:])+1<<20-30)
				break
			}
		}
		r := bytes.NewReader(b)
		list, err := Bundle(r, r.Size())
		if err != nil || len(list) != 1 || list[0].Name != "lib/tiny.dll" {
			t.Fatal(x.major, list, err)
		}
		list[0].offset += 1<<20 - 30
		a, err := list[0].Open(r)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := everything(a); err != nil || !slices.Equal(got, wanted) {
			t.Errorf("%q, %v", got, err)
		}
		whole := bundle(x.major, x.pack, map[string][]byte{"tiny.dll": tiny})
		for n := range whole {
			if list, err := Bundle(bytes.NewReader(whole[:n]), int64(n)); err == nil {
				t.Errorf("no error for %d of %d bytes: %v", n, len(whole), list)
			}
		}
	}
	none := bundle(6, nil, nil)
	le.PutUint64(none[bytes.Index(none, bundleSignature)-8:], 0)
	for _, b := range [][]byte{none, nil, make([]byte, 100)} {
		if _, err := Bundle(bytes.NewReader(b), int64(len(b))); !errors.Is(err, ErrNoBundle) {
			t.Error(err)
		}
	}
	bomb := bundle(6, func([]byte) []byte { return deflate(make([]byte, 1<<20)) }, map[string][]byte{"a": make([]byte, 1<<24)})
	list, err := Bundle(bytes.NewReader(bomb), int64(len(bomb)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := list[0].Open(bytes.NewReader(bomb)); err == nil {
		t.Error("no error for a size that the data does not have")
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
	f.Fuzz(func(_ *testing.T, b []byte) {
		list, err := Bundle(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for i := range list {
			if a, err := list[i].Open(bytes.NewReader(b)); err == nil {
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
