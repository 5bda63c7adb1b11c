package formats_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse/clr"
)

var textLine = regexp.MustCompile(`^(\d\d:\d\d:\d\d\.\d{3}) +(\d+|\?|-) +(?:(\d)->)?(\d|-)  ([a-z]+|\?) +(\S+) +(?:(?:gen\d(?: [\d.]+ [KMGT]?B)?|-|\?) +)?(?:(yes|no|\?) +)?(\d+\.\d{3}|\?) +((?:\d+\.\d{3}\+)*\d+\.\d{3}|\?)(?:$| )`)

// checkText checks that every pause is shown, in the order of the records, and that the columns are
// where the header says.
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
		if d.Known.Has(gclog.GroupNumber) {
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
		t.Errorf("text: not the pauses that were reported: %s", generated.Difference(strings.Join(got, "\n"), strings.Join(want, "\n")))
	}
	if shifted > 0 {
		t.Errorf("text: the columns of %d lines are not those of the head:\n\t%s\n\t%s", shifted, list[0], example)
	}
	if gaps != c.gaps {
		t.Errorf("text: %d gaps, want %d", gaps, c.gaps)
	}
}

// criteo are the columns of Criteo's GcLog.
const criteo = "StartRelativeMSec,Number,Generation,Type,Reason,IsCompacting,SuspensionDurationInMilliSeconds,PauseDurationInMilliSeconds,FinalPauseDurationInMilliSeconds," +
	"Gen0Size,Gen1Size,Gen2Size,LOHSize,ObjGen0Before,ObjGen1Before,ObjGen2Before,ObjLOHBefore,ObjGen0After,ObjGen1After,ObjGen2After,ObjLOHAfter"

// TestUnseenKind: in lines for people, a collection that started before the session is called
// neither blocking nor anything else, unless it was seen to run in the background.
func TestUnseenKind(t *testing.T) {
	for _, tt := range []struct {
		name  string
		d     gclog.GCDetails
		named bool
	}{
		{"seen", gclog.GCDetails{Number: 44, Known: gclog.GroupNumber, Generation: 1}, true},
		{"began before", gclog.GCDetails{Number: 44, Known: gclog.GroupNumber, Generation: 1, Flaws: gclog.FlawNoStart}, false},
		{"background", gclog.GCDetails{Number: 44, Known: gclog.GroupNumber, Generation: 2, Kind: gclog.KindBackground, Background: &gclog.BackgroundDetails{}, Flaws: gclog.FlawNoStart}, true},
	} {
		for _, name := range []string{"text", "json"} {
			format, err := formats.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			w := formats.NewWriter(format, formats.NewStream(&out, false), formats.Options{})
			w.Observe(&tt.d)
			line := out.String()
			if _, message, found := strings.Cut(line, `"message":"GC `); found {
				line, _, _ = strings.Cut(message, `"`)
			}
			if got := strings.Contains(line, " "+tt.d.Kind.String()); got != tt.named || line == "" {
				t.Errorf("%s, %s: %s", tt.name, name, line)
			}
		}
	}
}

