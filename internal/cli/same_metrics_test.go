package cli

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// A rounding is the precision of a format.
type rounding struct {
	bytes float64 // of a heap size
	stamp float64 // of the start of a pause, ns
	took  float64 // of a duration, ns
}

var roundings = map[string]rounding{
	"unified": {}, // its DotNet lines are exact
	"csv":     {0, 1e3, 1e3},
}

// heldBy returns what the formats contain of a collection, nil if nothing. Only of one that was
// under way when the session began it is not everything that metrics are made of.
var heldBy = map[string]func(*gclog.GCDetails) *gclog.GCDetails{
	// Its lines start with a pause.
	"unified": func(d *gclog.GCDetails) *gclog.GCDetails {
		if d.Flaws&gclog.FlawNoStart != 0 && len(d.Pauses) == 0 {
			return nil
		}
		return d
	},
	// A row has the start and the duration, which is unknown.
	"csv": func(d *gclog.GCDetails) *gclog.GCDetails {
		if d.Flaws&gclog.FlawNoStart == 0 {
			return d
		}
		x := d.Clone()
		x.End = 0
		x.Known &^= gclog.GroupEnd
		return x
	},
}

// A comparison is the summary of a process in a log, and that of what the log's format contains of
// the recording.
type comparison struct {
	format    string
	held, log any
}

var comparisons = map[string][]comparison{} // by the path of the recording

// summariesIn returns the summaries of all processes of a recording, in logs of all formats that
// round. Several tests use them, so it makes those of each recording once.
func summariesIn(t *testing.T, tr recordings.Trace) []comparison {
	t.Helper()
	if list, ok := comparisons[tr.Path]; ok {
		return list
	}
	list := []comparison{}
	dir := t.TempDir()
	for format := range roundings {
		convertAll(t, tr.Path, "--format", format, "-o", filepath.Join(dir, format+"-%p"))
	}
	for _, pid := range recordedPIDs(t, tr.Path) {
		inFlight := false
		recorded, gcs := summarize(t, func(d *gclog.GCDetails) *gclog.GCDetails {
			inFlight = inFlight || d.Flaws&gclog.FlawNoStart != 0
			return d
		}, pid, tr.Path)
		if gcs == 0 {
			continue // no collection: no log
		}
		for format := range roundings {
			x := comparison{format: format, held: recorded}
			if inFlight {
				x.held, _ = summarize(t, heldBy[format], pid, tr.Path)
			}
			x.log, _ = summarize(t, all, pid, filepath.Join(dir, fmt.Sprintf("%s-%d", format, pid)))
			list = append(list, x)
		}
	}
	comparisons[tr.Path] = list
	return list
}

// TestSameMetrics: each metric of a log is equal to that of the recording within the format's
// rounding, or it is unknown, with the reason; and no finding is in a log only.
func TestSameMetrics(t *testing.T) {
	extent.Long(t)
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		for _, x := range summariesIn(t, tr) {
			for rule, severity := range findingsOf(x.log) {
				if rule == "finalizer-backlog" && tr.Name == "stall" && x.format != "json" {
					continue // the end of the run is in what was lost after the last collection, which is where these end
				}
				if found := findingsOf(x.held)[rule]; found != severity {
					t.Errorf("%s: finding %s is %s, in the recording %q", x.format, rule, severity, found)
				}
			}
			r, want, got := roundings[x.format], metricsOf(x.held), metricsOf(x.log)
			if len(got) != len(want) {
				t.Errorf("%s has %d metrics, the recording %d", x.format, len(got), len(want))
			}
			for name, m := range got {
				why, unknown := m["unknown"]
				switch {
				case unknown && why == "":
					t.Errorf("%s: %s is unknown without a reason", x.format, name)
				case unknown:
				case !known(want[name]):
					t.Errorf("%s: %s is %v, unknown from the recording: %v", x.format, name, number(m), want[name])
				default:
					off := math.Abs(number(m) - number(want[name]))
					if slack := r.of(name, want); off > slack+1e-9*number(want[name]) {
						t.Errorf("%s: %s is %v, in the recording %v: off by %v, rounding explains %v", x.format, name, number(m), number(want[name]), off, slack)
					}
				}
			}
		}
	})
}

// findingsOf returns the severities of the rules with findings.
func findingsOf(summary any) map[string]string {
	found := map[string]string{}
	for _, f := range summary.(map[string]any)["dotnet"].(map[string]any)["gc"].(map[string]any)["findings"].([]any) {
		f := f.(map[string]any)
		found[f["rule"].(string)] = f["severity"].(string)
	}
	return found
}

func known(x map[string]any) bool {
	_, unknown := x["unknown"]
	return !unknown
}

var stretches = regexp.MustCompile(`^(mutator|pause\.share)\.(\w+)$`)

// of returns how far a metric of a log may be from that of the recording.
func (r rounding) of(name string, want map[string]map[string]any) float64 {
	all := func(metric string) float64 { return number(want[metric]) }
	switch {
	case stretches.MatchString(name):
		// A window may contain the same pauses at other positions: at both of its ends one is cut.
		length := lengths[stretches.FindStringSubmatch(name)[2]]
		return (2*r.stamp + r.took*all("pause.count")) / length
	case name == "pause.share":
		return r.took*all("pause.count")/all("duration") + all("pause.share")*r.stamp/all("duration")
	case name == "duration", name == "duration.unobserved", name == "gen2.since", strings.HasPrefix(name, "between."):
		return r.stamp
	case strings.HasSuffix(name, "pause.total"):
		return r.took * all(strings.TrimSuffix(name, "total")+"count")
	case strings.Contains(name, "suspend."), strings.Contains(name, "pause.") && !strings.HasSuffix(name, ".count"):
		return 2 * r.took // a collection has two pauses at most
	case name == "alloc.rate": // both ends of its time are sums of two rounded numbers
		return 4 * r.stamp * all(name) * all(name) / (1e9 * all("alloc.total"))
	case strings.HasSuffix(name, ".rate"):
		return all(name) * r.stamp / all("duration")
	case strings.HasSuffix(name, "promoted.total"):
		return r.bytes * all("gc.count")
	case strings.Contains(name, "heap."), strings.Contains(name, "promoted."), strings.Contains(name, ".bytes"):
		return r.bytes
	}
	return 0
}

var lengths = map[string]float64{"10ms": 1e7, "50ms": 5e7, "100ms": 1e8, "1s": 1e9, "10s": 1e10, "1m": 6e10, "5m": 3e11}

// TestLogsWithoutSessions: what -Xlog excluded from a log is unknown.
func TestLogsWithoutSessions(t *testing.T) {
	for _, c := range []struct {
		lines, decorations    string
		hasDuration, hasCount bool
	}{
		{"gc*", "time,uptime,level,tags", true, true},
		{"gc*", "uptime", true, true},
		{"gc,gc+stats", "time", false, false},
		{"gc,gc+init,gc+stats", "time,uptime,level,tags", true, true},
	} {
		log := filepath.Join(t.TempDir(), "gc.log")
		convertAll(t, trace("net10-datas-bgc"), "-Xlog:"+c.lines+":file="+log+":"+c.decorations)
		summary, _ := summarize(t, all, 0, log)
		m := metricsOf(summary)
		if known(m["duration"]) != c.hasDuration || known(m["pause.count"]) != c.hasCount {
			t.Errorf("-Xlog:%s with %s: duration is %v, pause.count %v", c.lines, c.decorations, m["duration"], m["pause.count"])
		}
	}
}
