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
	// Version 1.
	DiagnosticsThreads UTF16 // "4713 4790": threads that carry out what diagnostic tools request
	Snapshot           bool  // gclog took a heap snapshot in this session
}

func (e *RecordedProcess) decode(p *payload, version int) {
	*e = RecordedProcess{
		Name:           p.utf16z(),
		RuntimeVersion: p.utf16z(),
		Flavor:         p.utf16z(),
		GC:             p.utf16z(),
		Started:        int64(p.u64()),
	}
	if p.bad || !has(version, 1) {
		return
	}
	if threads, snapshot := p.utf16z(), p.u32(); !p.bad { // what follows in version 0 is too short
		e.DiagnosticsThreads, e.Snapshot = threads, snapshot != 0
	}
	p.bad = false
}

// Types of fields in event metadata, numbered as in .NET's TypeCode.
const (
	fieldBool   = 3
	fieldInt64  = 11
	fieldString = 18
)

// AppendRecordedProcess appends the payload of a RecordedProcess.
func AppendRecordedProcess(b []byte, e *RecordedProcess) []byte {
	for _, s := range []UTF16{e.Name, e.RuntimeVersion, e.Flavor, e.GC} {
		b = append(append(b, s...), 0, 0)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(e.Started))
	b = append(append(b, e.DiagnosticsThreads...), 0, 0)
	snapshot := uint32(0)
	if e.Snapshot {
		snapshot = 1
	}
	return binary.LittleEndian.AppendUint32(b, snapshot)
}

// EncodeUTF16 returns s as it is in a payload.
func EncodeUTF16(s string) (text UTF16) {
	for _, c := range utf16.Encode([]rune(s)) {
		text = binary.LittleEndian.AppendUint16(text, c)
	}
	return text
}

// AppendRecordedProcessMetadata appends the payload of a V4 metadata row for RecordedProcess, for
// readers that do not know the event.
func AppendRecordedProcessMetadata(b []byte, id uint32) []byte {
	return appendMetadata(b, id, IDRecordedProcess, Name(RecordingProvider, IDRecordedProcess), 1, []field{
		{"Name", fieldString},
		{"RuntimeVersion", fieldString},
		{"Flavor", fieldString},
		{"GC", fieldString},
		{"Started", fieldInt64},
		{"DiagnosticsThreads", fieldString},
		{"Snapshot", fieldBool},
	})
}

// AppendRecordedThreadMetadata appends the payload of a V4 metadata row for RecordedThread. The event
// has no fields: its own number is that of the last event that a thread wrote before a recording
// begins.
func AppendRecordedThreadMetadata(b []byte, id uint32) []byte {
	return appendMetadata(b, id, IDRecordedThread, "RecordedThread", 0, nil)
}

// A field is a field of an event in its metadata.
type field struct {
	name string
	kind uint32
}

func appendMetadata(b []byte, id, event uint32, name string, version uint32, fields []field) []byte {
	b = binary.LittleEndian.AppendUint32(b, id)
	text := func(s string) { b = append(append(b, EncodeUTF16(s)...), 0, 0) }
	text(RecordingProvider)
	b = binary.LittleEndian.AppendUint32(b, event)
	text(name)
	b = binary.LittleEndian.AppendUint64(b, 0) // keywords
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, LevelInformational)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(fields)))
	for _, f := range fields {
		b = binary.LittleEndian.AppendUint32(b, f.kind)
		text(f.name)
	}
	return b
}
