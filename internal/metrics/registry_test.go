package metrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/parse/clr"
)

// identities returns the labels of what is read, and records that it has arrived.
func identities(r *Registry, by Readers) (list []string) {
	r.Read(by, func(views []View) int {
		for _, v := range views {
			list = append(list, v.labels.text)
		}
		return len(views)
	}).Done()
	return list
}

func start(r *Registry, pid int64, service string) *Process {
	p := r.Process()
	p.Observe(&gclog.Process{ID: pid, Service: service, Sync: time.Unix(1e9, 0)})
	return p
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestLabels: labels are unique at any time, and the pid is among them only if it is needed.
func TestLabels(t *testing.T) {
	now := time.Unix(1e9, 0)
	r := NewRegistry()
	r.now = func() time.Time { return now }
	r.SetReaders(Scraper)
	const a, a2, a3, b = `service_name="a"`, `process_pid="2",service_name="a"`, `process_pid="3",service_name="a"`, `service_name="b"`
	first := start(r, 1, "a")
	start(r, 2, "a")
	start(r, 9, "b")
	expect(t, "two of a", identities(r, Scraper), a, a2, b)
	first.Observe(&gclog.Process{ID: 1, Service: "a", RuntimeVersion: "10"})
	expect(t, "known better", identities(r, Scraper), a, a2, b)
	first.Exit()
	start(r, 3, "a")
	expect(t, "the first has exited", identities(r, Scraper), a, a2, b, a3)
	start(r, 4, "a").Observe(&gclog.Process{ID: 4, Service: "d"})
	expect(t, "its labels are not free yet", identities(r, Scraper), a2, b, a3, `service_name="d"`)
	now = now.Add(exitedTime)
	start(r, 4, "a")
	expect(t, "its labels are free", identities(r, Scraper), a2, b, a3, `service_name="d"`, a)
	first = start(r, 3, "a")
	const again, third = `process_pid="3-2",service_name="a"`, `process_pid="3-3",service_name="a"`
	expect(t, "a pid twice", identities(r, Scraper), a2, b, a3, `service_name="d"`, a, again)
	start(r, 3, "a").Observe(&gclog.Process{ID: 3, Service: "a", RuntimeVersion: "10"})
	expect(t, "three times", identities(r, Scraper), a2, b, a3, `service_name="d"`, a, again, third)
	first.Observe(&gclog.Process{ID: 3, Service: "c"})
	expect(t, "renamed", identities(r, Scraper), a2, b, a3, `service_name="d"`, a, `service_name="c"`, third)
}

// TestLabelsOfReusedPID: a process whose pid the kernel has given to another one has exited, even if
// gclog does not know that yet.
func TestLabelsOfReusedPID(t *testing.T) {
	r := NewRegistry()
	start(r, 1, "a")
	for key := range uint64(2) {
		r.Process().Observe(&gclog.Process{ID: 2, StartKey: key + 1, Service: "a", Sync: time.Unix(1e9, 0)})
	}
	expect(t, "a pid twice", identities(r, Scraper), `service_name="a"`, `process_pid="2",service_name="a"`)
}

// TestExit: a process that has exited is kept until everyone who reads has read it once, for five
// minutes.
func TestExit(t *testing.T) {
	now := time.Unix(1e9, 0)
	r := NewRegistry()
	r.now = func() time.Time { return now }
	there := func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.processes)
	}
	start(r, 1, "a").Exit()
	if there() != 0 {
		t.Error("nobody reads, but it is kept")
	}
	r.SetReaders(Scraper | Exporter)
	start(r, 1, "a").Exit()
	reading := r.Read(Scraper, func(v []View) int { return len(v) })
	if identities(r, Exporter); there() != 1 {
		t.Error("it was not scraped yet")
	}
	if reading.Done(); there() != 0 {
		t.Error("everyone has read it")
	}
	p := start(r, 1, "a")
	reading = r.Read(Scraper, func(v []View) int { return len(v) })
	p.Exit()
	reading.Done()
	identities(r, Exporter)
	if there() != 1 {
		t.Error("its last values were not scraped")
	}
	r.Read(Scraper, func([]View) int { return 0 }).Done()
	if there() != 1 || r.Forgotten() != 0 {
		t.Error("it was left out")
	}
	now = now.Add(exitedTime)
	if identities(r, Exporter); there() != 0 || r.Forgotten() != 1 {
		t.Errorf("after five minutes: %d, %d forgotten", there(), r.Forgotten())
	}
	many := extent.Pick(5*exitedMost, 100_000)
	for i := range many { // with a label value of its own each
		start(r, int64(i), fmt.Sprint("service ", i)).Exit()
	}
	if there() != exitedMost || len(r.unique) != exitedMost || r.Forgotten() != uint64(1+many-exitedMost) {
		t.Errorf("%d kept, %d labels, %d forgotten", there(), len(r.unique), r.Forgotten())
	}
	if identities(r, Scraper); there() != exitedMost {
		t.Error("the exporter has not read them")
	}
	if r.SetReaders(Scraper); len(identities(r, Scraper)) != 0 {
		t.Error("they were scraped, and there is no exporter any more")
	}
}

