package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestAbout(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0.000 ms", 412_345: "0.412 ms", 12_345_678: "12.3 ms", 3_210_000_000: "3.2 s", 119e9: "119.0 s", 7_384_600_000_000: "2 h 3 min",
	} {
		if got := about(ns); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}

// TestPauseWithoutEnd: if the line with the end of a pause is missing, the pause may have lasted
// until the next one began.
func TestPauseWithoutEnd(t *testing.T) {
	log := convertTo(t, "a.log", trace("net10-datas-bgc"))
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ line, at, want string }{
		{`GC\(9\) Pause .*ms\n`, "00:30:41.300", "between 00:30:41.264 and 00:30:42.114"},
		{`GC\(10\) Pause .*ms\n`, "00:30:42.150", "between 00:30:42.114 and 00:30:42.967"},
		{`GC\(5\) Pause Initial Mark .*ms\n`, "00:30:38.747", "between 00:30:38.746 and 00:30:38.747"},
		{`GC\(5\) Pause Remark .*ms\n`, "00:30:38.820", "between 00:30:38.806 and 00:30:38.832"},
	} {
		line := regexp.MustCompile(`(?m)^.*` + x.line)
		if n := len(line.FindAll(b, -1)); n != 1 {
			t.Fatalf("%s: %d lines", x.line, n)
		}
		if err := os.WriteFile(log, line.ReplaceAll(b, nil), 0o600); err != nil {
			t.Fatal(err)
		}
		got, _, _ := run("pauses", log, "--at", x.at)
		got, _, _ = strings.Cut(got, "\n")
		if want := ": the start or the end of a collection was not recorded " + x.want; !strings.HasPrefix(got, "unknown for that millisecond (") || !strings.HasSuffix(got, want) {
			t.Errorf("without %s: %s, want %s", x.line, got, want)
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
		if !strings.HasPrefix(got, want) || (code == exitOK) != (want != "") {
			t.Errorf("--at %s: %d, %s%s, want %s", at, code, got, said, want)
		}
		if anew := strings.Contains(said, "was restarted"); anew == strings.Contains(at, "00:30:3") {
			t.Errorf("--at %s: %s", at, said)
		}
	}
}
