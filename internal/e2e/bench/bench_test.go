//go:build linux

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/parse"
	"golang.org/x/sys/unix"
)

// denseFiller gives recordings with 1.2 KB per collection, like real ones at level normal.
const denseFiller = 45

// runOn calls run with a recording on standard input.
func runOn(t testing.TB, cmd *exec.Cmd, recording io.WriterTo) (memory int64) {
	t.Helper()
	r, w := io.Pipe()
	cmd.Stdin = r
	go func() {
		_, err := recording.WriteTo(w)
		_ = w.CloseWithError(err)
	}()
	return run(t, cmd)
}

// run runs a command and returns its peak memory. It is read while the command runs: the figure
// that the system reports after its end includes this process, of which the command was a copy
// before its exec.
func run(t testing.TB, cmd *exec.Cmd) (memory int64) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	status := fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("%v: %s", err, out.String())
			}
			return memory
		case <-time.After(2 * time.Millisecond):
			b, _ := os.ReadFile(status)
			for line := range strings.Lines(string(b)) {
				var kb int64
				if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kb); n == 1 {
					memory = max(memory, kb<<10)
				}
			}
		}
	}
}

// BenchmarkConvert converts a gigabyte, and compares that with only reading it and walking its
// headers.
func BenchmarkConvert(b *testing.B) {
	gclog := program.Build(b)
	for _, v := range []nettracetest.Verbose{{Filler: 5000}, {Filler: 5000, Pins: 20000}, {Pins: 20000}} {
		b.Run(fmt.Sprintf("filler=%d/pins=%d", v.Filler, v.Pins), func(b *testing.B) {
			path := recordTo(b, v)
			var walked time.Duration
			rss := int64(0)
			for b.Loop() {
				cmd := exec.Command(gclog, "convert", path, "--format", "unified", "-o", "/dev/null")
				rss = max(rss, run(b, cmd))
				b.StopTimer()
				walked += walk(b, path)
				b.StartTimer()
			}
			b.ReportMetric(b.Elapsed().Seconds()/walked.Seconds(), "x-walking")
			b.ReportMetric(float64(rss)/(1<<20), "MB-memory")
		})
	}
}

// BenchmarkSummary summarizes a gigabyte: at level full, and with one collection directly after the
// other.
func BenchmarkSummary(b *testing.B) {
	gclog := program.Build(b)
	for _, v := range []nettracetest.Verbose{{Filler: 5000}, {Filler: denseFiller}} {
		b.Run(fmt.Sprintf("filler=%d", v.Filler), func(b *testing.B) {
			path := recordTo(b, v)
			rss := int64(0)
			for b.Loop() {
				rss = max(rss, run(b, exec.Command(gclog, "summary", path)))
			}
			b.ReportMetric(float64(rss)/(1<<20), "MB-memory")
		})
	}
}

// recordTo writes a recording of a gigabyte, or a small one with -short, for benchmarks that read
// it repeatedly.
func recordTo(b *testing.B, v nettracetest.Verbose) (path string) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "verbose.nettrace")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	v.Size = 1 << 30
	if testing.Short() {
		v.Size = 64 << 20
	}
	n, err := v.WriteTo(f)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(n)
	return path
}

func walk(b *testing.B, path string) time.Duration {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	begin := time.Now()
	r := parse.NewReader(f, parse.None)
	for r.Scan() {
	}
	if r.Err() != nil {
		b.Fatal(r.Err())
	}
	return time.Since(begin)
}

// BenchmarkAttach measures how long after its start gclog attach sends its first request, and how
// much memory it uses in five seconds under load.
func BenchmarkAttach(b *testing.B) {
	gclog := program.Build(b)
	r, err := gcload.FromRepository()
	if err != nil {
		b.Skip(err)
	}
	p, err := r.Start("", "small", nil, "churn", "--rate", "150", "--quiet")
	if err != nil {
		b.Fatal(err)
	}
	defer p.Kill()
	stream, err := fakeruntime.DemoStream()
	if err != nil {
		b.Fatal(err)
	}
	// A fake runtime in this process records when the request arrives.
	fake, err := fakeruntime.Start(fakeruntime.Config{Dir: os.TempDir(), Stream: stream, Version: fakeruntime.DemoVersion})
	if err != nil {
		b.Fatal(err)
	}
	defer fake.Close()
	var first []float64
	memory := int64(0)
	for b.Loop() {
		first = append(first, firstRequest(b, gclog, fake))
		memory = max(memory, run(b, exec.Command(gclog, "attach", strconv.Itoa(p.PID), "--for", "5s", "-o", "/dev/null")))
	}
	slices.Sort(first)
	b.ReportMetric(first[len(first)/2], "ms-to-request")
	b.ReportMetric(float64(memory)/(1<<20), "MB-memory")
}

