package logs_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
)

// pauseLines returns the lines of a pause of 5 ms.
func pauseLines(decorations string, n int) string {
	return dotNetLine(decorations, n) + fmt.Sprintf("%s GC(%d) Pause Young (Allocation Failure) 2568K->2211K(5260K) 5.701ms\n", decorations, n)
}

func dotNetLine(decorations string, n int) string {
	return fmt.Sprintf("%s GC(%d)         DotNet: gen0 blocking, reason=AllocSmall, gen0=2568K->2211K, workers=unknown\n", decorations, n)
}

// TestPIDs: of two numbers the first is the pid; a different pid means a different process. A
// single number may be the thread's.
func TestPIDs(t *testing.T) {
	for text, want := range map[string][]int64{
		pauseLines("[1.000s][4711]", 1) + pauseLines("[2.000s][4712]", 2):                                       {0},
		pauseLines("[1.000s][4711][1]", 1) + pauseLines("[2.000s][4711][2]", 2):                                 {4711},
		pauseLines("[1.000s][4711][1]", 1) + pauseLines("[2.000s][4712][1]", 1) + pauseLines("[3.0s][4712]", 2): {4711, 4712},
		pauseLines("[1.000s][host][4711][1]", 1) + pauseLines("[2.000s][host][4712][1]", 1):                     {4711, 4712},
		pauseLines("[1.000s][2026][4711][1]", 1) + pauseLines("[2.000s][2026][4711][2]", 2):                     {4711},
		head("[0.5s][7][1]", 4711) + pauseLines("[1.000s][7][1]", 1) + head("[2.0s][7][1]", 4711):               {4711},
		head("[0.5s]", 4711) + pauseLines("[1.000s][4711][1]", 1) + pauseLines("[2.000s][4712][1]", 1):          {4711, 4712},
		head("[0.5s]", 4711) + pauseLines("[1.000s][4712][1]", 1):                                               {4712},
		pauseLines("[1.000s][4711][1]", 1) + "[1.5s][4712][1] hello\n" + pauseLines("[2.000s][4711][2]", 2):     {4711},
		pauseLines("[1.000s]", 1) + pauseLines("[2.000s][4711][1]", 2) + pauseLines("[3.000s][4712][1]", 2):     {0, 4712},
		pauseLines("[1.000s]", 1) + pauseLines("[2.000s][4712][1]", 2):                                          {0},
		head("[0.5s][4711][1]", 4711) + pauseLines("[1.000s][4711][1]", 1) + head("[2.000s][4712][1]", 4712) +
			pauseLines("[3.000s][4712][2]", 1): {4711, 4712},
	} {
		list, skipped := readBack(t, false, []byte(text))
		var got []int64
		for _, x := range list {
			got = append(got, x.process.ID)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || skipped[0].Count > int64(strings.Count(text, "hello")) {
			t.Errorf("processes %d, want %d, skipped %d, of\n%s", got, want, skipped[0].Lines, text)
		}
	}
}

func head(decorations string, pid int) string {
	return decorations + " Using Concurrent Mark Sweep\n" + decorations + fmt.Sprintf(" VM Arguments: .NET 10, process %d, GC workers unknown\n", pid)
}

// TestHostNames: what is not a date is a name.
func TestHostNames(t *testing.T) {
	for _, host := range []string{"2026-db-primary-01", "2026-11-21T00:30:37-x", "2026", "1", "12s-db", "2026-11-21", "99999999999999999999", "2026-99-99T00:30:37.567+0000", strings.Repeat("h", 253)} {
		text := strings.Replace(pauseLines("[2026-11-21T00:30:37.567+0000][1.000s][HOST][info][gc]", 1), "HOST", host, 1)
		x := one(t, false, []byte(text))
		if len(x.pauses) != 1 || x.process.Sync.Day() != 21 {
			t.Errorf("%s: %d pauses", host, len(x.pauses))
		}
		if h, ok := logs.Recognize([]byte(text)); !ok || !h.Dated {
			t.Errorf("%s is not recognized", host)
		}
	}
}

// TestManyProcesses: a log that repeatedly changes its process has no more of them than the limit.
func TestManyProcesses(t *testing.T) {
	const most, changes = 10_000, 10_100
	for name, pair := range map[string][2]string{
		"heads": {head("[0.5s]", 1) + pauseLines("[1.000s]", 1), head("[0.5s]", 2) + pauseLines("[1.000s]", 1)},
		"pids":  {pauseLines("[1.000s][1][7]", 1), pauseLines("[1.000s][2][7]", 1)},
		"dates": {pauseLines("[1.000s]", 1), pauseLines("[2026-11-21T00:30:37.567+0000]", 1)},
		"stops": {
			"[1.000s][1][7] Total time for which application threads were stopped: 0.1 seconds, Stopping threads took: 0.1 seconds, reason: Other\n",
			"[1.000s][2][7] Total time for which application threads were stopped: 0.1 seconds, Stopping threads took: 0.1 seconds, reason: Other\n",
		},
	} {
		var out sink
		count := 0
		r, _ := logs.NewReader(logs.Head{Format: "unified"}, func(*gclog.Process) formats.Observer {
			count++
			return &out
		})
		skipped, err := r.Read(bytes.NewReader([]byte(strings.Repeat(pair[0]+pair[1], changes/2))))
		r.Finish()
		if err != nil || count != most || skipped.Count < changes-most || skipped.Count > 3*(changes-most) { // header lines belong to the previous process
			t.Errorf("%s: %d processes, %d lines skipped, %v", name, count, skipped.Count, err)
		}
	}
}
