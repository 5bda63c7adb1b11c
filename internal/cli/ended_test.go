package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// endedAs returns a log of a process whose last line says how it ended.
func endedAs(t *testing.T, end string) string {
	t.Helper()
	log := convertTo(t, "a.json", trace("net10-datas-bgc"))
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	last := &lines[len(lines)-1]
	reason, signal, _ := strings.Cut(end, " ")
	*last = strings.Replace(*last, `"reason":"end-of-recording"`, `"reason":"`+reason+`"`, 1)
	if signal != "" {
		*last = strings.Replace(*last, `"process":{`, `"process":{`+signal+`,`, 1)
	}
	if !strings.Contains(*last, reason) || !strings.Contains(*last, signal) {
		t.Fatalf("the last line is %s", *last)
	}
	if err := os.WriteFile(log, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return log
}

// TestEnded: how a process ended is in all views of its log. A signal has its name, also in a log
// that calls every such end "killed".
func TestEnded(t *testing.T) {
	for _, c := range []struct {
		end, reason, text string
		severity          string // of the finding; "": none
		bad               bool
	}{
		{`oom-killed "exit_signal":9`, "oom-killed", "was killed by the kernel, because memory ran out", "error", true},
		{`killed "exit_signal":6`, "aborted", "aborted (SIGABRT)", "error", true},
		{`aborted "exit_signal":6`, "aborted", "aborted (SIGABRT)", "error", true},
		{`killed "exit_signal":11`, "crashed", "crashed (SIGSEGV)", "error", true},
		{`killed "exit_signal":9`, "killed", "was killed by SIGKILL", "warning", true},
		{`killed`, "killed", "was killed or crashed", "warning", true},
		{`killed "exit_signal":15`, "killed", "was killed by SIGTERM", "", true},
		{`exited "exit_code":3`, "exited", "exited with code 3", "", true},
		{`exited "exit_code":0`, "exited", "exited with code 0", "", false},
		{`ended`, "ended", "ended", "", false},
	} {
		t.Run(c.end, func(t *testing.T) {
			log := endedAs(t, c.end)
			checkEnded(t, log, c.reason, c.text, c.severity, c.bad)
		})
	}
}

// TestEndedScenarios: the same of logs of programs that ran out of memory.
func TestEndedScenarios(t *testing.T) {
	dir := filepath.Join(recordings.Dir(t), "scenarios")
	checkEnded(t, filepath.Join(dir, "oom.json.gz"), "oom-killed", "was killed by the kernel, because memory ran out", "error", true)
	checkEnded(t, filepath.Join(dir, "pod.json.gz"), "aborted", "aborted (SIGABRT)", "error", true)
}

func checkEnded(t *testing.T, log, reason, text, severity string, bad bool) {
	t.Helper()
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	summary, _, _ := run("summary", log)
	if !strings.Contains(words(summary), "end it "+text+", at ") {
		t.Errorf("summary:\n%s", summary)
	}
	_, findings, _ := strings.Cut(words(summary), " Findings: ")
	if first := strings.Contains(findings, severity+": The process was killed, or it crashed (process-end) The process "+text+", at "); first != (severity != "") {
		t.Errorf("findings: %s", findings)
	}
	if first, _, _ := strings.Cut(findings, ": "); severity != "" && !strings.HasSuffix(first, " "+severity) {
		t.Errorf("it is not the first finding: %s", findings)
	}
	page, _, _ := run("report", log, "-f", "md")
	if !strings.Contains(page, "it "+text+", at ") || severity != "" && !strings.Contains(page, "The process was killed, or it crashed") {
		t.Errorf("report:\n%s", page)
	}
	of, _, _ := run("doctor", log)
	if _, facts, _ := strings.Cut(of, "\n\nend "); !strings.Contains(words(facts), text+", at ") {
		t.Errorf("doctor:\n%s", of)
	}
	for _, args := range [][]string{{"explain", log}, {"pauses", log}, {"stat", log}, {"pauses", log, "--at", "5s"}} {
		out, said, code := run(args...)
		if got := strings.Contains(out+said, text+", at "); got != bad || code != exit.OK {
			t.Errorf("%s: %d\n%s%s", args, code, out, said)
		}
	}
	for _, args := range [][]string{{"summary", log}, {"explain", log}, {"pauses", log}, {"pauses", log, "--at", "5s"}} {
		out, _, _ := run(append(args, "-f", "json")...)
		var x struct {
			Process struct {
				End       string `json:"end"`
				EndReason string `json:"end_reason"`
			} `json:"process"`
		}
		first, _, _ := strings.Cut(out, "\n")
		if err := json.Unmarshal([]byte(first), &x); err != nil || x.Process.EndReason != reason || x.Process.End == "" {
			t.Errorf("%s: %v %+v", args, err, x)
		}
	}
}

// TestEndedLater: an end after the part that was asked for is not in any view, and in a recording
// nothing is known of it.
func TestEndedLater(t *testing.T) {
	log := endedAs(t, `aborted "exit_signal":6`)
	for _, args := range [][]string{{"summary", log, "--until", "3s"}, {"pauses", log, "--until", "3s"}, {"summary", trace("net10-datas-bgc")}} {
		if out, said, _ := run(args...); strings.Contains(out+said, "aborted (SIGABRT)") || strings.Contains(out, "  end ") {
			t.Errorf("%s:\n%s%s", args, out, said)
		}
	}
	out, _, _ := run("summary", "-v", trace("net10-datas-bgc"))
	if !strings.Contains(out, "process-end: how the process ended is not recorded") {
		t.Errorf("a recording:\n%s", out)
	}
}
