package attach

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/nettrace"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// TestRecorder: a recording contains what gclog knew, and apart from that exactly the stream,
// however it was split into reads and whatever is known.
func TestRecorder(t *testing.T) {
	var w nettracetest.V4
	clock := nettracetest.DefaultClock()
	w.Begin(clock)
	w.Metadata(nettracetest.Kind{ID: 1, Provider: clr.RuntimeProvider, EventID: clr.IDGCEnd, Version: 1})
	for i := range int64(20) { // the sizes of blocks vary, and so does their padding
		w.Events(nettracetest.Row{Kind: 1, Thread: 7, Ticks: clock.Ticks + i, Payload: bytes.Repeat([]byte{1}, int(10+i))})
	}
	w.SequencePoint(clock.Ticks+30, nettracetest.ThreadSeq{Thread: 7, Seq: 22}) // two are lost
	w.End()
	plain := rows(t, w.Bytes)
	if len(plain) != 21 {
		t.Fatalf("the stream has %v", plain)
	}
	for _, known := range []gclog.Process{
		{},
		{Name: "orders", RuntimeVersion: "8.0.14", Flavor: gclog.FlavorCoreCLR, Server: gclog.Yes, Started: clock.Time.Add(-time.Minute)},
		{Name: "Zähler 𝄞", RuntimeVersion: "9.0.1-preview.3", Flavor: gclog.FlavorNativeAOT, Server: gclog.No},
		{DiagnosticsThreads: []uint64{4713}, Snapshot: true},
		{DiagnosticsThreads: []uint64{1<<64 - 1, 1, 1 << 22}},
	} {
		var out bytes.Buffer
		asked := 0
		r := &recorder{w: &out, facts: func() gclog.Process { asked++; return known }}
		for rest := w.Bytes; len(rest) > 0; {
			n := min(len(rest), 1+rand.IntN(60))
			if got, err := r.Write(rest[:n]); got != n || err != nil {
				t.Fatal(got, err)
			}
			rest = rest[n:]
		}
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
		all := rows(t, out.Bytes())
		if len(all) != len(plain)+1 || fmt.Sprint(all[1:]) != fmt.Sprint(plain) || !strings.Contains(all[0], " thread 0 at 0:") {
			t.Errorf("%+v: the recording has\n%v\nthe stream\n%v", known, all, plain)
		}
		p := processOf(t, out.Bytes())
		want := gclog.Process{ID: int64(clock.ProcessID), Name: known.Name, RuntimeVersion: known.RuntimeVersion, Flavor: known.Flavor, Server: known.Server, Started: known.Started, DiagnosticsThreads: known.DiagnosticsThreads, Snapshot: known.Snapshot, Sync: p.Sync, Processors: 2}
		if known.Server != gclog.Unknown {
			want.ServerFrom = gclog.EvidenceRecorded
		}
		if !known.Started.IsZero() {
			want.UptimeAtSync = time.Minute
		}
		if fmt.Sprint(*p) != fmt.Sprint(want) {
			t.Errorf("the recording tells\n%+v, known was\n%+v", *p, want)
		}
	}
}

// TestRecorderOthers: what is not a stream in V4 is written as it is, as much of it as arrives.
func TestRecorderOthers(t *testing.T) {
	var v4 nettracetest.V4
	v4.Begin(nettracetest.DefaultClock())
	head := v4.Bytes
	broken := bytes.Clone(head)
	broken[nettrace.HeadSize-1] = 9
	for name, tc := range map[string]struct{ in, want []byte }{
		"V6":                   {append([]byte("Nettrace\x00\x00\x00\x00\x06\x00\x00\x00"), head...), nil},
		"something else":       {[]byte("hello"), nil},
		"a head that is wrong": {append(broken, head...), nil},
		"a part of a head":     {head[:nettrace.HeadSize-1], []byte{}},
	} {
		var out bytes.Buffer
		r := &recorder{w: &out, facts: func() gclog.Process { t.Errorf("%s: asked", name); return gclog.Process{} }}
		if n, err := io.Copy(r, onlyReader{bytes.NewReader(tc.in)}); int(n) != len(tc.in) || err != nil {
			t.Fatal(n, err)
		}
		want := tc.want
		if want == nil {
			want = tc.in
		}
		if !bytes.Equal(out.Bytes(), want) {
			t.Errorf("%s: %q, want %q", name, out.Bytes(), want)
		}
	}
}

// TestRecorderFails: a write error is reported at once.
func TestRecorderFails(t *testing.T) {
	var w nettracetest.V4
	w.Begin(nettracetest.DefaultClock())
	for name, b := range map[string][]byte{"the head": w.Bytes, "something else": []byte("hello")} {
		f := &failsOnce{}
		r := &recorder{w: f, facts: func() gclog.Process { return gclog.Process{} }}
		if _, err := r.Write(append(b, "rest"...)); !errors.Is(err, errBroken) || f.calls != 1 {
			t.Errorf("%s: %v after %d writes", name, err, f.calls)
		}
	}
}

// A failsOnce is a writer whose first Write fails.
type failsOnce struct{ calls int }

func (f *failsOnce) Write(b []byte) (int, error) {
	if f.calls++; f.calls == 1 {
		return 0, errBroken
	}
	return len(b), nil
}

// TestRecordedFacts: a runtime that does not answer delays a recording by 2 s.
func TestRecordedFacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := onStage(t, fakeruntime.Config{Version: "8.0.1", Silent: true}, nil)
		target.Name = "shop"
		began := time.Now()
		p := recordedFacts(t.Context(), target)
		if took := time.Since(began); took != 2*time.Second || p.Name != "shop" {
			t.Errorf("it is %+v after %v", p, took)
		}
	})
}

type onlyReader struct{ r io.Reader }

func (o onlyReader) Read(b []byte) (int, error) { return o.r.Read(b[:min(len(b), 3)]) }

// rows returns the events and losses of a stream.
func rows(t *testing.T, stream []byte) (list []string) {
	t.Helper()
	r := parse.NewReader(bytes.NewReader(stream), func(*parse.Metadata) parse.Want { return parse.Want{Deliver: true} })
	for r.Scan() {
		if l := r.Loss(); l != nil {
			list = append(list, fmt.Sprintf("loss %+v", *l))
		} else if e := r.Event(); e != nil {
			list = append(list, fmt.Sprintf("%s %d thread %d at %d: % x", e.Meta.Provider, e.Meta.EventID, e.Thread, e.Time, e.Payload))
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// processOf returns what a stream reports about its only process.
func processOf(t *testing.T, stream []byte) *gclog.Process {
	t.Helper()
	ps := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return nil })
	err := ps.Drain(parse.NewReader(bytes.NewReader(stream), gclog.Wanted))
	list := ps.List()
	if len(list) != 1 || err != nil {
		t.Fatalf("processes %v, error %v", list, err)
	}
	return list[0]
}
