package flight

import (
	"bytes"
	stdcmp "cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// A stream is a recording as parse reads it.
type stream struct {
	data        []byte
	trace       *parse.Trace
	rows        []row // events and losses, in the order of the stream
	first, last int64 // ticks
}

// A row is an event or a loss.
type row struct {
	ticks int64
	lost  uint32
	text  string
}

// seeded returns a source of random numbers that a failure of the test names.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(extent.Seed(t), 0))
}

// read reads a stream. Events of gclog itself are left out.
func read(t *testing.T, data []byte) *stream {
	t.Helper()
	s := &stream{data: data}
	r := parse.NewReader(bytes.NewReader(data), parse.All)
	for r.Scan() {
		if l := r.Loss(); l != nil {
			s.rows = append(s.rows, row{l.Ticks, l.Events, fmt.Sprintf("%d: %d of thread %d lost", l.Ticks, l.Events, l.Thread)})
			continue
		}
		e := r.Event()
		if e.Meta.Provider == clr.RecordingProvider {
			continue
		}
		text := fmt.Sprintf("%d: %s %d.%d %s, thread %d: ", e.Ticks, e.Meta.Provider, e.Meta.EventID, e.Version, e.Meta.Name, e.Thread)
		s.rows = append(s.rows, row{e.Ticks, 0, text + string(e.Payload)})
	}
	if err := r.Err(); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	s.trace = r.Trace()
	slices.SortStableFunc(s.rows, func(a, b row) int {
		return stdcmp.Or(stdcmp.Compare(a.ticks, b.ticks), strings.Compare(a.text, b.text))
	})
	if n := len(s.rows); n > 0 {
		s.first, s.last = s.rows[0].ticks, s.rows[n-1].ticks
	}
	return s
}

// between returns the rows of a time.
func (s *stream) between(from, to int64) (list []string) {
	for _, r := range s.rows {
		if r.ticks >= from && r.ticks <= to {
			list = append(list, r.text)
		}
	}
	return list
}

// pieces is a reader that returns data in pieces of random sizes.
type pieces struct {
	r    io.Reader
	rand *rand.Rand
}

func (p pieces) Read(b []byte) (int, error) {
	return p.r.Read(b[:min(len(b), 1+p.rand.IntN(1+p.rand.IntN(200_000)))])
}

// forEach runs a test for each recording in V4, the only format of live streams.
func forEach(t *testing.T, run func(t *testing.T, s *stream)) {
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		if s := read(t, recordings.Read(t, tr.Path)); s.trace.Major == 4 {
			run(t, s)
		}
	})
}

// TestRecordings: whatever part of a recording is asked for, and however the stream arrives, the file
// has exactly the events and losses of that time, and besides only such as are near to it.
func TestRecordings(t *testing.T) {
	forEach(t, func(t *testing.T, s *stream) {
		r := seeded(t)
		for range 4 {
			synctest.Test(t, func(t *testing.T) { checkWindow(t, s, r) })
		}
	})
}