// TestTextLines tests the lines that are not collections.
func TestTextLines(t *testing.T) {
	for want, write := range map[string]func(w *formats.Writer){
		"10:00:05.000  = in 5 s 3 collections (2 gen0, 1 gen2), paused for 1.500 ms, at most 1.000 ms, heap 1.0 MB": func(w *formats.Writer) {
			w.Observe(&gclog.Summary{To: 5e9, Tally: gclog.Tally{Collections: [3]uint64{2, 0, 1}, PauseTotal: 1_500_000, PauseMax: 1_000_000, SizeAfter: 1 << 20, HasSize: true}})
		},
		"10:00:01.000      -     -  suspension  unknown                                        ?         1.000": func(w *formats.Writer) {
			w.Observe(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseUnknown, Start: 1e9, Duration: 1e6}})
		},
		"10:00:01.000  process 4711 exited with code 139": func(w *formats.Writer) {
			w.Observe(&gclog.End{At: 1e9, Reason: gclog.EndExited, ExitCode: 139, HasCode: true})
		},
		"10:00:01.000  process 4711 was killed or crashed": func(w *formats.Writer) {
			w.Observe(&gclog.End{At: 1e9, Reason: gclog.EndKilled})
		},
		"10:00:01.000  process 4711 was killed by SIGTERM": func(w *formats.Writer) {
			w.Observe(&gclog.End{At: 1e9, Reason: gclog.EndKilled, Signal: 15})
		},
		"10:00:01.000  process 4711 was killed by the kernel, because memory ran out": func(w *formats.Writer) {
			w.Observe(&gclog.End{At: 1e9, Reason: gclog.EndOOMKilled, Signal: 9})
		},
		"10:00:01.000  process 4711 ended": func(w *formats.Writer) {
			w.Observe(&gclog.End{At: 1e9, Reason: gclog.EndUnseen})
		},
		"10:00:01.000  process 4711 exited": func(w *formats.Writer) {
			w.Observe(&gclog.End{At: 1e9, Reason: gclog.EndExited})
		},
		"10:00:01.000  process 4711: the stream broke": func(w *formats.Writer) {
			w.Observe(&gclog.End{At: 1e9, Reason: gclog.EndStreamError, Signal: 15})
		},
		"10:00:05.000  = in 5 s (not a whole interval) 1 collection (1 background), paused for 0.000 ms, at most 0.000 ms, 2 events are missing, 1 record is missing": func(w *formats.Writer) {
			w.Observe(&gclog.Summary{To: 5e9, Partial: true, Tally: gclog.Tally{Background: 1, LostEvents: 2, Missing: 1}})
		},
		"10:00:01.000  ! the program has been suspended for 10.3 s": func(w *formats.Writer) {
			w.Observe(&gclog.Stall{Open: gclog.Open{Kind: gclog.OpenSuspension, Since: -9_250_000_000}, Now: 1e9})
		},
		"10:00:01.000  ! a collection has been going on for 1.0 s": func(w *formats.Writer) {
			w.Observe(&gclog.Stall{Open: gclog.Open{Kind: gclog.OpenGC, Number: 17, Generation: 2, Type: clr.TypeBackground}, Now: 1e9})
		},
		"10:00:01.000  ! a collection has been going on for 1.0 s: #17 gen2 background": func(w *formats.Writer) {
			w.Observe(&gclog.Stall{Open: gclog.Open{Kind: gclog.OpenGC, Number: 17, HasNumber: true, Generation: 2, Type: clr.TypeBackground}, Now: 1e9})
		},
		"10:00:01.000  ! a collection has been going on for 1.0 s: #18 gen12": func(w *formats.Writer) { // from a damaged stream
			w.Observe(&gclog.Stall{Open: gclog.Open{Kind: gclog.OpenGC, Number: 18, HasNumber: true, Generation: 12, Type: clr.TypeBlocking}, Now: 1e9})
		},
	} {
		_, records := written(t, "text", formats.Options{Process: someone()}, write)
		if got := strings.Join(records, "|"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, reason := range []gclog.EndReason{gclog.EndDetached, gclog.EndOfRecording, gclog.EndOfLog} {
		_, records := written(t, "text", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Observe(&gclog.End{Reason: reason}) })
		if len(records) > 0 {
			t.Errorf("%s: %q, want no line: the process goes on", reason, records)
		}
	}
}