// TestHostileNames: label values are limited and valid, and contain nothing that a terminal acts on.
func TestHostileNames(t *testing.T) {
	r := NewRegistry()
	r.Process().Observe(&gclog.Process{ID: 1, Name: "\xff\n\x1b[2J\u202e\"\\", Service: strings.Repeat("ü", 5000), Cookie: strings.Repeat("x", 5000)})
	got := identities(r, Scraper)[0]
	if want := `process_name="` + "\ufffd\ufffd\ufffd[2J\ufffd" + `\"\\",service_name="` + strings.Repeat("ü", maxLabel/2) + `"`; got != want {
		t.Errorf("%q", got)
	}
}

// TestCounts: each kind of record changes its numbers, and the sessions of a process add up.
func TestCounts(t *testing.T) {
	p := start(NewRegistry(), 1, "a")
	for range 2 {
		o := p.Observe(&gclog.Process{ID: 1, Service: "a", Sync: time.Unix(1e9, 0)})
		o(&gclog.Start{})
		o(&gclog.GCDetails{End: 5, Known: gclog.GroupEnd, Generation: 1, Pauses: []gclog.PausePart{{Duration: 3}}})
		o(&gclog.Pause{GC: &gclog.GCDetails{}, PausePart: gclog.PausePart{Duration: 3}})
		o(&gclog.Pause{PausePart: gclog.PausePart{Duration: 7}})
		o(&gclog.Gap{Reason: gclog.GapReattached, From: 3, To: 5, LostEvents: 2, Records: 4})
		o(&gclog.Stall{Open: gclog.Open{Kind: gclog.OpenKind(1)}})
		o(&gclog.End{Process: &gclog.Process{Server: gclog.Yes}})
	}
	s := &p.state
	if s.paused != 6 || s.otherPaused != 14 || s.missed != 6 || s.lost != 4 || s.dropped != 8 || s.stalls != [stalls]uint64{0, 2} ||
		s.incomplete != 2 || sum(s.collections[1][:]) != 2 || s.last.at != 1e18+5 {
		t.Errorf("%+v", s)
	}
	if p.known.Server != gclog.Yes || p.known.Service != "a" {
		t.Errorf("%+v", p.known)
	}
}

// TestVerdict: a process has one cause at a time, about the latest minutes, also while nothing is recorded. That
// at the end of a session stays.
func TestVerdict(t *testing.T) {
	r := NewRegistry()
	now := time.Unix(1e9, 0)
	r.now = func() time.Time { return now }
	p := r.Process()
	causes := func() (list []string) {
		families := (Naming{}).Families()
		verdict := families[slices.IndexFunc(families, func(f *Family) bool { return f.Name == "gclog.verdict.info" })]
		r.Read(Scraper, func(views []View) int {
			verdict.Points(&views[0], Points{Value: func(_ float64, set *Set) { list = append(list, set.Attributes[0].Value) }})
			return 1
		})
		return list
	}
	session := func() gclog.Observer {
		o := p.Observe(&gclog.Process{ID: 1, Sync: now})
		o(&gclog.Start{})
		return o
	}
	o := session()
	now = now.Add(2 * time.Second)
	expect(t, "too early", causes(), "unknown")
	for i := range int64(30) {
		at := i * 1e9
		d := &gclog.GCDetails{
			Number: uint32(i + 1), Start: at, End: at + 3e8, Generation: 2, Reason: clr.ReasonInduced, Complete: true, Pauses: []gclog.PausePart{{Start: at, Duration: 3e8}},
			Known: gclog.GroupNumber | gclog.GroupReason | gclog.GroupEnd,
		}
		o(&gclog.Pause{GC: d, PausePart: d.Pauses[0]})
		o(d)
	}
	expect(t, "soon after", causes(), "unknown")
	now = now.Add(30 * time.Second)
	expect(t, "induced", causes(), "induced")
	now = now.Add(4 * time.Minute)
	expect(t, "minutes later", causes(), "induced")
	now = now.Add(10 * time.Minute)
	expect(t, "long after", causes(), "none")
	o(&gclog.End{At: 1e12})
	expect(t, "without a session", causes(), "none")
	o = session()
	now = now.Add(20 * time.Second)
	expect(t, "idle", causes(), "none")
	o(&gclog.End{At: 30e9, Reason: gclog.EndOOMKilled, Signal: 9})
	now = now.Add(time.Minute)
	expect(t, "the end", causes(), "killed")
}

// TestGroups: every group of reasons has its place.
func TestGroups(t *testing.T) {
	if groups != len(formats.ReasonGroups)+1 {
		t.Errorf("there are %d", len(formats.ReasonGroups))
	}
}