func checkWindow(t *testing.T, s *stream, r *rand.Rand) {
	t.Helper()
	at := s.first + r.Int64N(s.last-s.first+1)
	lasted := r.Int64N(s.last - at + 1)
	if r.IntN(2) == 0 {
		lasted /= 100
	}
	trigger := Trigger{
		Time: s.trace.SyncTime.Add(time.Duration(s.trace.Nanoseconds(at))), Ticks: at, Duration: time.Duration(lasted),
		Before: time.Duration(r.Int64N(3e9)), After: time.Duration(r.Int64N(3e9)),
	}
	from, to := at-int64(trigger.Before), at+lasted+int64(trigger.After)
	m := NewMemory(64 << 20)
	o := m.NewRecorder("", trigger.Before)
	defer o.Close()
	ring := o.NewRing()
	recording := feed(t, s, ring, r, trigger)
	<-recording.Done()
	parts, err := recording.Parts()
	if err != nil {
		if want := s.between(from, to); len(want) > 0 {
			t.Errorf("%v, but there are %d rows", err, len(want))
		}
		return
	}
	var file bytes.Buffer
	c, err := parts[0].Write(&file, &gclog.Process{Name: "shop"})
	if err != nil || c.Bytes != int64(file.Len()) || len(parts) != 1 {
		t.Fatalf("%+v of %d parts in %d bytes: %v", c, len(parts), file.Len(), err)
	}
	got := read(t, file.Bytes())
	var lost uint32
	for _, x := range got.rows {
		lost += x.lost
	}
	if n := traceEvent(t, file.Bytes()); n != lost {
		t.Errorf("TraceEvent counts %d lost events, gclog %d", n, lost)
	}
	if a, b := got.between(from, to), s.between(from, to); !slices.Equal(a, b) {
		t.Errorf("%+v: %d rows of the time, want %d\n%s", trigger, len(a), len(b), firstDifference(a, b))
	}
	contained := map[string]int{}
	for _, x := range s.rows {
		contained[x.text]++
	}
	events := int64(0)
	for _, x := range got.rows {
		if contained[x.text]--; contained[x.text] < 0 {
			t.Errorf("the stream does not contain %s", x.text)
		}
		if x.lost == 0 {
			events++
		}
	}
	if c.Events != events {
		t.Errorf("it should have %d events, it has %d", c.Events, events)
	}
	if want, has := s.trace.SyncTime.Add(time.Duration(s.trace.Nanoseconds(got.first))), got.trace.SyncTime.Add(time.Duration(got.trace.Nanoseconds(got.first))); !has.Equal(want) {
		t.Errorf("its first event is at %v, want %v", has, want)
	}
	if zero := got.trace.Nanoseconds(got.first); zero < 0 || zero >= int64(time.Millisecond) {
		t.Errorf("its first event is %d ns after its time zero", zero)
	}
	recording.Release()
	if o.held != int64(cap(ring.metadata)) && ring.blocks == 0 {
		t.Errorf("%d bytes are still held", o.held)
	}
}

// feed reads the stream, and asks for a recording when the trigger is over.
func feed(t *testing.T, s *stream, ring *Ring, r *rand.Rand, trigger Trigger) (recording *Recording) {
	t.Helper()
	p := parse.NewReader(pieces{bytes.NewReader(s.data), r}, parse.All)
	p.OnBlock(ring.Block)
	for p.Scan() {
		if l := p.Loss(); l != nil {
			ring.Lost(l)
			continue
		}
		now, open := p.Event().Ticks, int64(0)
		if recording == nil && now >= trigger.Ticks+int64(trigger.Duration) {
			recording, _ = ring.o.Record(trigger)
		} else if recording == nil && now >= trigger.Ticks {
			open = trigger.Ticks
		}
		ring.Reduced(now, open)
	}
	ring.Close()
	if recording == nil {
		recording, _ = ring.o.Record(trigger)
	}
	return recording
}

func firstDifference(a, b []string) string {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("%d: %.200q\nwant %.200q", i, a[min(i, len(a)):min(i+1, len(a))], b[min(i, len(b)):min(i+1, len(b))])
		}
	}
	return ""
}