// TestGapSentences tests what is missing, why, and of which collections.
func TestGapSentences(t *testing.T) {
	const stopped = "the session was ended before everything could be read or written"
	const dropped = ": the runtime dropped them because its buffer was full, or the stream is damaged"
	for _, c := range []struct {
		gap  gclog.Gap
		want string
	}{
		{gclog.Gap{Reason: gclog.GapLostEvents, LostEvents: 12, From: 3, To: 4}, "12 events are missing" + dropped},
		{gclog.Gap{Reason: gclog.GapLostEvents, LostEvents: 0}, "0 events are missing" + dropped},
		{gclog.Gap{Reason: gclog.GapLostEvents, LostEvents: 1}, "1 event is missing: the runtime dropped it because its buffer was full, or the stream is damaged"},
		{gclog.Gap{Reason: gclog.GapQueueFull, Records: 1, From: 27, To: 27}, "the outputs were too slow: 1 record is missing, of collection 27"},
		{gclog.Gap{Reason: gclog.GapQueueFull, Records: 3}, "the outputs were too slow: 3 records are missing"},
		{gclog.Gap{Reason: gclog.GapUnwritten, Records: 12, From: 17, To: 28}, "the output could not be written: 12 records are missing, of collections from 17 to 28"},
		{gclog.Gap{Reason: gclog.GapInternal, Records: 1}, "gclog failed because of a defect: 1 record is missing"},
		{gclog.Gap{Reason: gclog.GapStopped, From: 1, To: 2}, stopped},
		{gclog.Gap{Reason: gclog.GapStopped, Records: 1, From: 2, To: 2}, stopped + ": 1 record is missing, of collection 2"},
		{gclog.Gap{Reason: gclog.GapReattached, From: 1, To: 2}, "a new session began"},
		{gclog.Gap{Reason: gclog.GapMissedGCs}, "the numbers of the collections go back"},
		{gclog.Gap{Reason: gclog.GapMissedGCs, From: 11, To: 11}, "collection 11 is missing"},
		{gclog.Gap{Reason: gclog.GapMissedGCs, From: 11, To: 13}, "collections 11 to 13 are missing"},
	} {
		c.gap.Time = 1e9
		_, records := written(t, "text", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Observe(&c.gap) })
		if got, want := strings.Join(records, "|"), "10:00:01.000  ! "+c.want; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestTextRows tests a collection's row, and how it shows unknown values.
func TestTextRows(t *testing.T) {
	ms := int64(time.Millisecond)
	part := func(kind gclog.PauseKind, suspend int64) gclog.PausePart {
		return gclog.PausePart{Kind: kind, Start: 1e9, Duration: ms, Suspend: suspend, HasSuspend: true}
	}
	background := func() *gclog.GCDetails {
		d := blocking(9)
		d.Generation, d.Kind, d.Start, d.End = 2, gclog.KindBackground, 1e9, 1e9+25*ms
		d.Known |= gclog.GroupEnd
		d.Pauses = []gclog.PausePart{part(gclog.PauseInitial, 1000), part(gclog.PauseFinal, 2000)}
		return d
	}
	for _, c := range []struct {
		name string
		d    *gclog.GCDetails
		want string
	}{
		{
			"nothing is known", &gclog.GCDetails{Start: 1e9, Flaws: gclog.FlawNoStart | gclog.FlawNoEnd},
			"10:00:01.000 ? 0 ? ? ? ? ? ? ? -> ? ? ? incomplete: no-start no-end",
		},
		{"a usual one", blocking(7), "10:00:01.000 7 1 blocking AllocSmall ? ? 0.012 11.041 118.0 MB -> 18.0 MB 13.2 MB 108.1 KB"},
		{
			"the sizes before", func() *gclog.GCDetails { d := blocking(7); d.Known &^= gclog.GroupAfter; return d }(),
			"10:00:01.000 7 1 blocking AllocSmall ? ? 0.012 11.041 118.0 MB -> ? 13.2 MB 108.1 KB",
		},
		{"compacting", func() *gclog.GCDetails {
			d := blocking(7)
			d.Global.Mechanisms = clr.MechanismCompaction
			d.Known |= gclog.GroupCompaction
			return d
		}(), "10:00:01.000 7 1 blocking AllocSmall ? yes 0.012 11.041 118.0 MB -> 18.0 MB 13.2 MB 108.1 KB"},
		{"another generation", func() *gclog.GCDetails {
			d := blocking(7)
			d.Global.HasCondemned, d.Global.CondemnedGenerations = true, clr.CondemnedGenerations(0)
			return d
		}(), "10:00:01.000 7 0->1 blocking AllocSmall - ? 0.012 11.041 118.0 MB -> 18.0 MB 13.2 MB 108.1 KB"},
		{"a background collection", background(), "10:00:01.000 9 2 background AllocSmall ? no 0.003 1.000+1.000 118.0 MB -> 18.0 MB 13.2 MB 108.1 KB took 25.000 ms"},
		{"many pauses, and an unknown part", func() *gclog.GCDetails {
			d := background()
			d.Known &^= gclog.GroupEnd
			d.Pauses = append(d.Pauses, gclog.PausePart{Kind: gclog.PauseFinal, Start: 1e9, Duration: ms}, part(gclog.PauseFinal, 0))
			return d
		}(), "10:00:01.000 9 2 background AllocSmall ? no ? 1.000+1.000+1.000+... 118.0 MB -> 18.0 MB 13.2 MB 108.1 KB"},
		{"three pauses", func() *gclog.GCDetails {
			d := background()
			d.Flaws = gclog.FlawNoStart
			d.Pauses = append(d.Pauses, part(gclog.PauseFinal, 0))
			return d
		}(), "10:00:01.000 9 2 background AllocSmall ? no 0.003 1.000+1.000+1.000 118.0 MB -> 18.0 MB 13.2 MB 108.1 KB incomplete: no-start"},
		{"all notes", func() *gclog.GCDetails {
			d := blocking(7)
			d.DemotedBGC, d.InsideBGCStart, d.Provisional, d.HeapDump, d.BeforeEstimated = true, true, true, true, true
			return d
		}(), "10:00:01.000 7 1 blocking AllocSmall ? ? 0.012 11.041 118.0 MB -> 18.0 MB 13.2 MB 108.1 KB (started as background)" +
			" (in the first pause of a background collection) (provisional mode) (heap snapshot) (size before is a guess)"},
		{"a heap snapshot of gclog", func() *gclog.GCDetails {
			d := blocking(7)
			d.HeapDump, d.HeapDumpBy = true, gclog.RequesterGclog
			return d
		}(), "10:00:01.000 7 1 blocking AllocSmall ? ? 0.012 11.041 118.0 MB -> 18.0 MB 13.2 MB 108.1 KB (heap snapshot by gclog)"},
	} {
		_, records := written(t, "text", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Observe(c.d) })
		if got := strings.Join(strings.Fields(strings.Join(records, "|")), " "); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
	narrow := formats.Options{Process: someone(), Screen: func() (int, int) { return 60, 0 }}
	for kind, want := range map[gclog.Kind]string{gclog.KindBlocking: "1", gclog.KindBackground: "1B", gclog.KindForeground: "1F"} {
		d := blocking(7)
		d.Kind = kind
		_, records := written(t, "text", narrow, func(w *formats.Writer) { w.Observe(d) })
		if got := strings.Fields(records[0])[1]; got != want {
			t.Errorf("%s without a column for it: the generation is %q, want %q", kind, got, want)
		}
	}
}

// TestTextColumns tests which columns fit, in which order they are dropped, and that a row stays
// aligned below the titles.
func TestTextColumns(t *testing.T) {
	all := "time gc gen kind reason exceeded compact suspend ms pause ms before -> after promoted free"
	for _, c := range []struct {
		width  int
		titles string
	}{
		{0, all},
		{150, all},
		{140, strings.Replace(all, " exceeded", "", 1)},
		{120, strings.TrimSuffix(strings.Replace(all, " exceeded", "", 1), " free")},
		{100, "time gc gen kind reason pause ms before -> after promoted"},
		{80, "time gen reason pause ms before -> after promoted"},
		{60, "time gen reason pause ms after"},
		{46, "time gen reason pause ms"},
		{32, "time gen pause ms"},
		{10, "time gen pause ms"},
	} {
		o := formats.Options{Process: someone(), Screen: func() (int, int) { return c.width, 0 }}
		head, records := written(t, "text", o, func(w *formats.Writer) { w.Observe(blocking(1)) })
		if c.width == 10 { // the header is wrapped as well
			head = strings.Join(strings.Fields(head), " ")
		}
		if got := strings.Join(strings.Fields(head), " "); got != c.titles {
			t.Errorf("width %d: columns %q, want %q", c.width, got, c.titles)
		}
		if c.width >= 30 && len(records[0]) > len(head) {
			t.Errorf("width %d: a row that is wider than its head:\n%s\n%s", c.width, head, records[0])
		}
		for _, title := range []string{"gen", "compact", "suspend ms", "pause ms", "before", "after", "promoted", "free"} {
			end := strings.Index(head, title) + len(title)
			if !strings.Contains(head, title) || c.width < 30 {
				continue
			}
			if records[0][end-1] == ' ' || end < len(records[0]) && records[0][end] != ' ' {
				t.Errorf("width %d: no number ends below %q:\n%s\n%s", c.width, title, head, records[0])
			}
		}
	}
}

// TestTextColumnsOrder: the narrower a terminal, the fewer columns it shows, and it is always the
// least important ones that are left out.
func TestTextColumnsOrder(t *testing.T) {
	titles := strings.Fields("time gc gen kind reason exceeded compact suspend pause before -> after promoted free")
	leftOut := strings.Fields("exceeded free compact suspend kind gc promoted -> before after reason")
	for width, n := 150, 0; width > 25; width-- {
		o := formats.Options{Process: someone(), Screen: func() (int, int) { return width, 0 }}
		head, _ := written(t, "text", o, func(w *formats.Writer) { w.Observe(blocking(1)) })
		got := slices.DeleteFunc(strings.Fields(head), func(s string) bool { return s == "ms" })
		for ; n < len(leftOut) && len(got) < len(titles); n++ {
			titles = slices.DeleteFunc(titles, func(s string) bool { return s == leftOut[n] })
		}
		if !slices.Equal(got, titles) {
			t.Fatalf("width %d: columns %q, want %q", width, got, titles)
		}
		if width == 26 && n < len(leftOut) {
			t.Errorf("columns %q are never left out", leftOut[n:])
		}
	}
}

// TestTextNotes: the notes of a collection follow in its row if they fit, otherwise on a row of
// their own.
func TestTextNotes(t *testing.T) {
	d := blocking(7)
	d.Provisional = true
	_, records := written(t, "text", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Observe(d) })
	row, note, _ := strings.Cut(records[0], "  (")
	for width, want := range map[int]string{
		len(records[0]):     records[0],
		len(records[0]) + 1: records[0],
		len(records[0]) - 1: row + "\n              (" + note,
	} {
		o := formats.Options{Process: someone(), Screen: func() (int, int) { return width, 0 }}
		_, records := written(t, "text", o, func(w *formats.Writer) { w.Observe(d) })
		if got := strings.Join(records, "\n"); got != want {
			t.Errorf("width %d:\n%s\nwant\n%s", width, got, want)
		}
	}
}

