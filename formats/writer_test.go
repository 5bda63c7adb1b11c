package formats_test

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// A moody Output accepts nothing while it is broken.
type moody struct {
	memory
	broken bool
}

var errMood = errors.New("no")

func (m *moody) Write(head formats.Head, group []byte, hold bool) error {
	if m.broken {
		return errMood
	}
	return m.memory.Write(head, group, hold)
}

// TestUnwritten: what could not be written is counted and, in formats that have a line for it,
// reported as soon as the output accepts writes again.
func TestUnwritten(t *testing.T) {
	for _, f := range formats.All() {
		t.Run(f.Name, func(t *testing.T) {
			out := &moody{}
			w := formats.NewWriter(f, out, formats.Options{Process: someone()})
			gc := func(n uint32) {
				d := gclog.GCDetails{Number: n, Known: gclog.GroupNumber | gclog.GroupReason | gclog.GroupEnd, Complete: true}
				d.Pauses = []gclog.PausePart{{Start: int64(n), Duration: 1000}}
				w.Observe(&gclog.Pause{PausePart: d.Pauses[0], GC: &d})
				w.Observe(&d)
			}
			gc(1)
			out.broken = true
			gc(2)
			gc(3)
			if w.Dropped() != 2 || !errors.Is(w.Err(), errMood) {
				t.Errorf("%d groups dropped, error %v", w.Dropped(), w.Err())
			}
			out.broken = false
			gc(4)
			gc(5)
			text := string(out.text())
			reported := strings.Count(text, "2 records are missing")
			if want := map[string]int{"json": 1, "text": 1}[f.Name]; reported != want {
				t.Errorf("told %d times:\n%s", reported, text)
			}
			if want := map[string]bool{"json": true, "text": true}[f.Name]; strings.Contains(text, "of collections from 2 to 3") != want {
				t.Errorf("which ones is not reported:\n%s", text)
			}
			if f.Name == "json" && !strings.Contains(text, `"gap":{"from":2,"to":3,"records":{"count":2},"reason":"unwritten"}`) {
				t.Errorf("the gap is not reported:\n%s", text)
			}
			// Later it fails again for others: the earlier ones have been reported.
			out.broken = true
			gc(9)
			gc(8)
			w.Observe(&gclog.Summary{})
			out.broken = false
			gc(10)
			if text, want := string(out.text()), map[string]int{"json": 2, "text": 2}[f.Name]; strings.Count(text, "records are missing") != want || strings.Contains(text, "from 8 to 9") != (want > 0) {
				t.Errorf("the second time:\n%s", text)
			}
			if dropped := map[string]int64{"json": 5, "text": 5}[f.Name]; w.Written() != 4 || w.Dropped() != max(4, dropped) {
				t.Errorf("%d groups written, %d dropped", w.Written(), w.Dropped())
			}
		})
	}
}

// TestGapUnwritten: a gap that could not be written is reported later, by Flush if no record comes;
// a Writer that succeeds another one reports what that one could not.
func TestGapUnwritten(t *testing.T) {
	json, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	out := &moody{broken: true}
	w := formats.NewWriter(json, out, formats.Options{Process: someone()})
	w.Observe(&gclog.Gap{Reason: gclog.GapReattached, From: 3, To: 7})
	for i := range uint32(40) {
		w.Observe(&gclog.Gap{Reason: gclog.GapMissedGCs, From: 10 + i, To: 10 + i})
	}
	w.Observe(&gclog.Pause{PausePart: gclog.PausePart{Start: 1, Duration: 1000}, UsedNumber: 8})
	next := formats.NewWriter(json, out, formats.Options{Process: someone()})
	next.TakeOver(w)
	if m := next.Unwritten(); m.Records == 0 || !errors.Is(next.Err(), errMood) {
		t.Errorf("what it has taken over: %+v, the error is %v", m, next.Err())
	}
	next.Flush()
	if !errors.Is(next.Err(), errMood) {
		t.Errorf("the error is %v", next.Err())
	}
	w.Flush()
	out.broken = false
	w.Flush()
	if len(out.text()) > 0 {
		t.Errorf("it was succeeded by another, and tells\n%s", out.text())
	}
	next.Flush()
	next.Flush()
	text := string(out.text())
	for _, want := range []string{`"from":3,"to":7,"reason":"reattached"`, `"from":8,"to":8,`, `"from":10,"to":10,`, `"from":23,"to":23,`, `"from":24,"to":24,`, `"from":25,"to":49,"reason":"unwritten"`} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%s is reported %d times", want, strings.Count(text, want))
		}
	}
	if n := strings.Count(text, "gc-gap"); n != 18 {
		t.Errorf("%d gaps:\n%s", n, text)
	}
}

