package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/history"
	"github.com/urfave/cli/v2"
)

// A tape records what was passed to an observer.
type tape struct {
	sessions []string // "begin-end" in milliseconds
	started  []int64
	gcs      []uint32
	pauses   int
	gaps     []gclog.GapReason
	early    int // passed while there was no session
	open     bool
}

// Observe takes a record.
func (t *tape) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Start:
		t.open = true
		t.started = append(t.started, r.At)
	case *gclog.End:
		t.open = false
		t.sessions = append(t.sessions, fmt.Sprintf("%d-%d", t.started[len(t.started)-1]/1e6, r.At/1e6))
	case *gclog.Pause:
		t.pauses++
		t.outside()
	case *gclog.Phase:
		t.outside()
	case *gclog.Gap:
		t.gaps = append(t.gaps, r.Reason)
	case *gclog.GCDetails:
		t.outside()
		t.gcs = append(t.gcs, r.Number)
	}
}

func (t *tape) outside() {
	if !t.open {
		t.early++
	}
}

// runHistory runs history with arguments.
func runHistory(t *testing.T, args ...string) (h *history.History, seen *tape, said string, err error) {
	t.Helper()
	var stderr bytes.Buffer
	p := &commands{&program.Run{In: strings.NewReader(""), Unfiltered: io.Discard, Out: program.NewPrinter(io.Discard), UI: program.NewUI(&stderr)}}
	app := &cli.App{
		Writer: io.Discard, ErrWriter: io.Discard, ExitErrHandler: func(*cli.Context, error) {},
		Commands: []*cli.Command{{Name: "tell", Flags: watch.HistoryFlags(), Action: func(c *cli.Context) error {
			h, err = watch.History(p.Run, c, func(*gclog.Process, analysis.Window) (gclog.Observer, gclog.EventObserver) {
				seen = &tape{}
				return seen.Observe, nil
			})
			return nil
		}}},
	}
	if e := app.RunContext(context.Background(), append([]string{"gclog", "tell"}, args...)); e != nil {
		t.Fatal(e)
	}
	return h, seen, stderr.String(), err
}

func trace(name string) string {
	return filepath.Join("..", "..", "testdata", "traces", name+".nettrace.gz")
}

// convertTo converts a recording to a log.
func convertTo(t *testing.T, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if code := Main(append([]string{"gclog", "convert", "-o", path}, args...), nil, io.Discard, io.Discard); code != 0 {
		t.Fatalf("convert %v: exit code %d", args, code)
	}
	return path
}

// TestHistoryOfLogs: a recording and the logs converted from it report the same collections, each
// during a session.
func TestHistoryOfLogs(t *testing.T) {
	recording := trace("net8-datas-induced")
	_, want, _, err := runHistory(t, recording)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.sessions) != 1 || want.started[0] != 0 || len(want.gcs) == 0 || want.early > 0 {
		t.Fatalf("the recording: sessions %v, %d collections, %d outside of sessions", want.sessions, len(want.gcs), want.early)
	}
	for _, name := range []string{"a.json", "a.csv", "a.log"} {
		h, got, said, err := runHistory(t, convertTo(t, name, recording))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(got.gcs) != len(want.gcs) || got.pauses < len(got.gcs) || got.early > 0 || len(got.sessions) != 1 {
			t.Errorf("%s: %d collections, %d pauses, %d outside of sessions %v; the recording has %d", name, len(got.gcs), got.pauses, got.early, got.sessions, len(want.gcs))
		}
		if h.Begin > h.End || h.Process.Sync.IsZero() {
			t.Errorf("%s: from %d to %d after %v", name, h.Begin, h.End, h.Process.Sync)
		}
		if said != "" {
			t.Errorf("%s: it says %q", name, said)
		}
	}
}