// TestTextColumnsDocumented: each column appears at the width stated in docs/formats.md.
func TestTextColumnsDocumented(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "docs", "formats.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(b)), " ") // lines may be wrapped anywhere
	_, text, _ = strings.Cut(text, "with the minimum width for each: ")
	text, _, _ = strings.Cut(text, ". ")
	named := regexp.MustCompile("`([^`]+)` \\((\\d+)\\)").FindAllStringSubmatch(text, -1)
	if len(named) != 11 {
		t.Errorf("%d columns have a width in docs/formats.md, want 11", len(named))
	}
	for _, m := range named {
		at, _ := strconv.Atoi(m[2])
		for width, want := range map[int]bool{at: true, at - 1: false} {
			head, _ := written(t, "text", formats.Options{Process: someone(), Screen: func() (int, int) { return width, 0 }}, func(w *formats.Writer) { w.Observe(blocking(1)) })
			if strings.Contains(head, m[1]) != want {
				t.Errorf("width %d: column %s: %v, want %v", width, m[1], !want, want)
			}
		}
	}
}

// blocking returns an ordinary collection.
func blocking(number uint32) *gclog.GCDetails {
	d := &gclog.GCDetails{
		Number: number, Known: gclog.GroupNumber | gclog.GroupReason | gclog.GroupBefore | gclog.GroupAfter | gclog.GroupPromoted | gclog.GroupFragmentation, Generation: 1, PromotedBytes: 13_200_000, Fragmentation: 108_100, Complete: true,
		Pauses: []gclog.PausePart{{Start: 1e9, Duration: 11_041_000, Suspend: 12_000, HasSuspend: true}},
	}
	d.Generations[gclog.Gen2] = gclog.GenerationDetails{Before: 118_000_000, After: 18_000_000}
	return d
}

