package parse_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gclog/gclog/parse"
)

// TestSniff: the kind of a file by its first bytes, what to do about it, and files that only start
// alike.
func TestSniff(t *testing.T) {
	at := func(off int, s string) []byte { return append(make([]byte, off), s...) }
	padded := func(s string, n int) []byte { return append([]byte(s), make([]byte, n-len(s))...) }
	fast := func(name string) []byte { return []byte("\x14\x00\x00\x00!FastSerialization.1" + name) }
	elf := func(kind byte) []byte { return append(padded("\x7fELF\x02", 16), kind) }
	for _, c := range []struct {
		b    []byte
		kind parse.Kind
		hint string // part of it; "-": none
	}{
		{nil, parse.KindEmpty, "-"},
		{[]byte("N"), parse.KindBegin, "-"},
		{[]byte("Nettrace")[:7], parse.KindBegin, "-"},
		{[]byte("Nettrash"), parse.KindUnknown, "starts with"},
		{fast(""), parse.KindNetPerf, "record it again"},
		{fast("TraceLog"), parse.KindETLX, "use the .nettrace file"},
		{fast("GCHeapDump"), parse.KindGCDump, "gclog heap stat"},
		{fast("MemoryGraph"), parse.KindGCDump, "gclog heap stat"},
		{fast("GCHeapDump ... System.Diagnostics.Tracing.TraceLoggingTypeInfo"), parse.KindGCDump, "gclog heap stat"},
		{fast("TraceLog ... MemoryGraph"), parse.KindETLX, "use the .nettrace file"},
		{[]byte("\x15\x00\x00\x00!FastSerialization.1"), parse.KindUnknown, "starts with"},
		{[]byte("\x14\x00\x00\x00!FastSerialization.2"), parse.KindUnknown, "starts with"},
		{[]byte("\x14\x00\x00"), parse.KindUnknown, "starts with"},
		{[]byte("PK\x03\x04"), parse.KindZip, "record it again"},
		{[]byte("PERFILE2"), parse.KindPerf, "record it again"},
		{[]byte("\xc1\x1f\xfc\xc1"), parse.KindLTTng, "record it again"},
		{[]byte("\xc1\xfc\x1f\xc1"), parse.KindLTTng, "record it again"},
		{at(0x4a, "\x01\xc0"), parse.KindETL, "PerfView"},
		{at(0x4a, "\x02\xc0"), parse.KindETL, "PerfView"},
		{at(0x4a, "\x03\xc0"), parse.KindUnknown, "starts with"},
		{at(0x4a, "\x01\xc1"), parse.KindUnknown, "starts with"},
		{at(0x4a, "\x01"), parse.KindUnknown, "starts with"},
		{[]byte("\x1f\x8b"), parse.KindPacked, "unpack"},
		{[]byte("\x28\xb5\x2f\xfd"), parse.KindPacked, "unpack"},
		{[]byte("MDMP"), parse.KindDump, "dotnet-dump"},
		{elf(4), parse.KindDump, "dotnet-dump"},
		{elf(3), parse.KindUnknown, "starts with"},
		{elf(4)[:16], parse.KindUnknown, "starts with"},
		{[]byte(`{"$schema": "https://www.speedscope.app"`), parse.KindSpeedscope, "use the .nettrace file"},
		{[]byte(`["speedscope"`), parse.KindUnknown, "starts with"},
		{[]byte(`{"a": 1, "traceEvents": [`), parse.KindChromium, "use the .nettrace file"},
		{[]byte(`[{"ph": "X"`), parse.KindChromium, "use the .nettrace file"},
		{[]byte(`["traceEvents"`), parse.KindUnknown, "starts with"},
		{[]byte(`{"ph": "X"`), parse.KindUnknown, "starts with"},
		{[]byte("{}"), parse.KindUnknown, "starts with"},
		{[]byte("[{}]"), parse.KindUnknown, "starts with"},
		{[]byte("\xcf\xfa\xed\xfe"), parse.KindUnknown, "starts with"},
		{[]byte("%PDF-1.7"), parse.KindUnknown, "starts with"},
		{[]byte("<?xml"), parse.KindUnknown, "starts with"},
	} {
		_, r := read(c.b, parse.All)
		var k *parse.KindError
		if !errors.As(r.Err(), &k) || k.Kind != c.kind {
			t.Errorf("%q: %v", c.b, r.Err())
			continue
		}
		if c.hint == "-" {
			c.hint = ""
			if k.Hint != "" {
				t.Errorf("%q: the hint %q", c.b, k.Hint)
			}
		}
		message := "not a nettrace stream: this is " + k.Found
		if k.Hint != "" {
			message += "; " + k.Hint
		}
		if !strings.Contains(k.Hint, c.hint) || k.Error() != message {
			t.Errorf("%q: %v", c.b, k)
		}
	}
	for b, want := range map[string]string{
		"\x00":                                 "00",
		"\x1b[31m":                             "1b 5b 33 31 6d",
		"\x01\x23\x45\x67\x89\xab\xcd\xef\xff": "01 23 45 67 89 ab cd ef",
	} {
		_, r := read([]byte(b), parse.All)
		var k *parse.KindError
		if !errors.As(r.Err(), &k) || k.Found != "unknown data that starts with the bytes "+want {
			t.Errorf("%q: %v", b, r.Err())
		}
	}
	// The distinguishing bytes are searched for in the first 512.
	for n, kind := range map[int]parse.Kind{500: parse.KindSpeedscope, 503: parse.KindUnknown} {
		_, r := read(append(padded("{", n), `speedscope and more`...), parse.All)
		var k *parse.KindError
		if !errors.As(r.Err(), &k) || n < 502 && k.Kind != kind {
			t.Errorf("at %d: %v", n, r.Err())
		}
	}
}