// TestSameRecord: the file has the same record of the collection that it was made for as the log, if
// it begins with a full collection: some values depend on earlier collections of all generations.
func TestSameRecord(t *testing.T) {
	compared := 0
	forEach(t, func(t *testing.T, s *stream) {
		r := seeded(t)
		log := reduce(t, s.data)
		for range 3 {
			if len(log.gcs) == 0 {
				continue
			}
			i := r.IntN(len(log.gcs))
			d := log.gcs[i]
			full := slices.IndexFunc(log.gcs[:i], func(x *gclog.GCDetails) bool { return x.Generation == 2 && x.Kind == gclog.KindBlocking })
			if full < 0 {
				continue
			}
			trigger := Trigger{
				Time: s.trace.SyncTime.Add(time.Duration(d.Start)), Ticks: d.StartTicks, Duration: time.Duration(log.end(d) - d.Start),
				Before: time.Duration(d.Start-log.first(full)) + time.Millisecond, After: time.Duration(r.Int64N(1e9)),
			}
			var file bytes.Buffer
			synctest.Test(t, func(t *testing.T) {
				o := NewMemory(64<<20).NewRecorder("", trigger.Before)
				defer o.Close()
				writeOnly(t, feed(t, s, o.NewRing(), r, trigger), &file)
			})
			part := reduce(t, file.Bytes())
			at := slices.IndexFunc(part.gcs, func(x *gclog.GCDetails) bool { return x.Number == d.Number })
			if at < 0 {
				t.Errorf("%+v: there is no record of GC %d", trigger, d.Number)
			} else if diff := cmp.Diff(log.record(t, i), part.record(t, at)); diff != "" {
				t.Errorf("%+v: the record of GC %d differs: %s", trigger, d.Number, diff)
			}
			compared++
		}
	})
	t.Logf("compared %d records", compared)
}

// end returns when the program was resumed after a collection: at the end of the next one, if that began in the
// same suspension (provisional mode).
func (l *log) end(d *gclog.GCDetails) int64 {
	end := d.End
	if n := len(d.Pauses); n > 0 {
		end = max(end, d.Pauses[n-1].Start+d.Pauses[n-1].Duration)
	}
	for _, x := range l.gcs {
		for _, p := range x.Pauses {
			if p.Start == end {
				end += p.Duration
			}
		}
	}
	return end
}

// writeOnly writes a recording that has one part.
func writeOnly(t *testing.T, r *Recording, w io.Writer) Contents {
	t.Helper()
	<-r.Done()
	parts, err := r.Parts()
	if err != nil || len(parts) != 1 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	c, err := parts[0].Write(w, &gclog.Process{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A log has the complete collections in a stream.
type log struct {
	process *gclog.Process
	gcs     []*gclog.GCDetails
	line    []byte // that was written last
}

func reduce(t *testing.T, data []byte) *log {
	t.Helper()
	l := &log{}
	ps := gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
		l.process = p
		return l.Observe
	})
	if err := ps.Drain(parse.NewReader(bytes.NewReader(data), gclog.Wanted)); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return l
}

// first returns when the earliest of the collections began that had not ended when one began.
func (l *log) first(last int) int64 {
	first := l.gcs[last].Start
	for _, d := range l.gcs[:last] {
		if d.End >= first {
			first = min(first, d.Start)
		}
	}
	return first
}

// record returns the JSON record of a collection, without what depends on everything since the session
// began: its id, estimates of budgets, and what is only known once there was such an event.
func (l *log) record(t *testing.T, i int) (record map[string]any) {
	t.Helper()
	format, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	uptime := l.process.Sync.Sub(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	formats.NewWriter(format, l, formats.Options{Process: gclog.Process{ID: 1, Sync: l.process.Sync, UptimeAtSync: uptime}}).Observe(l.gcs[i])
	if err := json.Unmarshal(l.line, &record); err != nil {
		t.Fatal(err)
	}
	delete(record, "gclog_doc_id")
	gc := record["dotnet"].(map[string]any)["gc"].(map[string]any)
	delete(gc, "finalizers")
	delete(gc, "segments")
	for _, g := range []string{"gen0", "gen1", "gen2", "loh", "poh"} {
		if g, ok := gc[g].(map[string]any); ok {
			delete(g, "budget_left")
			delete(g, "budget_exceeded")
		}
	}
	for _, g := range []string{"loh", "poh"} { // server GC smooths these budgets over many gen2 collections
		if g, ok := gc[g].(map[string]any); ok {
			delete(g, "budget")
		}
	}
	return record
}

// Write implements formats.Output.
func (l *log) Write(_ formats.Head, group []byte, _ bool) error {
	l.line = group
	return nil
}

// Observe takes a record.
func (l *log) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		if d.Flaws == 0 {
			c := &gclog.GCDetails{}
			c.CopyFrom(d)
			l.gcs = append(l.gcs, c)
		}
	}
}