func TestHistoryWindow(t *testing.T) {
	recording := trace("net9-wks-attach")
	all, _, _, err := runHistory(t, recording)
	if err != nil {
		t.Fatal(err)
	}
	if all.Window != analysis.Always() {
		t.Errorf("without --since and --until: %+v", all.Window)
	}
	log := convertTo(t, "a.json", recording)
	for _, file := range []string{recording, log} {
		h, _, _, err := runHistory(t, "--since", "-1s", "--until", "-500ms", file)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		from := h.Process.Time(h.Window.From).Sub(h.Process.Time(h.End))
		length := h.Window.To - h.Window.From
		if math.Abs(from.Seconds()+1) > 1e-9 || length != 500e6 {
			t.Errorf("%s: the last second but the last half of it is %v, %d ns", file, from, length)
		}
	}
	for _, bad := range []struct{ args, want string }{
		{"--since 1h", "is after the end of the recorded time: that is from "},
		{"--until 2000-01-01T00:00:00Z", "is before the start of the recorded time: that is from "},
		{"--since 2s --until 1s", " is not before --until 1s ("},
		{"--since yesterday", "\"yesterday\" is not a time"},
		{"--for 5s", "--for is for a running process"},
	} {
		h, _, _, err := runHistory(t, append(strings.Fields(bad.args), recording)...)
		if err == nil || h != nil || !strings.Contains(err.Error(), bad.want) || exit.Code(err) != exit.Usage {
			t.Errorf("%s: %v", bad.args, err)
		}
	}
}

// TestHistoryDamaged: what precedes the damage is reported, and the error too.
func TestHistoryDamaged(t *testing.T) {
	whole, err := os.ReadFile(trace("net9-wks-attach"))
	if err != nil {
		t.Fatal(err)
	}
	for size, seen := range map[int]bool{len(whole) / 2: true, 20: false} {
		cut := filepath.Join(t.TempDir(), "cut")
		if err := os.WriteFile(cut, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		h, got, _, err := runHistory(t, cut)
		if err == nil || exit.Code(err) != exit.Data {
			t.Errorf("%d bytes: %v", size, err)
		}
		if (h != nil) != seen {
			t.Errorf("%d bytes: told %v", size, h != nil)
		}
		if seen && (len(got.gcs) == 0 || len(got.sessions) != 1) {
			t.Errorf("%d bytes: %d collections, sessions %v", size, len(got.gcs), got.sessions)
		}
	}
}

func TestHistoryChoice(t *testing.T) {
	both := trace("v6-merge-kvversion")
	log := convertTo(t, "both.json", both)
	for _, file := range []string{both, log} {
		_, _, _, err := runHistory(t, file)
		if err == nil || exit.Code(err) != exit.Usage || !strings.Contains(err.Error(), "contains 2 processes with a .NET runtime: choose one with --pid or --name:\n  27125") || !strings.Contains(err.Error(), "\n  29261") {
			t.Errorf("%s: %v", file, err)
		}
		_, _, _, err = runHistory(t, "--pid", "1", file)
		if err == nil || exit.Code(err) != exit.NoProcess || !strings.Contains(err.Error(), "it contains no process 1, only 27125, 29261") {
			t.Errorf("%s: %v", file, err)
		}
		h, got, _, err := runHistory(t, "--pid", "29261", file)
		if err != nil || h.Process.ID != 29261 || len(got.gcs) == 0 {
			t.Errorf("%s: %+v, %v", file, h, err)
		}
	}
}

// TestHistoryLives: of several instances of a process, which has the same pid each time in a
// container, the last one is read, or the last one before --until.
func TestHistoryLives(t *testing.T) {
	dir := t.TempDir()
	life := func(name, number string) (path string, seen *tape) {
		log := convertTo(t, "a.json", trace(name))
		_, seen, _, err := runHistory(t, log)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		b = bytes.ReplaceAll(b, []byte(`"pid":`+number+`}`), []byte(`"pid":1,"entity_id":"`+name+`"}`))
		path = filepath.Join(dir, name+".json")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path, seen
	}
	first, one := life("net10-datas-bgc", "29336")   // at 00:30
	second, other := life("net9-wks-attach", "4581") // at 00:39
	if len(one.gcs) == len(other.gcs) {
		t.Fatal("they cannot be told apart")
	}
	h, got, said, err := runHistory(t, first, second)
	if err != nil || len(got.gcs) != len(other.gcs) || h.Process.ID != 1 {
		t.Errorf("%d collections, want %d, of %+v: %v", len(got.gcs), len(other.gcs), h, err)
	}
	if !strings.Contains(said, "process 1 was restarted at 2026-11-21T00:39:22.") {
		t.Errorf("it does not say that there is another life before: %q", said)
	}
	_, got, said, err = runHistory(t, "--until", "2026-11-21T00:35:00Z", first, second)
	if err != nil || len(got.gcs) != len(one.gcs) || strings.Contains(said, "anew") {
		t.Errorf("the first one: %d collections, want %d: %v, %q", len(got.gcs), len(one.gcs), err, said)
	}
}
