package attach

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// Counters are which counters a session listens to, and how often the runtime reports them.
type Counters struct {
	Names []string      // of meters and EventSources
	Every time.Duration // 0: none
}

// Defaults and limits of Counters. With MetricsSeries and MetricsHistograms a session is like that of
// dotnet-counters, with which it shares the only one that a runtime has for meters.
const (
	CountersEvery     = 10 * time.Second
	countersLeast     = time.Second
	countersMost      = time.Hour
	countersNames     = 20
	countersName      = 200
	metricsSeries     = 1000
	metricsHistograms = 20
	// metersSince is the version of the runtime that has added its own meter.
	metersSince = 9
)

// ParseCounters returns the counters of a list of names, separated by commas, of meters and
// EventSources. A name of meters may end in *. An empty list is that of the runtime itself.
func ParseCounters(names string, every time.Duration) (Counters, error) {
	c := Counters{Every: every}
	switch {
	case every < countersLeast || every > countersMost:
		return c, fmt.Errorf("counters every %v: it must be %v to %v", every, countersLeast, countersMost)
	case every%time.Second != 0:
		return c, fmt.Errorf("counters every %v: it must be whole seconds", every)
	case names == "":
		names = clr.RuntimeCounters
	}
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if err := checkCounters(name); err != nil {
			return c, fmt.Errorf("counters %q: %w", name, err)
		}
		if !slices.Contains(c.Names, name) {
			c.Names = append(c.Names, name)
		}
	}
	if len(c.Names) > countersNames {
		return c, fmt.Errorf("counters of %d names: there may be %d", len(c.Names), countersNames)
	}
	return c, nil
}

func checkCounters(name string) error {
	switch star := strings.IndexByte(name, '*'); {
	case name == "":
		return errors.New("a name is missing between commas")
	case len(name) > countersName:
		return fmt.Errorf("a name has at most %d characters", countersName)
	case star >= 0 && star < len(name)-1:
		return errors.New("a * may only be at the end of a name")
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`;="'\`, r) }); i >= 0 {
		return fmt.Errorf("a name has no %q", name[i])
	}
	return nil
}

// add adds the providers of the counters to those of a session with a runtime of a version. The EventCounters
// of the runtime are always there; its meter, which is preferred, not in all programs.
func (c *Counters) add(list []session.Provider, version string) []session.Provider {
	if c.Every == 0 {
		return list
	}
	list = slices.Clone(list)
	seconds := int(c.Every / time.Second)
	var meters []string
	for _, name := range c.Names {
		if major := gclog.Major(version); name != clr.RuntimeCounters || major == 0 || major >= metersSince {
			meters = append(meters, name)
		}
		if !strings.HasSuffix(name, "*") {
			list = addProvider(list, session.Provider{
				Name: name, Level: clr.LevelInformational, Filter: fmt.Sprintf("EventCounterIntervalSec=%d", seconds),
			})
		}
	}
	if len(meters) == 0 {
		return list
	}
	return addProvider(list, session.Provider{
		Name: clr.MetricsProvider, Keywords: clr.KeywordTimeSeries, Level: clr.LevelInformational,
		Filter: fmt.Sprintf("SessionId=SHARED;ClientId=%s;Metrics=%s;RefreshInterval=%d;MaxTimeSeries=%d;"+
			"MaxHistograms=%d", rand.Text(), strings.Join(meters, ","), seconds, metricsSeries, metricsHistograms),
	})
}

// counters takes a record of counters.
func (s *Session) counters(c *gclog.Counters) {
	s.counting.Store(true)
	if c.Problem != s.problem {
		s.problem = c.Problem
		if text := countersProblems[c.Problem]; text != "" {
			s.o.Warn(fmt.Sprintf("process %d: %s", s.target.PID, text))
		}
	}
	s.queue.put(c)
}

var countersProblems = map[gclog.CountersProblem]string{
	gclog.CountersFailed:     "the runtime no longer reports the counters of meters, because of an error",
	gclog.CountersTooMany:    "there are more counters than the runtime reports",
	gclog.CountersInstrument: "the program has failed to say the value of one of its counters",
	gclog.CountersOtherTool: "another tool watches the meters of the process, of which the runtime has only one " +
		"session: counters of meters are those that it asks for",
	gclog.CountersOtherLimits: "another tool watches the meters of the process: it decides how often they are reported",
}

// expectCounters says when no counters come.
func (s *Session) expectCounters() (stop func()) {
	if s.o.Counters.Every == 0 {
		return func() {}
	}
	t := time.AfterFunc(2*s.o.Counters.Every+headTime, func() {
		if !s.counting.Load() {
			s.o.Warn(fmt.Sprintf("process %d sends no counters: its EventSources may be switched off, as NativeAOT "+
				"does without <EventSourceSupport>, or its runtime may be suspended", s.target.PID))
		}
	})
	return func() { t.Stop() }
}