// TestMissingOnce: of collections in any order, some with a record and some in a gap, none of which
// could be written, each is in exactly one gap.
func TestMissingOnce(t *testing.T) {
	json, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`"gap":{"from":([0-9]+),"to":([0-9]+)`)
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		out := &moody{broken: true}
		w := formats.NewWriter(json, out, formats.Options{Process: someone()})
		last := 1 + random.Uint32N(200)
		share := random.Float64()
		for n := uint32(1); n <= last; {
			if random.Float64() < share {
				w.Observe(&gclog.GCDetails{Number: n, Known: gclog.GroupNumber, Complete: true, Pauses: []gclog.PausePart{{Duration: 1}}})
				n++
				continue
			}
			to := min(last, n+random.Uint32N(4))
			w.Observe(&gclog.Gap{Reason: gclog.GapMissedGCs, From: n, To: to})
			n = to + 1
		}
		out.broken = false
		w.Flush()
		reported := make([]int, last+1)
		for _, m := range named.FindAllStringSubmatch(string(out.text()), -1) {
			from, _ := strconv.Atoi(m[1])
			to, _ := strconv.Atoi(m[2])
			for n := from; n <= to; n++ {
				reported[n]++
			}
		}
		for n, times := range reported[1:] {
			if times != 1 {
				t.Fatalf("%d of %d is reported %d times:\n%s", n+1, last, times, named.FindAllString(string(out.text()), -1))
			}
		}
	}
}

// TestLostEventsUnwritten: the lost events are in the first record that is written, once, however
// many attempts there were.
func TestLostEventsUnwritten(t *testing.T) {
	json, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	out := &moody{}
	w := formats.NewWriter(json, out, formats.Options{Process: someone()})
	collection := func(n uint32) {
		w.Observe(&gclog.GCDetails{Number: n, Known: gclog.GroupNumber, Complete: true, Pauses: []gclog.PausePart{{Duration: 1}}})
	}
	w.Observe(&gclog.Gap{Reason: gclog.GapLostEvents, LostEvents: 3})
	out.broken = true
	collection(1)
	for range 20 { // more than are kept
		w.Observe(&gclog.Gap{Reason: gclog.GapLostEvents, LostEvents: 2})
	}
	collection(2)
	out.broken = false
	collection(3)
	collection(4)
	var with []string
	for line := range strings.SplitSeq(string(out.text()), "\n") {
		if strings.Contains(line, `"action":"gc"`) {
			with = append(with, strings.Join(regexp.MustCompile(`"(number|lost_events)":(\{[^}]*\}|[0-9]+)`).FindAllString(line, -1), " "))
		}
	}
	if want := []string{`"number":3 "lost_events":{"count":43}`, `"number":4`}; !slices.Equal(with, want) {
		t.Errorf("%q, want %q", with, want)
	}
}

// TestUnwrittenTwice: two gaps that report what is missing at one moment are two facts.
func TestUnwrittenTwice(t *testing.T) {
	json, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	out := &moody{}
	var before *formats.Writer
	for range 3 {
		w := formats.NewWriter(json, out, formats.Options{Process: someone()})
		if before != nil {
			w.TakeOver(before)
		}
		out.broken = true
		w.Observe(&gclog.Gap{Reason: gclog.GapReattached, Time: 7})
		out.broken = false
		w.Flush()
		before = w
	}
	ids := map[string]bool{}
	for line := range strings.Lines(string(out.text())) {
		if strings.Contains(line, `"reason":"unwritten"`) {
			_, rest, _ := strings.Cut(line, `"gclog_doc_id":"`)
			ids[rest[:32]] = true
		}
	}
	if len(ids) != 3 {
		t.Errorf("%d ids of 3 gaps:\n%s", len(ids), out.text())
	}
}

