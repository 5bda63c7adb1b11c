//go:build linux

package live

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// TestLiveFlight has the flight recorder record a collection of each runtime while another session
// records everything: its file has every event of the time around the collection.
func TestLiveFlight(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	for _, c := range cells(t, "wks", "svr") {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			liveFlight(t, c.Runtime, c.flavour)
		})
	}
}

func liveFlight(t *testing.T, r *gcload.Runtime, flavour string) {
	const before, after = 2 * time.Second, 5 * time.Second
	dir := t.TempDir()
	knobs, args := program.Load(r, flavour)
	p, err := r.Start(program.SocketDir(t), flavour, knobs, append(args, "--rate", "60", "--wait")...)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	start := func(stderr *bytes.Buffer, args ...string) *exec.Cmd {
		cmd := exec.Command("gclog", append([]string{"record", strconv.Itoa(p.PID), "--level", "full"}, args...)...)
		cmd.Stderr = stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		return cmd
	}
	everything, part := filepath.Join(dir, "all.nettrace"), filepath.Join(dir, "part.nettrace")
	var ignored, messages bytes.Buffer
	all := start(&ignored, "-o", everything)
	program.WaitForFile(t, everything, "Nettrace")
	flight := start(&messages, "--on", "number >= 10", "--last", before.String(), "-o", part)
	if _, err := p.Send("start"); err != nil {
		t.Fatal(err)
	}
	if err := flight.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &messages)
	}
	if _, err := p.Send("stop"); err != nil {
		t.Fatal(err)
	}
	if err := all.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := all.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &ignored)
	}

	m := regexp.MustCompile(`gen. collection (\d+): number`).FindStringSubmatch(messages.String())
	if m == nil {
		t.Fatalf("it says %q", &messages)
	}
	want, got := readLive(t, everything), readLive(t, part)
	number, _ := strconv.Atoi(m[1])
	d, same := want.gcs[uint32(number)], got.gcs[uint32(number)]
	// On a starved host the recording may begin while it is in progress.
	if d == nil || same == nil || d.Flaws != 0 || same.Flaws != 0 && same.Index > 0 {
		t.Fatalf("collection %d is %+v in one file and %+v in the other", number, d, same)
	}
	// The times of an event in two sessions differ by some microseconds, or more if its thread lost its
	// processor between the two.
	const margin = int64(100 * time.Millisecond)
	from, to := d.StartTicks-int64(before)+margin, d.StartTicks+d.End-d.Start+int64(after)-margin
	if strings.Contains(messages.String(), "late") { // the session began so late
		from = got.trace.SyncTicks + margin
	}
	events := 0
	for thread, all := range want.threads {
		inTime := all.between(from, to)
		if file := got.threads[thread].text(); !strings.Contains(file, inTime.text()) || !strings.Contains(all.text(), file) {
			t.Errorf("of thread %d the file has %d events, and %d of %d are of its time", thread, len(got.threads[thread]), len(inTime), len(all))
		}
		events += len(inTime)
	}
	if d.Generation != same.Generation || d.Kind != same.Kind || d.SizeAfter() != same.SizeAfter() || events < 100 {
		t.Errorf("collection %d is %+v in one file and %+v in the other; %d events", number, d, same, events)
	}
	t.Logf("%d events; %d KB of %d KB", events, got.size>>10, want.size>>10)
}

// A liveRecording is what a recording contains.
type liveRecording struct {
	size    int
	trace   *parse.Trace
	threads map[uint64]liveEvents // in their order
	gcs     map[uint32]*gclog.GCDetails
}

type liveEvents []liveEvent

type liveEvent struct {
	ticks int64
	text  string
}

// text returns the events without their times.
func (l liveEvents) text() string {
	var b strings.Builder
	for _, e := range l {
		b.WriteString(e.text)
	}
	return b.String()
}

// between returns the events of a time.
func (l liveEvents) between(from, to int64) (list liveEvents) {
	for _, e := range l {
		if e.ticks >= from && e.ticks <= to {
			list = append(list, e)
		}
	}
	return list
}

func readLive(t *testing.T, path string) *liveRecording {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l := &liveRecording{size: len(b), threads: map[uint64]liveEvents{}, gcs: map[uint32]*gclog.GCDetails{}}
	r := parse.NewReader(bytes.NewReader(b), parse.All)
	for r.Scan() {
		e := r.Event()
		if e == nil {
			t.Fatalf("%s has lost events: %+v", path, r.Loss())
		}
		// The sessions of others, and gclog's own events, are not the program's.
		if e.Meta.Provider != clr.EventPipeProvider && e.Meta.Provider != clr.RecordingProvider {
			l.threads[e.Thread] = append(l.threads[e.Thread], liveEvent{e.Ticks, fmt.Sprintf("%s %d: %x\n", e.Meta.Provider, e.Meta.EventID, e.Payload)})
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	l.trace = r.Trace()
	ps := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return l.Observe })
	if err := ps.Drain(parse.NewReader(bytes.NewReader(b), gclog.Wanted)); err != nil {
		t.Fatal(err)
	}
	return l
}

// Observe takes a record.
func (l *liveRecording) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		c := &gclog.GCDetails{}
		c.CopyFrom(d)
		l.gcs[d.Number] = c
	}
}
