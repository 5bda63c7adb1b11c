package cli

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
	// Each generation is rounded separately. A time truncated to milliseconds is placed after what
	// precedes it.
	"unified": {5 * 1024, 1e6, 1e3},
	"csv":     {0, 1e3, 1e3},
}

// An exception describes metrics and findings of a recording that a log cannot contain, and of
// which it does not show that it lacks them.
type exception struct {
	recording, format string
	metrics           *regexp.Regexp
	why               string
}

var exceptions = []exception{
	{
		"net9-wks-attach", "unified", regexp.MustCompile(`^(gc|gen1)\.(count|rate)$|^gen1\.(promoted|heap\.after)\.|^(promoted|heap\.after)\.|^gen[12]\.per\.`),
		"a collection was under way when the session began: their lines are of pauses, and its pause was not seen",
	},
}

func excepted(recording, format, metric string) bool {
	for _, x := range exceptions {
		if x.recording == recording && x.format == format && x.metrics.MatchString(metric) {
			return true
		}
	}
	return false
}

// TestSameMetrics: each metric of a log is equal to that of the recording within the format's
// rounding, or it is unknown, with the reason; and no finding is in a log only.
func TestSameMetrics(t *testing.T) {
	extent.Long(t)
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		dir := t.TempDir()
		for format := range roundings {
			convertAll(t, tr.Path, "--format", format, "-o", filepath.Join(dir, format+"-%p"))
		}
		for _, pid := range recordedPIDs(t, tr.Path) {
			recording := readAll(t, pid, tr.Path)
			if len(recording.pages) == 0 {
				continue // no collection: no log
			}
			want := metricsOf(recording)
			for format, r := range roundings {
				log := readAll(t, pid, filepath.Join(dir, fmt.Sprintf("%s-%d", format, pid)))
				for rule, severity := range findingsOf(log) {
					if found := findingsOf(recording)[rule]; found != severity && !excepted(tr.Name, format, "finding "+rule) {
						t.Errorf("%s: finding %s is %s, in the recording %q", format, rule, severity, found)
					}
				}
				got := metricsOf(log)
				if len(got) != len(want) {
					t.Errorf("%s has %d metrics, the recording %d", format, len(got), len(want))
				}
				for name, x := range got {
					why, unknown := x["unknown"]
					switch {
					case unknown && why == "":
						t.Errorf("%s: %s is unknown without a reason", format, name)
					case unknown:
					case excepted(tr.Name, format, name):
					case !known(want[name]):
						t.Errorf("%s: %s is %v, unknown from the recording: %v", format, name, number(x), want[name])
					default:
						off := math.Abs(number(x) - number(want[name]))
						if slack := r.of(name, want); off > slack+1e-9*number(want[name]) {
							t.Errorf("%s: %s is %v, in the recording %v: off by %v, rounding explains %v", format, name, number(x), number(want[name]), off, slack)
						}
					}
				}
			}
		}
	})
}

// findingsOf returns the severities of the rules with findings.
func findingsOf(r *reading) map[string]string {
	found := map[string]string{}
	for _, f := range r.summary.(map[string]any)["dotnet"].(map[string]any)["gc"].(map[string]any)["findings"].([]any) {
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
		{"gc*", "uptime", false, true},
		{"gc,gc+stats", "time", false, false},
		{"gc,gc+init,gc+stats", "time,uptime,level,tags", true, true},
	} {
		log := filepath.Join(t.TempDir(), "gc.log")
		convertAll(t, trace("net10-datas-bgc"), "-Xlog:"+c.lines+":file="+log+":"+c.decorations)
		m := metricsOf(readAll(t, 0, log))
		if known(m["duration"]) != c.hasDuration || known(m["pause.count"]) != c.hasCount {
			t.Errorf("-Xlog:%s with %s: duration is %v, pause.count %v", c.lines, c.decorations, m["duration"], m["pause.count"])
		}
	}
}
