package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/cli/exit"
)

// cutOut removes the lines of a log that are about some collections.
func cutOut(t *testing.T, path string, numbers string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`GC\((` + numbers + `)\)|"gc":\{"number":(` + numbers + `),|^[0-9.]*,(` + numbers + `),`)
	lines := slices.DeleteFunc(bytes.SplitAfter(b, []byte("\n")), func(b []byte) bool {
		// Few lines contain one of the numbers, and the expression is slow.
		contains := func(n string) bool { return bytes.Contains(b, []byte(n)) }
		return slices.ContainsFunc(strings.Split(numbers, "|"), contains) && line.Match(b)
	})
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TZ would change the zone of times: tests about that set it.
func init() { _ = os.Unsetenv("TZ") }

// run runs gclog.
func run(args ...string) (stdout, stderr string, code int) {
	var out, said bytes.Buffer
	code = Main(append([]string{"gclog"}, args...), nil, &out, &said)
	return out.String(), said.String(), code
}

// TestHoleInLog: where lines were cut out of a log, it is unknown whether there were pauses.
func TestHoleInLog(t *testing.T) {
	const at = "2026-11-21T00:30:38.700Z" // in a pause of 6
	for _, name := range []string{"a.json", "a.log", "a.csv"} {
		log := convertTo(t, name, trace("net10-datas-bgc"))
		whole, _, _ := run("pauses", log, "--at", at)
		if !strings.HasPrefix(whole, "yes: ") {
			t.Fatalf("%s: %s", name, whole)
		}
		if said, _, code := run("check", log, "--fail-if", "gc.missed>0"); strings.HasSuffix(name, "json") && code != exit.OK {
			t.Errorf("%s, the whole: %s", name, said)
		}
		cutOut(t, log, "5|6|7")
		got, _, _ := run("pauses", log, "--at", at)
		if !strings.HasPrefix(got, "unknown for that millisecond (00:30:38.700 to 00:30:38.701 UTC): collection numbers are missing between 00:30:38.0") {
			t.Errorf("%s: %s", name, got)
		}
		got, _, _ = run("summary", log)
		if !regexp.MustCompile(` missing 3 (GCs|GC numbers \(some may be those of no-GC regions\)), 0 events, 0 records not observed `).MatchString(strings.Join(strings.Fields(got), " ")) {
			t.Errorf("%s: %s", name, got)
		}
		if said, _, code := run("check", log, "--fail-if", "gc.missed>0"); code != exit.Check {
			t.Errorf("%s: %s", name, said)
		}
		requests := filepath.Join(t.TempDir(), "requests.json")
		if err := os.WriteFile(requests, []byte(`{"time":"`+at+`","took":10}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		got, said, _ := run("pauses", log, "--join", requests, "--time-field", "time", "--duration-field", "took")
		if !strings.Contains(got, `"gc_pause_ms":null`) || !strings.Contains(said, "1 row is from a time in which records are missing") {
			t.Errorf("%s: %s%s", name, got, said)
		}
	}
}