// TestTextFits: on a terminal of any width no line is wider, each pause is shown, and nothing but
// columns is left out.
func TestTextFits(t *testing.T) {
	extent.Long(t)
	for _, tr := range recordings.Repository(t) {
		r, _ := readReplay(recordings.Read(t, tr.Path)) // some are truncated: what comes before that is sufficient
		_, full := written(t, "text", formats.Options{Process: r.process}, func(w *formats.Writer) { r.replayTo(w.Observe) })
		for width := 35; width <= 160; width += 5 {
			o := formats.Options{Process: r.process, Screen: func() (int, int) { return width, 0 }}
			head, records := written(t, "text", o, func(w *formats.Writer) { r.replayTo(w.Observe) })
			for _, line := range append(records, head) {
				if len(line) > width {
					t.Fatalf("%s: a line of %d characters on a terminal of %d:\n%s", tr.Name, len(line), width, line)
				}
			}
			folded := strings.Join(strings.Fields(strings.Join(records, " ")), " ")
			for _, line := range full {
				rest := folded
				for _, word := range wordsThatStay(line) {
					at := strings.Index(rest, word)
					if at < 0 {
						t.Fatalf("%s, width %d: %q of this line is not there:\n%s", tr.Name, width, word, line)
					}
					rest = rest[at:]
				}
			}
		}
	}
}

