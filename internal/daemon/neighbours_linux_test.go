package daemon

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
	"github.com/rs/zerolog"
)

// What one process does must not affect the logs of others.

// A tenant is a process that the daemon under test logs: a real one that does nothing, with a
// runtime in this process.
type tenant struct {
	name   string
	stream []byte                  // that it sends, without an end
	conn   func(net.Conn) net.Conn // wraps the daemon's connection to it, so that it panics; nil: not wrapped
}

// A house holds the processes of tenants, which are reused.
type house struct{ children []*host.Process }

func newHouse(tb testing.TB, n int) *house {
	tb.Helper()
	h := &house{}
	for range n {
		cmd := exec.Command("sleep", "3600")
		if err := cmd.Start(); err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		p, err := new(host.Host).Describe(cmd.Process.Pid)
		if err != nil {
			tb.Fatal(err)
		}
		h.children = append(h.children, p)
	}
	return h
}

// oversee has a daemon log the tenants until everything they send has arrived, and returns what it
// wrote about each, and how many defects of gclog occurred.
func (h *house) oversee(tb testing.TB, tenants ...tenant) (logs map[string]string, defects int) {
	tb.Helper()
	dir := tb.TempDir()
	file := filepath.Join(dir, "gclog.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, `version: 1
discovery: {interval: 1h, include: [{process: sleep, pid: "0"}, {command_line: tenant-of-the-test}]}
outputs: [{path: "%[1]s/%%p.json"}, {path: "%[1]s/%%p.log"}, {path: "%[1]s/%%p.csv"}, {path: "%[1]s/all.ndjson"}]
http: {listen: ""}
summary: 0s
`, dir), 0o600); err != nil {
		tb.Fatal(err)
	}
	loaded, err := config.Load(file, nil)
	if err != nil {
		tb.Fatal(err)
	}
	d := New(Options{
		Config: loaded, Log: zerolog.Nop(), Version: "1", Session: "s", Host: "h",
		Explain: func(_ context.Context, _ *host.Target, err error) error { return err },
	})
	d.ending.shutdown = unhurried
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	var sent sync.WaitGroup
	trapped := false
	for i := range tenants {
		seen := func() {}
		if trapped = tenants[i].conn != nil; !trapped {
			sent.Add(1)
			seen = sync.OnceFunc(sent.Done)
		}
		target := h.move(tb, dir, i, &tenants[i], seen)
		d.post(func() { d.found(target, nil) })
	}
	sent.Wait()
	for trapped && defects == 0 {
		time.Sleep(time.Millisecond)
		d.ask(ctx, func() { defects = d.defects })
	}
	stop()
	if err := <-ended; err != nil {
		tb.Fatal(err)
	}
	logs = map[string]string{}
	for i := range tenants {
		for _, ext := range []string{"json", "log", "csv"} {
			name := fmt.Sprintf("%d.%s", h.children[i].PID, ext)
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				tb.Fatal(err)
			}
			logs[tenants[i].name+"."+ext] = timeless(tb, ext, b)
		}
	}
	return logs, d.defects
}

// move gives a tenant its process, and returns that as the daemon finds it. sent is called when the
// tenant has sent everything.
func (h *house) move(tb testing.TB, dir string, i int, x *tenant, sent func()) *host.Target {
	tb.Helper()
	l, err := net.Listen("unix", filepath.Join(dir, fmt.Sprint(i)))
	if err != nil {
		tb.Fatal(err)
	}
	p := *h.children[i]
	p.Name, p.CommandLine, p.Environ = "tenant", []string{"tenant-of-the-test"}, map[string]string{}
	r, err := fakeruntime.Start(fakeruntime.Config{
		Listener: l, PID: p.PID, Name: x.name, Version: "8.0.0",
		Trace: func(s *fakeruntime.Session) string {
			_, _ = s.Conn.Write(x.stream)
			sent()
			select {
			case <-s.Stopped:
			case <-s.Over:
			}
			_, _ = s.Conn.Write([]byte{1})
			return "ended"
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = r.Close() })
	return &host.Target{Process: p, Client: session.Client{Dial: func(ctx context.Context) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", l.Addr().String())
		if err == nil && x.conn != nil {
			conn = x.conn(conn)
		}
		return conn, err
	}}}
}

// fromKernel are the columns of a csv log with what the kernel said about the process and the host, kernelFacts is the
// field of a text log with that.
var (
	fromKernel  = []string{"Resident", "CgroupMemory", "CgroupLimit", "MemoryReadRelativeMSec"}
	kernelFacts = regexp.MustCompile(` memory=[^,\n]*`)
)

// end matches the line of a text log that reports when its session has ended.
var end = regexp.MustCompile(`(?m)^.* Session: end=.*\n`)

// timeless returns a log without what depends on when it was written.
func timeless(tb testing.TB, ext string, b []byte) string {
	tb.Helper()
	switch ext {
	case "csv":
		return withoutColumns(tb, b, fromKernel)
	case "log":
		return kernelFacts.ReplaceAllString(end.ReplaceAllString(string(b), ""), "")
	}
	var out strings.Builder
	for line := range bytes.Lines(b) {
		var r map[string]any
		if err := json.Unmarshal(line, &r); err != nil {
			tb.Fatalf("%v: %s", err, line)
		}
		withoutKernelFacts(r)
		delete(r, "gclog_file_id")
		delete(r, "gclog_doc_id")
		if e, ok := r["event"].(map[string]any); ok && e["action"] == "gc-session-end" {
			r = map[string]any{"event": e["reason"]}
		}
		if r["gclog"] != nil && r["event"] == nil {
			continue // the header of a file
		}
		line, err := json.Marshal(r)
		if err != nil {
			tb.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	return out.String()
}

// withoutColumns empties columns of a csv log.
func withoutColumns(tb testing.TB, b []byte, names []string) string {
	tb.Helper()
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		tb.Fatalf("%v: %q", err, b)
	}
	if len(rows) == 0 {
		return ""
	}
	for _, name := range names {
		column := slices.Index(rows[0], name)
		if column < 0 {
			tb.Fatalf("there is no column %s", name)
		}
		for _, row := range rows[1:] {
			row[column] = ""
		}
	}
	var out strings.Builder
	for _, row := range rows {
		out.WriteString(strings.Join(row, ",") + "\n")
	}
	return out.String()
}

// withoutKernelFacts removes what the kernel said about the process and the host from a record.
func withoutKernelFacts(r map[string]any) {
	for name, v := range r {
		switch below, ok := v.(map[string]any); {
		case slices.Contains([]string{"memory", "memory_read", "cgroup", "cpu", "threads"}, name):
			delete(r, name)
		case ok:
			withoutKernelFacts(below)
		}
	}
}

// ordinary returns two tenants that behave as runtimes do.
func ordinary(tb testing.TB) []tenant {
	var list []tenant
	for _, name := range []string{"net10-datas-bgc", "net10-wks-oom"} {
		b := recordings.Read(tb, filepath.Join(recordings.Root(), "testdata", "traces", name+".nettrace.gz"))
		list = append(list, tenant{name: name, stream: b[:len(b)-1]})
	}
	return list
}

// undisturbed returns what is written about the ordinary tenants when they are alone.
func (h *house) undisturbed(tb testing.TB, quiet []tenant) map[string]string {
	tb.Helper()
	want, _ := h.oversee(tb, quiet...)
	for name, log := range want {
		if len(log) < 1000 {
			tb.Fatalf("%s: %q", name, log)
		}
	}
	return want
}

// compare compares the logs of the ordinary tenants with those of a run without the hostile one.
func compare(tb testing.TB, got, want map[string]string) {
	tb.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		is, was := got[name], want[name]
		if is == was {
			continue
		}
		at := 0
		for at < min(len(is), len(was)) && is[at] == was[at] {
			at++
		}
		part := func(s string) string { return s[max(0, at-200):min(len(s), at+200)] }
		tb.Errorf("%s differs at byte %d: it has\n%s\nand without the hostile process\n%s", name, at, part(is), part(was))
	}
}

type panickingConn struct {
	net.Conn
	reads int
}

func (c *panickingConn) Read(p []byte) (int, error) {
	if c.reads--; c.reads < 0 {
		panic("a trap")
	}
	return c.Conn.Read(p[:min(len(p), 1000)])
}

// TestPanicNeighbours: a panic about one process, wherever it happens, ends the daemon's work on
// that process and does not affect the logs of others.
func TestPanicNeighbours(t *testing.T) {
	h, quiet := newHouse(t, 3), ordinary(t)
	want := h.undisturbed(t, quiet)
	for name, conn := range map[string]func(net.Conn) net.Conn{
		"dialing":     func(net.Conn) net.Conn { panic("a trap") },
		"asking":      func(c net.Conn) net.Conn { return &panickingConn{c, 1} },
		"the begin":   func(c net.Conn) net.Conn { return &panickingConn{c, 2} },
		"the stream":  func(c net.Conn) net.Conn { return &panickingConn{c, 4} },
		"later there": func(c net.Conn) net.Conn { return &panickingConn{c, 9} },
	} {
		t.Run(name, func(t *testing.T) {
			hostile := quiet[0]
			hostile.name, hostile.conn = "hostile", conn
			got, _ := h.overseeAlso(t, quiet, hostile)
			compare(t, got, want)
		})
	}
}

// overseeAlso is oversee with a hostile tenant, which may send nothing at all.
func (h *house) overseeAlso(tb testing.TB, quiet []tenant, hostile tenant) (map[string]string, int) {
	tb.Helper()
	return h.oversee(tb, append(slices.Clone(quiet), hostile)...)
}

// FuzzNeighbours: whatever a process sends, no defect of gclog occurs, and what is written about
// others is the same as without it.
func FuzzNeighbours(f *testing.F) {
	h, quiet := newHouse(f, 3), ordinary(f)
	var want map[string]string
	f.Add([]byte("\x00\x14\x00\x01\x00........................"))
	f.Add([]byte("\x02\x00\x00\x00\x01\x00"))
	for step := range []uint32{1, 1_000_000_007, 1 << 31, 1<<32 - 5} {
		var b []byte
		number := uint32(0)
		for range 40 {
			number += uint32(step)
			for kind := range byte(6) {
				b = append(b, kind, 0, 100, 0)
				b = binary.LittleEndian.AppendUint32(b, number)
				b = append(b, 0, 0)
			}
		}
		f.Add(append([]byte{1}, b...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if want == nil {
			want = h.undisturbed(t, quiet)
		}
		got, defects := h.overseeAlso(t, quiet, tenant{name: "hostile", stream: hostileStream(data)})
		compare(t, got, want)
		if defects > 0 {
			t.Errorf("%d defects have shown", defects)
		}
	})
}

// hostileStream returns a stream of chosen bytes: a block of them, or events that they determine.
// It never breaks off in the middle: such streams are for the fuzzer of package parse, and the
// daemon waits after them, because the process may have been killed.
func hostileStream(data []byte) []byte {
	var w nettracetest.V4
	clock := nettracetest.DefaultClock()
	w.Begin(clock)
	if len(data) == 0 || data[0]&1 == 0 {
		w.Block([]string{"EventBlock", "MetadataBlock", "StackBlock", "SPBlock"}[len(data)%4], data[min(1, len(data)):])
		return w.Bytes
	}
	data = data[1:]
	ids := []uint32{
		clr.IDGCSuspendEEBegin, clr.IDGCSuspendEEEnd, clr.IDGCStart, clr.IDGCEnd, clr.IDGCRestartEEBegin, clr.IDGCRestartEEEnd,
		clr.IDGCHeapStats, clr.IDGCGlobalHeapHistory, clr.IDGCPerHeapHistory, clr.IDGCTriggered,
	}
	versions := []uint32{1, 1, 2, 1, 1, 1, 2, 4, 3, 0}
	for i, id := range ids {
		w.Metadata(nettracetest.Kind{ID: id, Provider: clr.RuntimeProvider, EventID: id, Version: versions[i], Level: 4, Keywords: 1})
	}
	w.Open()
	ticks := clock.Ticks
	const size = 10 // of the bytes that determine an event
	for ; len(data) >= size && len(w.Bytes) < 1<<20; data = data[size:] {
		kind, thread, number := data[0], data[1], binary.LittleEndian.Uint32(data[4:])
		ticks += int64(binary.LittleEndian.Uint16(data[2:])) << (data[8] % 32)
		if data[9]&0x80 != 0 {
			w.Lose(uint64(thread%4), number)
		}
		id := ids[int(kind)%len(ids)]
		w.Add(nettracetest.Row{Kind: id, Thread: uint64(thread % 4), Ticks: ticks, Sorted: data[9]&0x40 == 0, Payload: hostilePayload(id, number, data[8], data[9])})
		if data[9]&0x20 != 0 {
			w.Close()
			w.Open()
		}
	}
	w.Close()
	return w.Bytes
}

// hostilePayload returns the payload of an event with a chosen number and two chosen bytes.
func hostilePayload(id, number uint32, a, b byte) []byte {
	var p []byte
	le32 := func(vs ...uint32) {
		for _, v := range vs {
			p = binary.LittleEndian.AppendUint32(p, v)
		}
	}
	switch id {
	case clr.IDGCSuspendEEBegin:
		le32(uint32(a%8), number)
	case clr.IDGCStart:
		le32(number, uint32(b%6), uint32(a), uint32(b>>3&3), 0, 0, 0)
	case clr.IDGCEnd:
		le32(number, uint32(b%6))
	default:
		for range 20 + int(a)*2 {
			le32(number, uint32(a), uint32(b))
		}
	}
	return append(p, 0, 0)
}
