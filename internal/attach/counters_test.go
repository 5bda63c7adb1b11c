package attach

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/session"
)

// TestCounterProviders: the runtime's own counters come from its EventCounters, which all versions have,
// and from .NET 9 on also from its meter; others from both.
func TestCounterProviders(t *testing.T) {
	const (
		runtime = "System.Runtime 0x0 4 [] EventCounterIntervalSec=10"
		meters  = "System.Diagnostics.Metrics 0x2 4 [] SessionId=SHARED;ClientId=X;Metrics=%s;RefreshInterval=10;MaxTimeSeries=1000;MaxHistograms=20"
	)
	client := regexp.MustCompile(`ClientId=[A-Z0-9]{20,}`)
	of := func(metrics string) string { return strings.Replace(meters, "%s", metrics, 1) }
	for _, c := range []struct{ names, version, want string }{
		{"", "3.1.32", runtime},
		{"", "8.0.14", runtime},
		{"", "9.0.1", runtime + "; " + of("System.Runtime")},
		{"", "", runtime + "; " + of("System.Runtime")},
		{"MyApp.*,System.Runtime,MyApp.*", "8.0.1", runtime + "; " + of("MyApp.*")},
		{"A , B*", "11.0.0", "A 0x0 4 [] EventCounterIntervalSec=10; " + of("A,B*")},
	} {
		counters, err := ParseCounters(c.names, CountersEvery)
		if err != nil {
			t.Fatal(err)
		}
		cfg := session.Config{Providers: counters.add(nil, c.version)}
		if got := client.ReplaceAllString(shown(cfg), "ClientId=X"); got != c.want {
			t.Errorf("%q of %q: %s, want %s", c.names, c.version, got, c.want)
		}
	}
	before := []session.Provider{{Name: "A"}}
	if got := (&Counters{}).add(before, "9"); len(got) != 1 {
		t.Errorf("without counters: %v", got)
	}
}

// TestParseCounters: what would mean something else to the runtime is refused.
func TestParseCounters(t *testing.T) {
	for names, want := range map[string]string{
		"A,,B": "a name is missing", ",": "a name is missing", "A;B": `no ';'`, "A=B": `no '='`, `A\b`: `no '\\'`, "A B": `no ' '`, "A\x00": `no '\x00'`,
		"*A": "only be at the end", "A**": "only be at the end", strings.Repeat("a", 201): "at most 200 characters",
		"a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u": "there may be 20",
	} {
		if _, err := ParseCounters(names, CountersEvery); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", names, err, want)
		}
	}
	for every, want := range map[time.Duration]string{0: "1s to 1h", 999 * time.Millisecond: "1s to 1h", 1500 * time.Millisecond: "whole seconds", 2 * time.Hour: "1s to 1h"} {
		if _, err := ParseCounters("", every); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("every %v: %v, want %s", every, err, want)
		}
	}
}

// TestQueuedCounters: counters that wait for a slow output are as many as fit, and leave room for
// collections; what they took is given back.
func TestQueuedCounters(t *testing.T) {
	q := newQueue()
	c := &gclog.Counters{}
	for c.Add(&gclog.Counter{}) {
	}
	for range queueSize {
		q.put(c)
	}
	if q.values > queueValues || q.dropped.Records == 0 {
		t.Errorf("%d values wait, %d records were dropped", q.values, q.dropped.Records)
	}
	for {
		s, _ := q.take()
		if s == nil {
			break
		}
		q.give(s)
		if cap(s.Counters.Values) > 0 {
			t.Fatal("a slot keeps its values")
		}
	}
	if q.values != 0 {
		t.Errorf("%d values wait in an empty queue", q.values)
	}
}
