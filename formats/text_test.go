package formats_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

var textLine = regexp.MustCompile(`^(\d\d:\d\d:\d\d\.\d{3}) +(\d+|\?|-) +(?:(\d)->)?(\d|-)  ([a-z]+) +(\S+) +(?:(yes|no|\?) +)?(\d+\.\d{3}|\?) +((?:\d+\.\d{3}\+)*\d+\.\d{3}|\?)(?:$| )`)

// checkText: every pause is shown, in the order of the records, and the columns
// are where the head says.
func checkText(t *testing.T, c *converted) {
	t.Helper()
	var want, got []string
	for i, p := range c.pauses {
		if p.GC == nil {
			want = append(want, fmt.Sprintf("- %s %.3f", p.Kind, float64((c.pauses[i].Duration+500)/1000)/1000))
		}
	}
	for _, d := range c.gcs {
		var parts []string
		for _, p := range d.Pauses {
			parts = append(parts, fmt.Sprintf("%.3f", float64((p.Duration+500)/1000)/1000))
		}
		if len(parts) == 0 {
			parts = []string{"?"}
		}
		name := "?"
		if d.HasNumber {
			name = strconv.FormatUint(uint64(d.Number), 10)
		}
		want = append(want, fmt.Sprintf("%s gen%d %s", name, d.Generation, strings.Join(parts, "+")))
	}
	list := lines(c.outputs["text"].text())
	gaps, shifted, example := 0, 0, ""
	for i, line := range list {
		m := textLine.FindStringSubmatch(line)
		switch {
		case i == 0:
			if !strings.HasPrefix(line, "time ") {
				t.Errorf("text: no head: %s", line)
			}
		case len(line) > 16 && strings.HasPrefix(line[12:], "  ! "):
			gaps++
		case m == nil:
			t.Errorf("text line %d: no known line\n\t%s", i+1, line)
		case m[2] == "-":
			got = append(got, fmt.Sprintf("- %s %s", m[6], m[9]))
		default:
			got = append(got, fmt.Sprintf("%s gen%s %s", m[2], m[4], m[9]))
			if strings.LastIndex(line, " ->") != strings.LastIndex(list[0], " ->") {
				shifted, example = shifted+1, line
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("text: not the pauses that were told: %s", difference(strings.Join(got, "\n"), strings.Join(want, "\n")))
	}
	if shifted > 0 {
		t.Errorf("text: the columns of %d lines are not those of the head:\n\t%s\n\t%s", shifted, list[0], example)
	}
	if gaps != c.gaps {
		t.Errorf("text: %d gaps, told were %d", gaps, c.gaps)
	}
}

// criteo are the columns that Criteo's GcLog has.
const criteo = "StartRelativeMSec,Number,Generation,Type,Reason,IsCompacting,SuspensionDurationInMilliSeconds,PauseDurationInMilliSeconds,FinalPauseDurationInMilliSeconds," +
	"Gen0Size,Gen1Size,Gen2Size,LOHSize,ObjGen0Before,ObjGen1Before,ObjGen2Before,ObjLOHBefore,ObjGen0After,ObjGen1After,ObjGen2After,ObjLOHAfter"

// TestTextLines: what has a line beside collections.
func TestTextLines(t *testing.T) {
	for want, write := range map[string]func(w *formats.Writer){
		"10:00:05.000  = in 5 s 3 collections (2 gen0, 1 gen2), paused for 1.500 ms, at most 1.000 ms, heap 1.0 MB": func(w *formats.Writer) {
			w.Summary(&formats.Summary{To: 5e9, Tally: gclog.Tally{Collections: [3]uint64{2, 0, 1}, PauseTotal: 1_500_000, PauseMax: 1_000_000, SizeAfter: 1 << 20, HasSize: true}})
		},
		"10:00:01.000      -    -  suspension  unknown                               ?          1.000": func(w *formats.Writer) {
			w.Pause(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseUnknown, Start: 1e9, Duration: 1e6, Suspend: gclog.Untold}})
		},
		"10:00:01.000  process 4711 exited with code 3": func(w *formats.Writer) {
			w.End(&formats.End{At: 1e9, Reason: formats.EndExited, ExitCode: 3, HasCode: true})
		},
		"10:00:01.000  process 4711 was killed": func(w *formats.Writer) {
			w.End(&formats.End{At: 1e9, Reason: formats.EndKilled})
		},
		"10:00:01.000  process 4711 was killed by signal 15": func(w *formats.Writer) {
			w.End(&formats.End{At: 1e9, Reason: formats.EndKilled, Signal: 15})
		},
		"10:00:01.000  process 4711 was killed by the kernel, because there was no memory left": func(w *formats.Writer) {
			w.End(&formats.End{At: 1e9, Reason: formats.EndOOMKilled, Signal: 9})
		},
		"10:00:01.000  process 4711 ended": func(w *formats.Writer) {
			w.End(&formats.End{At: 1e9, Reason: formats.EndUnseen})
		},
		"10:00:01.000  ! the outputs were too slow: 1 record is missing, of collection 7": func(w *formats.Writer) {
			w.Gap(&gclog.Gap{Reason: gclog.GapQueueFull, Time: 1e9, Records: 1, From: 7, To: 7})
		},
	} {
		_, records := written(t, "text", formats.Options{Process: someone()}, write)
		if got := strings.Join(records, "|"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
