package clr

import (
	"encoding/binary"
	"unicode/utf16"
)

// RecordedProcess contains what the recorder of a process knew about it and the runtime may not
// report (docs/events.md, Recordings).
type RecordedProcess struct {
	Instance             // always 0: the event does not come from a runtime
	Name           UTF16 // of the program
	RuntimeVersion UTF16 // "8.0.14"
	Flavor         UTF16 // "CoreCLR" or "NativeAOT"
	GC             UTF16 // "server" or "workstation"
	Started        int64 // start of the process, nanoseconds of Unix time; 0: unknown
}

func (e *RecordedProcess) decode(p *payload, _ int) {
	*e = RecordedProcess{Name: p.utf16z(), RuntimeVersion: p.utf16z(), Flavor: p.utf16z(), GC: p.utf16z(), Started: int64(p.u64())}
}

// Types of fields in event metadata, numbered as in .NET's TypeCode.
const (
	fieldInt64  = 11
	fieldString = 18
)

// AppendRecordedProcess appends the payload of a RecordedProcess.
func AppendRecordedProcess(b []byte, name, runtimeVersion, flavor, gc string, started int64) []byte {
	b = appendUTF16z(b, name)
	b = appendUTF16z(b, runtimeVersion)
	b = appendUTF16z(b, flavor)
	b = appendUTF16z(b, gc)
	return binary.LittleEndian.AppendUint64(b, uint64(started))
}

// AppendRecordedProcessMetadata appends the payload of a V4 metadata row for RecordedProcess, for
// readers that do not know the event.
func AppendRecordedProcessMetadata(b []byte, id uint32) []byte {
	b = binary.LittleEndian.AppendUint32(b, id)
	b = appendUTF16z(b, RecordingProvider)
	b = binary.LittleEndian.AppendUint32(b, IDRecordedProcess)
	b = appendUTF16z(b, Name(RecordingProvider, IDRecordedProcess))
	b = binary.LittleEndian.AppendUint64(b, 0) // keywords
	b = binary.LittleEndian.AppendUint32(b, 0) // version
	b = binary.LittleEndian.AppendUint32(b, LevelInformational)
	fields := []struct {
		name string
		kind uint32
	}{{"Name", fieldString}, {"RuntimeVersion", fieldString}, {"Flavor", fieldString}, {"GC", fieldString}, {"Started", fieldInt64}}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(fields)))
	for _, f := range fields {
		b = binary.LittleEndian.AppendUint32(b, f.kind)
		b = appendUTF16z(b, f.name)
	}
	return b
}

func appendUTF16z(b []byte, s string) []byte {
	for _, c := range append(utf16.Encode([]rune(s)), 0) {
		b = binary.LittleEndian.AppendUint16(b, c)
	}
	return b
}