func firstRequest(b *testing.B, gclog string, fake *fakeruntime.Runtime) float64 {
	before := fake.Requests()
	cmd := exec.Command(gclog, "attach", strconv.Itoa(os.Getpid()), "--count", "1", "-o", "/dev/null")
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	for fake.Requests() == before {
		time.Sleep(50 * time.Microsecond)
	}
	ms := time.Since(begin).Seconds() * 1000
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return ms
}

// BenchmarkLatency measures how long after its end a collection is in the file, for a process that
// collects often, and for one that sends nothing more after each collection.
func BenchmarkLatency(b *testing.B) {
	gclog := program.Build(b)
	r, err := gcload.FromRepository()
	if err != nil {
		b.Skip(err)
	}
	for _, mode := range []string{"busy", "silent"} {
		b.Run(mode, func(b *testing.B) {
			var all []float64
			for b.Loop() {
				all = append(all, latencies(b, gclog, r, mode == "silent")...)
			}
			slices.Sort(all)
			b.ReportMetric(all[len(all)/2], "ms-p50")
			b.ReportMetric(all[len(all)*99/100], "ms-p99")
			b.ReportMetric(float64(len(all)), "GCs")
		})
	}
}

func latencies(b *testing.B, gclog string, r *gcload.Runtime, silent bool) (ms []float64) {
	dir := b.TempDir()
	args := []string{"churn", "--rate", "60", "--quiet"}
	if silent {
		args = []string{"idle", "--quiet"}
	}
	p, err := r.Start("", "small", nil, args...)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Kill()
	log, recording := filepath.Join(dir, "gc.json"), filepath.Join(dir, "gc.nettrace")
	cmd := exec.Command(gclog, "attach", strconv.Itoa(p.PID), "-o", log, "--record", recording)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	var f *os.File
	for f == nil {
		if f, err = os.Open(log); err != nil {
			time.Sleep(time.Millisecond)
		}
	}
	defer f.Close()
	var trace *parse.Trace
	tail := &tailer{f: f}
	for began := time.Now(); len(ms) < 60 && time.Since(began) < 20*time.Second; {
		line, ok := tail.next()
		if !ok {
			time.Sleep(500 * time.Microsecond)
			continue
		}
		now := monotonic(b)
		if bytes.Contains(line, []byte(`"action":"gc-session-start"`)) && silent {
			go induce(p)
		}
		if !bytes.Contains(line, []byte(`"action":"gc"`)) {
			continue
		}
		if trace == nil {
			rec, err := os.Open(recording)
			if err != nil {
				b.Fatal(err)
			}
			if trace, err = parse.NewReader(rec, parse.None).ReadTrace(); err != nil {
				b.Fatal(err)
			}
			_ = rec.Close()
		}
		var d struct{ Event struct{ End time.Time } }
		if err := json.Unmarshal(line, &d); err != nil {
			b.Fatal(err)
		}
		end := trace.SyncTicks + d.Event.End.Sub(trace.SyncTime).Nanoseconds()
		ms = append(ms, float64(now-end)/1e6)
	}
	return ms
}

// induce induces a collection every 250 ms, with silence in between.
func induce(p *gcload.Process) {
	for range 60 {
		if _, err := p.Send("gc 0 forced true true"); err != nil {
			return
		}
		time.Sleep(250 * time.Millisecond)
	}
}

func monotonic(b *testing.B) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		b.Fatal(err)
	}
	return ts.Nano()
}

// A tailer reads the lines of a growing file.
type tailer struct {
	f   *os.File
	buf []byte
}

func (t *tailer) next() ([]byte, bool) {
	if i := bytes.IndexByte(t.buf, '\n'); i >= 0 {
		line := t.buf[:i]
		t.buf = t.buf[i+1:]
		return line, true
	}
	chunk := make([]byte, 64<<10)
	n, _ := t.f.Read(chunk)
	t.buf = append(t.buf, chunk[:n]...)
	return nil, false
}