// wordsThatStay returns what a line of the full table must show at any width: time, pause and notes
// of a collection, and everything in other lines.
func wordsThatStay(line string) []string {
	m := textLine.FindStringSubmatch(line)
	if m == nil {
		return strings.Fields(line)
	}
	stay := []string{m[1], m[9]}
	for _, note := range []string{"took ", "incomplete:", "("} {
		if at := strings.Index(line, "  "+note); at >= 0 {
			return append(stay, strings.Fields(line[at:])...)
		}
	}
	return stay
}

// TestTextResized: a terminal that becomes narrower has other columns from the next line on, below
// a new header; and there is a header on each screen.
func TestTextResized(t *testing.T) {
	width, height := 100, 0
	o := formats.Options{Process: someone(), Screen: func() (int, int) { return width, height }}
	_, records := written(t, "text", o, func(w *formats.Writer) {
		w.Observe(blocking(1))
		w.Observe(blocking(2))
		width = 50
		w.Observe(blocking(3))
		w.Observe(blocking(4))
		height = 6
		w.Observe(blocking(5))
		w.Observe(blocking(6))
	})
	var heads []int
	for i, line := range records {
		if strings.HasPrefix(line, "time ") {
			heads = append(heads, i)
		}
		if want := 100 - 50*min(1, i/2); len(line) > want {
			t.Errorf("line %d is wider than %d: %s", i, want, line)
		}
	}
	if want := []int{2, 6}; !slices.Equal(heads, want) {
		t.Errorf("heads before the lines %d, want %d:\n%s", heads, want, strings.Join(records, "\n"))
	}
}

// TestTextScreens: on a terminal there is a head on each screen, also where lines take several rows.
func TestTextScreens(t *testing.T) {
	const width, height = 60, 9
	o := formats.Options{Process: someone(), Screen: func() (int, int) { return width, height }}
	_, records := written(t, "text", o, func(w *formats.Writer) {
		for i := range 40 {
			w.Observe(blocking(uint32(i)))
			w.Observe(&gclog.Gap{Reason: gclog.GapLostEvents, LostEvents: uint64(i + 2), Time: 1e9})
		}
	})
	since, heads := 0, 0
	for line := range strings.SplitSeq(strings.Join(records, "\n"), "\n") {
		if since++; strings.HasPrefix(line, "time ") {
			since, heads = 0, heads+1
		}
		if since >= height+3 { // a gap may take three rows, and is not divided
			t.Fatalf("%d rows without a head:\n%s", since, strings.Join(records, "\n"))
		}
	}
	if heads < 10 {
		t.Errorf("%d heads", heads)
	}
}

// TestTextColors: a line has the colour of its longest pause, and nothing else affects it.
func TestTextColors(t *testing.T) {
	for _, c := range []struct {
		pauses []int64
		begin  string
	}{
		{nil, ""}, {[]int64{49_999_999}, ""}, {[]int64{30e6, 30e6}, ""}, {[]int64{1, 50e6}, "\x1b[33m"}, {[]int64{199_999_999}, "\x1b[33m"}, {[]int64{200e6, 1}, "\x1b[31m"},
	} {
		for generation := range 3 {
			_, records := written(t, "text", formats.Options{Process: someone(), Color: true}, func(w *formats.Writer) {
				d := blocking(1)
				d.Generation, d.Pauses = generation, nil
				for _, ns := range c.pauses {
					d.Pauses = append(d.Pauses, gclog.PausePart{Duration: ns})
				}
				w.Observe(d)
			})
			begin, end := c.begin+"10:00:0", ""
			if c.begin != "" {
				end = "\x1b[0m"
			}
			if !strings.HasPrefix(records[0], begin) || !strings.HasSuffix(records[0], " KB"+end) {
				t.Errorf("pauses of %d ns: %q, want it to begin with %q", c.pauses, records[0], c.begin)
			}
		}
	}
}
