package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/cli/exit"
)

// TestPauseWithoutLine: if the line of a collection is missing, there may have been a pause between its
// neighbours.
func TestPauseWithoutLine(t *testing.T) {
	log := convertTo(t, "a.log", trace("net10-datas-bgc"))
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, regexp.MustCompile(`(?m)^.*GC\(9\) +DotNet: .*\n`).ReplaceAll(b, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	got, _, _ := run("pauses", log, "--at", "00:30:41.300")
	got, _, _ = strings.Cut(got, "\n")
	if want := ": collection numbers are missing between 00:30:40.474 and 00:30:42.114"; !strings.HasPrefix(got, "unknown for that millisecond (") || !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestAtTook: the answer about a request that took a while is about all of that while, and without its
// duration the pause that ended just before counts. The pauses of gclog's own list are summed here.
func TestAtTook(t *testing.T) {
	recording := trace("net10-datas-bgc")
	out, _, _ := run("pauses", recording, "-f", "json")
	type stretch struct{ from, to time.Time }
	var pauses []stretch
	for line := range strings.Lines(out) {
		var x struct {
			Event struct {
				Start    time.Time
				Duration int64
			}
		}
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		pauses = append(pauses, stretch{x.Event.Start, x.Event.Start.Add(time.Duration(x.Event.Duration))})
	}
	overlap := func(from, to time.Time) (sum time.Duration) {
		for _, p := range pauses {
			if p.from.Before(from) {
				p.from = from
			}
			if p.to.After(to) {
				p.to = to
			}
			sum += max(0, p.to.Sub(p.from))
		}
		return sum
	}
	long := pauses[3]
	for _, p := range pauses {
		if p.to.Sub(p.from) > long.to.Sub(long.from) {
			long = p
		}
	}
	ended := long.to.Add(450 * time.Microsecond)
	const layout = "2006-01-02T15:04:05.000000000Z"
	for _, c := range []struct {
		args     []string
		from, to time.Time
	}{
		{[]string{"--at", ended.Format(layout), "--took", "200ms"}, ended.Add(-200 * time.Millisecond), ended},
		{[]string{"--at", ended.Format(layout), "--took", "00:00:00.2"}, ended.Add(-200 * time.Millisecond), ended},
		{[]string{"--at", ended.Format(layout), "--took", "20"}, ended.Add(-20 * time.Millisecond), ended},
		{[]string{"--at", ended.Add(-200*time.Millisecond).Format(layout) + ".." + ended.Format(layout)}, ended.Add(-200 * time.Millisecond), ended},
		{[]string{"--at", strconv.FormatInt(ended.Add(-200*time.Millisecond).UnixNano(), 10) + ".." + ended.Format("15:04:05.000000000")}, ended.Add(-200 * time.Millisecond), ended},
		// A stamp in whole seconds may be of any moment of the second.
		{[]string{"--at", ended.Format("02/Jan/2006:15:04:05 +0000"), "--took", "200ms"}, ended.Truncate(time.Second).Add(-200 * time.Millisecond), ended.Truncate(time.Second).Add(time.Second)},
	} {
		out, said, code := run(append([]string{"pauses", recording, "-f", "json"}, c.args...)...)
		var x struct {
			Event  struct{ Start, End time.Time }
			Dotnet struct {
				GC struct {
					Answer  string
					Message string
					Pause   struct{ NS int64 }
				}
			}
		}
		if err := json.Unmarshal([]byte(out), &x); err != nil || code != exit.OK {
			t.Fatalf("%s: %v %d\n%s%s", c.args, err, code, out, said)
		}
		if want := overlap(c.from, c.to); !x.Event.Start.Equal(c.from) || !x.Event.End.Equal(c.to) || x.Dotnet.GC.Pause.NS != want.Nanoseconds() || x.Dotnet.GC.Answer != "partly" {
			t.Errorf("%s: %+v, want %v from %v to %v", c.args, x, want, c.from, c.to)
		}
	}
	took := strconv.FormatFloat(float64(long.to.Sub(long.from))/1e6, 'f', 3, 64)
	out, _, _ = run("pauses", recording, "--at", ended.Format("2006-01-02T15:04:05.000000Z"))
	first, _, _ := strings.Cut(out, "\n")
	if !strings.HasPrefix(first, "no at that moment (") || !strings.Contains(first, "; a pause of "+took+" ms for #4 (gen2 blocking, AllocSmall) ended 0.4") || !strings.Contains(first, " ms before, and delayed what took longer than that (--took); the next began ") {
		t.Error(first)
	}
	out, _, _ = run("pauses", recording, "--at", long.to.Add(150*time.Millisecond).Format(layout)) // longer than it lasted
	if !strings.HasPrefix(out, "no: not paused in ") {
		t.Error(out)
	}
	for _, args := range [][]string{{"--took", "3ms"}, {"--at", "5s", "--took", "x"}, {"--at", "5s", "--took", "0ms"}, {"--at", "5s..6s", "--took", "3ms"}, {"--at", "6s..5s"}, {"--at", "5s..5s"}, {"--at", "5s.."}, {"--at", "..5s"}} {
		if out, said, code := run(append([]string{"pauses", recording}, args...)...); code != exit.Usage || said == "" {
			t.Errorf("%s: %d %s%s", args, code, out, said)
		}
	}
}

// TestAtOfLives: of several instances of a process, --at uses the one that ran at that time.
func TestAtOfLives(t *testing.T) {
	first := convertTo(t, "a.json", trace("net10-datas-bgc"))
	b, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(t.TempDir(), "b.json")
	for path, life := range map[string][2]string{first: {"one", "T00:"}, second: {"two", "T05:"}} {
		of := strings.NewReplacer(`"pid":29336}`, `"pid":1,"entity_id":"`+life[0]+`"}`, "T00:", life[1])
		if err := os.WriteFile(path, []byte(of.Replace(string(b))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for at, want := range map[string]string{
		"00:30:38.700":              "yes: paused for all of that millisecond (00:30:38.700 to 00:30:38.701 UTC)",
		"2026-11-21T00:30:38.300Z":  "no: ",
		"00:30:37":                  "partly: paused for 141.2 ms of the 700.0 ms that are known of that second (00:30:37 to 00:30:38 UTC), in 4 pauses, the longest of 133.475 ms at 00:30:37.879 ",
		"05:30:38.700":              "yes: paused for all of that millisecond (05:30:38.700 to 05:30:38.701 UTC)",
		"2026-11-21T06:30:37+01:00": "partly: paused for 141.2 ms of ",
		"500ms":                     "no: ",
		"03:00:00":                  "",
	} {
		got, said, code := run("pauses", first, second, "--at", at)
		if !strings.HasPrefix(got, want) || (code == exit.OK) != (want != "") {
			t.Errorf("--at %s: %d, %s%s, want %s", at, code, got, said, want)
		}
		if anew := strings.Contains(said, "was restarted"); anew == strings.Contains(at, "00:30:3") {
			t.Errorf("--at %s: %s", at, said)
		}
	}
}
