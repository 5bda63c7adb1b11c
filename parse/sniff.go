package parse

import (
	"bytes"
	"encoding/binary"
)

// sniffLen is the number of leading bytes by which the kind of a file is recognized. A shorter file
// is recognized by all its bytes.
const sniffLen = 512

// elfCore is ET_CORE, in the low byte of e_type.
const elfCore = 4

// Hints for files of other kinds.
const (
	hintRecord   = "record it again with gclog record, or with dotnet-trace of .NET Core 3.0 or later"
	hintOriginal = "use the .nettrace file that it was converted from"
)

var (
	magicNettrace = []byte("Nettrace")
	magicFast     = []byte("!FastSerialization.1")
)

// sniff returns the kind of a file that does not start like a nettrace stream.
func sniff(b []byte) *KindError {
	u32 := func(off int) uint32 {
		if len(b) < off+4 {
			return 0
		}
		return binary.LittleEndian.Uint32(b[off:])
	}
	has := func(off int, s string) bool {
		return len(b) >= off && bytes.HasPrefix(b[off:], []byte(s))
	}
	switch {
	case len(b) == 0:
		return &KindError{Kind: KindEmpty, Found: "an empty file"}
	case bytes.HasPrefix(magicNettrace, b):
		return &KindError{Kind: KindBegin, Found: "the first bytes of one, and nothing after them"}
	case u32(0) == uint32(len(magicFast)) && has(4, string(magicFast)):
		return sniffFastSerialization(b)
	case has(0, "PK\x03\x04"):
		return &KindError{
			KindZip, "a zip archive, such as perfcollect's .trace.zip, with perf and LTTng data", hintRecord,
		}
	case has(0, "PERFILE2"):
		return &KindError{KindPerf, "a Linux perf recording (perf.data)", hintRecord}
	case has(0, "\xc1\x1f\xfc\xc1"), has(0, "\xc1\xfc\x1f\xc1"):
		return &KindError{KindLTTng, "an LTTng recording (CTF), such as perfcollect writes", hintRecord}
	case len(b) >= 0x4c && b[0x4b] == 0xc0 && (b[0x4a] == 1 || b[0x4a] == 2):
		// The first record after the 72 bytes of a WMI_BUFFER_HEADER is a system
		// header: type 1 or 2, marker flags 0xC0.
		return &KindError{KindETL, "a Windows ETW log (.etl)", "open it with PerfView on Windows, or " + hintRecord}
	case has(0, "\x1f\x8b"), has(0, "\x28\xb5\x2f\xfd"):
		return &KindError{KindPacked, "compressed data", "unpack it first"}
	case has(0, "\x7fELF") && len(b) > 16 && b[16] == elfCore, has(0, "MDMP"):
		return &KindError{
			KindDump, "a memory dump of a process, which contains no events", "open it with dotnet-dump analyze",
		}
	case has(0, "{") && bytes.Contains(b, []byte("speedscope")):
		return &KindError{KindSpeedscope, "a speedscope profile, converted from a recording", hintOriginal}
	case has(0, "{") && bytes.Contains(b, []byte(`"traceEvents"`)), has(0, "[{") && bytes.Contains(b, []byte(`"ph":`)):
		return &KindError{
			KindChromium, "a profile for Chromium's tracing page, converted from a recording", hintOriginal,
		}
	}
	const begin = "a .nettrace file starts with \"Nettrace\""
	for _, k := range []struct{ first, found string }{
		{"\x7fELF", "an ELF program or library"},
		{"MZ", "a Windows program or library"},
		{"\xcf\xfa\xed\xfe", "a macOS program or library"},
		{"#!", "a script"},
		{"%PDF", "a PDF document"},
		{"<!DOCTYPE html", "a web page"},
		{"<html", "a web page"},
		{"<?xml", "an XML document"},
	} {
		if has(0, k.first) {
			return &KindError{Found: k.found, Hint: begin}
		}
	}
	return &KindError{Found: "unknown data that starts with the bytes " + quoteFirst(b), Hint: begin}
}

// sniffFastSerialization distinguishes the files of Microsoft's FastSerialization container by the
// name of their first object. The first types of a heap snapshot follow at once, and have any names.
func sniffFastSerialization(b []byte) *KindError {
	first := len(b)
	for _, name := range []string{"GCHeapDump", "MemoryGraph"} {
		if i := bytes.Index(b, []byte(name)); i >= 0 {
			first = min(first, i)
		}
	}
	switch {
	case bytes.Contains(b[:first], []byte("TraceLog")):
		return &KindError{KindETLX, "a log converted by PerfView (.etlx)", hintOriginal}
	case first < len(b):
		return &KindError{KindGCDump, "a heap snapshot (.gcdump), which contains no events", "gclog heap stat reads it"}
	}
	return &KindError{KindNetPerf, "a NetPerf file, the format of .NET Core 2.x and of the previews of 3.0", hintRecord}
}

// quoteFirst quotes up to 8 leading bytes so that the result contains nothing a terminal would act
// on.
func quoteFirst(b []byte) string {
	const hex = "0123456789abcdef"
	var out []byte
	for i, c := range b[:min(8, len(b))] {
		if i > 0 {
			out = append(out, ' ')
		}
		out = append(out, hex[c>>4], hex[c&15])
	}
	return string(out)
}
