package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
)

// TestNumbers: what is missing is found by the numbers, and told once.
func TestNumbers(t *testing.T) {
	blocking := func(number uint32, start int64) *gclog.Pause {
		return &gclog.Pause{PausePart: gclog.PausePart{Start: start, Duration: 1}, GC: &gclog.GCDetails{Number: number, HasNumber: true}}
	}
	of := func(kind gclog.PauseKind, number uint32, start int64) *gclog.Pause {
		p := blocking(number, start)
		p.Kind = kind
		return p
	}
	used := func(number uint32, start int64) *gclog.Pause {
		return &gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseNoGCRegion, Start: start, Duration: 1}, UsedNumber: number}
	}
	partly := of(gclog.PauseFinal, 2, 25)
	partly.GC.Flaws = gclog.FlawNoStart
	bare := blocking(5, 50).GC
	bare.Start, bare.End = 50, 51
	for _, x := range []struct {
		name string
		tell []any // pauses, records, gaps, and times at which a session begins that ended one before
		want string
	}{
		{"whole", []any{blocking(7, 10), blocking(8, 20)}, ""},
		{"a hole", []any{blocking(7, 10), blocking(8, 20), blocking(12, 30), blocking(13, 40)}, "9-11 in 21-30"},
		{"two holes", []any{blocking(1, 10), blocking(3, 20), blocking(6, 30)}, "2-2 in 11-20, 4-5 in 21-30"},
		{"a background one whose first pause holds another", []any{blocking(4, 10), blocking(6, 20), of(gclog.PauseInitial, 5, 21), of(gclog.PauseFinal, 5, 30), blocking(7, 40)}, ""},
		{"a background one from before", []any{of(gclog.PauseFinal, 2, 10), blocking(9, 20), blocking(10, 30)}, ""},
		{"the end of a background one is no news", []any{of(gclog.PauseInitial, 5, 10), of(gclog.PauseFinal, 5, 20), blocking(7, 30)}, "6-6 in 11-30"},
		{"one of which a part was seen", []any{blocking(1, 10), blocking(4, 20), partly}, "3-3 in 11-20"},
		{"one without pauses", []any{blocking(4, 10), bare, blocking(6, 60)}, ""},
		{"a late background one", []any{blocking(1, 10), blocking(3, 30), of(gclog.PauseInitial, 2, 20)}, ""},
		{"no-GC region", []any{blocking(1, 10), used(2, 20), blocking(3, 30)}, ""},
		{"a gap that is told", []any{blocking(1, 10), &gclog.Gap{Reason: gclog.GapMissedGCs, From: 2, To: 4}, blocking(5, 20), blocking(9, 30), &gclog.Gap{Reason: gclog.GapQueueFull, From: 7, To: 12}}, "6-6 in 21-30"},
		{"between two sessions", []any{blocking(1, 10), [2]int64{15, 20}, blocking(4, 25)}, "2-3 in 15-20"},
		{"between three sessions", []any{blocking(1, 10), [2]int64{15, 20}, [2]int64{22, 24}, blocking(4, 25), blocking(6, 30)}, "2-3 in 15-24, 5-5 in 26-30"},
		{"between two sessions of which one takes over from the other", []any{blocking(1, 10), [2]int64{15, 12}, blocking(4, 25)}, "2-3 in 11-25"},
		{"another process", []any{blocking(8, 10), blocking(1, 20), blocking(2, 30), blocking(4, 40)}, "0-0 in 11-20, 3-3 in 31-40"},
		{"parts of one", []any{blocking(1, 10), blocking(1, 12), blocking(2, 20)}, ""},
	} {
		var got []string
		n := numbers{tell: func(g *gclog.Gap) {
			got = append(got, fmt.Sprintf("%d-%d in %d-%d", g.From, g.To, g.Since, g.Time))
		}}
		for _, v := range x.tell {
			switch v := v.(type) {
			case *gclog.Pause:
				n.pause(v)
			case *gclog.GCDetails:
				n.gc(v)
			case *gclog.Gap:
				n.gap(v)
			case [2]int64:
				n.begin(v[0], v[1])
			}
		}
		n.finish()
		if strings.Join(got, ", ") != x.want {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
	}
}

// TestNumbersInTime: what is missing is not kept for ever.
func TestNumbersInTime(t *testing.T) {
	told := 0
	n := numbers{tell: func(*gclog.Gap) { told++ }}
	for i := range uint32(10 * numbersBehind) {
		n.next(2*i+1, int64(i), int64(i), true)
	}
	if len(n.jumps) > numbersBehind || told+len(n.jumps) != 10*numbersBehind-1 {
		t.Errorf("%d are told, %d are kept", told, len(n.jumps))
	}
}

