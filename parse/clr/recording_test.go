package clr_test

import (
	"bytes"
	"testing"

	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// TestRecordedProcess: an event that gclog writes into a recording is like any other; its metadata
// describes it to readers that do not know it.
func TestRecordedProcess(t *testing.T) {
	const id, text, int64s, boolean = 77, 18, 11, 3 // types as in .NET's TypeCode
	l := (&nettracetest.Payload{}).U32(id).Text("gclog").U32(1).Text("RecordedProcess").U64(0).U32(1, 4, 7)
	l.U32(text).Text("Name").U32(text).Text("RuntimeVersion").U32(text).Text("Flavor").U32(text).Text("GC").U32(int64s).Text("Started")
	l.U32(text).Text("DiagnosticsThreads").U32(boolean).Text("Snapshot")
	blob := clr.AppendRecordedProcessMetadata([]byte("x"), id)
	if !bytes.Equal(blob, append([]byte("x"), l.Bytes...)) {
		t.Errorf("the metadata is\n%q, want\n%q", blob[1:], l.Bytes)
	}

	want := clr.RecordedProcess{
		Name: clr.UTF16("s\x00h\x00\xf6\x00p\x00\x34\xd8\x1e\xdd"), RuntimeVersion: clr.UTF16("8\x00.\x000\x00"), // "shöp𝄞"
		Flavor: clr.UTF16("A\x00"), GC: clr.UTF16(""), Started: -5, DiagnosticsThreads: clr.UTF16("1\x002\x00"), Snapshot: true,
	}
	if name := clr.EncodeUTF16("shöp𝄞"); !bytes.Equal(name, want.Name) {
		t.Errorf("%q, want %q", name, want.Name)
	}
	payload := clr.AppendRecordedProcess([]byte("x"), &want)
	if payload[0] != 'x' {
		t.Errorf("%q is not appended to", payload)
	}
	w := &nettracetest.V4{}
	w.Begin(nettracetest.DefaultClock())
	w.Block("MetadataBlock", w.Rows(nettracetest.Row{Payload: blob[1:], Sorted: true}))
	w.Events(nettracetest.Row{Kind: id, Thread: 1, Payload: payload[1:], Sorted: true})
	w.End()
	r := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
	if !r.Scan() {
		t.Fatal(r.Err())
	}
	got := decode(t, clr.NewDecoder(8), r.Event()).(*clr.RecordedProcess)
	if got.Name.String() != "shöp𝄞" || !bytes.Equal(got.Name, want.Name) || !bytes.Equal(got.RuntimeVersion, want.RuntimeVersion) ||
		!bytes.Equal(got.Flavor, want.Flavor) || len(got.GC) != 0 || got.Started != want.Started || got.ClrInstance != 0 ||
		!bytes.Equal(got.DiagnosticsThreads, want.DiagnosticsThreads) || !got.Snapshot {
		t.Errorf("%+v, want %+v", got, want)
	}
	if m := r.Event().Meta; m.Name != clr.Name(m.Provider, m.EventID) || m.Level != clr.LevelInformational {
		t.Errorf("%+v", m)
	}
	if r.Scan() || r.Err() != nil {
		t.Error("more than the event:", r.Err())
	}
}

// TestRecordedProcessEarlier: the event of earlier versions of gclog ends with zeros that are no
// fields.
func TestRecordedProcessEarlier(t *testing.T) {
	for padding := range 4 {
		l := (&nettracetest.Payload{}).Text("shop").Text("8.0.14").Text("CoreCLR").Text("server").U64(5)
		e := &parse.Event{
			Meta:    &parse.Metadata{Provider: clr.RecordingProvider, EventID: clr.IDRecordedProcess},
			Version: parse.VersionUnknown, Payload: append(l.Bytes, make([]byte, padding)...),
		}
		got := decode(t, clr.NewDecoder(8), e).(*clr.RecordedProcess)
		if got.Name.String() != "shop" || got.Started != 5 || len(got.DiagnosticsThreads) != 0 || got.Snapshot {
			t.Errorf("%d zeros: %+v", padding, got)
		}
	}
}
