package nativeaot_test

import (
	"bytes"
	"debug/elf"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap/nativeaot"
	"github.com/gclog/gclog/internal/testing/elffile"
)

// open opens a file.
func open(t testing.TB, file []byte) *nativeaot.Program {
	t.Helper()
	p, err := nativeaot.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func all(uint64) bool { return true }

// symbolsOf returns the symbols of a program that has these, at 0x1000, 0x1010 and so on.
func symbolsOf(t testing.TB, names ...string) *nativeaot.Symbols {
	t.Helper()
	c := elffile.Program{Class: elf.ELFCLASS64}
	for i, name := range names {
		c.Symbols = append(c.Symbols, elffile.Symbol{At: uint64(0x1000 + 0x10*i), Name: name})
	}
	s, err := open(t, c.Bytes()).Symbols(all)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSymbols: what the symbols of a program say, wherever it is to be loaded.
func TestSymbols(t *testing.T) {
	for _, c := range []elffile.Program{{Class: elf.ELFCLASS64}, {Class: elf.ELFCLASS64, Base: 0x400000}, {Class: elf.ELFCLASS32, Base: 0x10000}} {
		for i, name := range []string{
			"", elffile.Type("Shop_Order"), elffile.Type("__Array<Shop_Order>"), "_ZTV4Shop_Other", "__GCStaticEEType_011",
			"__GCSTATICSShop_Second", "__GCSTATICSShop_First__PreInitData", "__GCSTATICSShop_First", strings.Repeat("x", 20<<10), "Shop_Order___ctor",
		} {
			c.Symbols = append(c.Symbols, elffile.Symbol{At: c.Base + 0x100*uint64(i), Name: name})
		}
		c.Symbols[5].At += 0x1000
		c.BuildID, c.Link = "\xde\xad\xbe\xef", "shop.dbg"
		p := open(t, c.Bytes())
		if p.BuildID != "deadbeef" || p.DebugLink != "shop.dbg" || !p.Contains(0xffff) || p.Contains(0x10000) {
			t.Errorf("%+v", p)
		}
		s, err := p.Symbols(func(offset uint64) bool { return offset != 0x200 })
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Types) != 1 || s.Types[0x100] != "_ZTV10Shop_Order" || len(s.Layouts) != 1 || !s.Layouts[0x400] {
			t.Errorf("%v: types %v, layouts %v", c.Class, s.Types, s.Layouts)
		}
		if strings.Join(s.Statics, " ") != "Shop_First Shop_Second" {
			t.Errorf("%v: the statics of %v", c.Class, s.Statics)
		}
	}
}