// TestHeldPauses: in unified no file starts with a pause without a collection if that can be
// avoided; files of other formats start without delay.
func TestHeldPauses(t *testing.T) {
	for _, f := range formats.All() {
		out := &memory{}
		w := formats.NewWriter(f, out, formats.Options{Process: someone()})
		w.Observe(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseNoGCRegion, Start: 1000, Duration: 2000, Suspend: 500, HasSuspend: true}, UsedNumber: 1})
		if want := f.Name == "unified"; out.held != want {
			t.Errorf("%s: held is %v", f.Name, out.held)
		}
	}
}

// TestUnwrittenNumbers: a record that could not be written is reported with its own number, not
// with that of the previous record.
func TestUnwrittenNumbers(t *testing.T) {
	json, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	gc := func(w *formats.Writer) {
		w.Observe(&gclog.GCDetails{Number: 15, Known: gclog.GroupNumber, Complete: true})
	}
	pause := func(w *formats.Writer) { w.Observe(&gclog.Pause{UsedNumber: 18}) }
	for _, c := range []struct {
		before, unwritten func(w *formats.Writer)
		want              string
	}{
		{gc, gc, `{"from":15,"to":15,"records":{"count":1},"reason":"unwritten"}`},
		{gc, pause, `{"from":18,"to":18,"records":{"count":1},"reason":"unwritten"}`},
		{gc, func(w *formats.Writer) { w.Observe(&gclog.Summary{}) }, `{"records":{"count":1},"reason":"unwritten"}`},
		{pause, func(w *formats.Writer) { w.Observe(&gclog.Stall{}) }, `{"records":{"count":1},"reason":"unwritten"}`},
		{pause, func(w *formats.Writer) { w.Observe(&gclog.Start{}) }, `{"records":{"count":1},"reason":"unwritten"}`},
		{pause, func(w *formats.Writer) { w.Observe(&gclog.End{}) }, `{"records":{"count":1},"reason":"unwritten"}`},
	} {
		out := &moody{}
		w := formats.NewWriter(json, out, formats.Options{Process: someone()})
		c.before(w)
		out.broken = true
		c.unwritten(w)
		if w.Written() != 1 || w.Dropped() != 1 {
			t.Errorf("%d written, %d dropped", w.Written(), w.Dropped())
		}
		out.broken = false
		w.Flush()
		if text := string(out.text()); !strings.Contains(text, `"gap":`+c.want) {
			t.Errorf("no gap %s in\n%s", c.want, text)
		}
	}
}

// TestFileIDs: each file identifies itself with an id that no other file has.
func TestFileIDs(t *testing.T) {
	json, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for range 20 {
		out := &memory{}
		formats.NewWriter(json, out, formats.Options{Process: someone()}).Observe(&gclog.GCDetails{})
		_, id, _ := strings.Cut(string(out.text()), `{"gclog_file_id":"`)
		id, _, _ = strings.Cut(id, `"`)
		if len(id) != 16 {
			t.Fatalf("the id is %q", id)
		}
		ids[id] = true
	}
	if len(ids) != 20 {
		t.Errorf("%d ids of 20 files", len(ids))
	}
}

// headless records whether headers come with the first records.
type headless struct{ joined bool }

func (h *headless) Write(head formats.Head, _ []byte, _ bool) error {
	h.joined = head.Joined
	return nil
}

// TestJoinedHeads: programs that read Java's logs, and spreadsheets, cannot use a file that
// contains only a header: for them it comes with the first records. A shipper may receive the
// header earlier.
func TestJoinedHeads(t *testing.T) {
	joined := map[string]bool{"unified": true, "jdk8": true, "csv": true}
	for _, f := range formats.All() {
		out := &headless{}
		w, d := formats.NewWriter(f, out, formats.Options{Process: someone()}), blocking(1)
		w.Observe(&gclog.Pause{PausePart: d.Pauses[0], GC: d})
		w.Observe(d)
		if out.joined != joined[f.Name] {
			t.Errorf("%s: the head comes with records: %v", f.Name, out.joined)
		}
	}
}

// TestShareOfNothing: a summary of an empty interval contains no share of it.
func TestShareOfNothing(t *testing.T) {
	for span, want := range map[int64]bool{0: false, 1: true, 1e9: true} {
		_, records := written(t, "json", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Observe(&gclog.Summary{To: span}) })
		if text := strings.Join(records, "\n"); strings.Contains(text, `"paused":`) != want {
			t.Errorf("of %d ns:\n%s", span, text)
		}
	}
}