// cutOut leaves out the lines of a log that tell of some collections.
func cutOut(t *testing.T, path string, numbers string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`GC\((` + numbers + `)\)|"gc":\{"number":(` + numbers + `),|^[0-9.]*,(` + numbers + `),`)
	lines := slices.DeleteFunc(bytes.SplitAfter(b, []byte("\n")), func(b []byte) bool { return line.Match(b) })
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTwoSessionsInJDK8: without numbers of collections nothing is known of the time between
// two files.
func TestTwoSessionsInJDK8(t *testing.T) {
	log := convertTo(t, "a.log", "--format", "jdk8", trace("net10-datas-bgc"))
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	first := slices.IndexFunc(lines, func(b []byte) bool { return bytes.HasPrefix(b, []byte("2026-")) })
	hole := slices.IndexFunc(lines, func(b []byte) bool { return bytes.HasPrefix(b, []byte("2026-11-21T00:30:38.673")) })
	behind := slices.IndexFunc(lines, func(b []byte) bool { return bytes.HasPrefix(b, []byte("2026-11-21T00:30:40")) })
	if first < 1 || hole < first || behind < hole {
		t.Fatalf("lines %d, %d, %d of %s", first, hole, behind, b)
	}
	two := log + ".1"
	for path, of := range map[string][][]byte{log: lines[:hole], two: append(slices.Clone(lines[:first]), lines[behind:]...)} {
		if err := os.WriteFile(path, bytes.Join(of, nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, _, _ := run("pauses", log, two, "--at", "2026-11-21T00:30:39.200Z")
	if want := "cannot say for that millisecond (00:30:39.200 to 00:30:39.201 UTC): no session is known of between 00:30:38.012 and 00:30:40.419\n"; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	whole, _, _ := run("summary", log)
	if strings.Contains(whole, "not observed") {
		t.Errorf("one file has no break: %s", whole)
	}
}

// TZ would change what zone times are in: tests that are about that set it.
func init() { _ = os.Unsetenv("TZ") }

// run runs gclog.
func run(args ...string) (stdout, stderr string, code int) {
	var out, said bytes.Buffer
	code = Main(append([]string{"gclog"}, args...), nil, &out, &said)
	return out.String(), said.String(), code
}

// TestHoleInLog: lines that were cut out of a log are not known to be without pauses.
func TestHoleInLog(t *testing.T) {
	const at = "2026-11-21T00:30:38.700Z" // in a pause of 6
	for _, name := range []string{"a.json", "a.log", "a.csv"} {
		log := convertTo(t, name, trace("net10-datas-bgc"))
		whole, _, _ := run("pauses", log, "--at", at)
		if !strings.HasPrefix(whole, "yes: ") {
			t.Fatalf("%s: %s", name, whole)
		}
		if said, _, code := run("check", log, "--fail-if", "gc.missed>0"); strings.HasSuffix(name, "json") && code != exitOK {
			t.Errorf("%s, the whole: %s", name, said)
		}
		cutOut(t, log, "5|6|7")
		got, _, _ := run("pauses", log, "--at", at)
		if !strings.HasPrefix(got, "cannot say for that millisecond (00:30:38.700 to 00:30:38.701 UTC): numbers of collections are missing between 00:30:38.0") {
			t.Errorf("%s: %s", name, got)
		}
		got, _, _ = run("summary", log)
		if !regexp.MustCompile(` missing 3 (GCs|GC numbers \(some may be those of no-GC regions\)), 0 events, 0 records not observed `).MatchString(strings.Join(strings.Fields(got), " ")) {
			t.Errorf("%s: %s", name, got)
		}
		if said, _, code := run("check", log, "--fail-if", "gc.missed>0"); code != exitCheck {
			t.Errorf("%s: %s", name, said)
		}
		requests := filepath.Join(t.TempDir(), "requests.json")
		if err := os.WriteFile(requests, []byte(`{"time":"`+at+`","took":10}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		got, said, _ := run("pauses", log, "--join", requests, "--time-field", "time", "--duration-field", "took")
		if !strings.Contains(got, `"gc_pause_ms":null`) || !strings.Contains(said, "1 row is of a time in which something is missing") {
			t.Errorf("%s: %s%s", name, got, said)
		}
	}
}
