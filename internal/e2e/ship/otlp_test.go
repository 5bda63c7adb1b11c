//go:build linux

package ship

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/fakenode"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/internal/testing/reserved"
	"github.com/google/go-cmp/cmp"
)

// An otlpCollector is an OpenTelemetry Collector that receives OTLP and writes what arrives.
type otlpCollector struct {
	t        *testing.T
	exe      string
	dir      string
	endpoint string
	running  *exec.Cmd
}

func newOTLPCollector(t *testing.T) *otlpCollector {
	t.Helper()
	if os.Getenv("GCLOG_SHIP") == "" {
		t.Skip("make ship runs it")
	}
	exe, err := filepath.Abs(filepath.Join("bin", "otelcol"))
	if err == nil {
		_, err = os.Stat(exe)
	}
	if err != nil {
		t.Skip(err)
	}
	c := &otlpCollector{t: t, exe: exe, dir: t.TempDir(), endpoint: reserved.Address(t)}
	text := fmt.Sprintf(`
receivers: { otlp: { protocols: { http: { endpoint: %[1]q } } } }
exporters:
  arrived/logs: { path: %[2]s/logs }
  arrived/metrics: { path: %[2]s/metrics }
  arrived/traces: { path: %[2]s/traces }
service:
  telemetry: { metrics: { level: none } }
  pipelines:
    logs: { receivers: [otlp], exporters: [arrived/logs] }
    metrics: { receivers: [otlp], exporters: [arrived/metrics] }
    traces: { receivers: [otlp], exporters: [arrived/traces] }
`, c.endpoint, c.dir)
	if err := os.WriteFile(filepath.Join(c.dir, "config.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *otlpCollector) start() {
	c.t.Helper()
	c.running = exec.Command(c.exe, "--config", filepath.Join(c.dir, "config.yaml"))
	if err := c.running.Start(); err != nil {
		c.t.Fatal(err)
	}
	running := c.running
	c.t.Cleanup(func() { _ = running.Process.Kill() })
	program.Eventually(c.t, "the collector", func() bool {
		r, err := http.Get("http://" + c.endpoint + "/v1/logs")
		if err == nil {
			_ = r.Body.Close()
		}
		return err == nil
	})
}

func (c *otlpCollector) stop() {
	c.t.Helper()
	_ = c.running.Process.Signal(syscall.SIGTERM)
	if err := c.running.Wait(); err != nil {
		c.t.Fatal(err)
	}
}

// An arrival is a line that the collector wrote.
type arrival struct {
	Time, Start          time.Time
	Severity, Event      string
	Name                 string
	Value                float64
	Count                uint64
	Delta                bool
	Body                 any
	Attributes, Resource map[string]any
}

func (c *otlpCollector) arrived(what string) (list []arrival) {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, what))
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	for line := range bytes.Lines(b[:bytes.LastIndexByte(b, '\n')+1]) {
		var a arrival
		if err := json.Unmarshal(line, &a); err != nil {
			c.t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

// An otlpNode is a daemon that logs fake programs and sends to a collector.
type otlpNode struct {
	*fakenode.Node
	t      *testing.T
	dir    string
	daemon *exec.Cmd
	said   bytes.Buffer
}

func newOTLPNode(t *testing.T, more string, programs ...string) *otlpNode {
	t.Helper()
	n := &otlpNode{Node: fakenode.New(program.SocketDir(t), 1), t: t, dir: t.TempDir()}
	t.Cleanup(n.Close)
	for _, name := range programs {
		if _, err := n.Start(fakenode.Config{Name: name, Background: 0.3}); err != nil {
			t.Fatal(err)
		}
	}
	text := fmt.Sprintf("version: 1\ndiscovery: {interval: 100ms, include: [{command_line: %q}]}\noutputs: [{path: \"%s/%%p.json\", filecount: 0}]\ncontrol: {socket: \"\"}\nsummary: 0\n%s", n.Pattern(), n.dir, more)
	config := filepath.Join(n.dir, "gclog.yaml")
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	n.daemon = exec.Command("gclog", "daemon", "-c", config)
	n.daemon.Stderr = &n.said
	if err := n.daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.daemon.Process.Kill() })
	for _, r := range n.Runtimes() {
		program.Eventually(t, "a session", func() bool { return r.Sessions() > 0 })
	}
	return n
}

func (n *otlpNode) stop() {
	n.t.Helper()
	_ = n.daemon.Process.Signal(syscall.SIGTERM)
	began := time.Now()
	if err := n.daemon.Wait(); err != nil {
		n.t.Fatalf("gclog daemon: %v after %v\n%s", err, time.Since(began), n.said.String())
	}
}

// collect makes every program collect.
func (n *otlpNode) collect(times int) {
	for range times {
		for _, r := range n.Runtimes() {
			r.Collect()
		}
	}
}

// records returns what the logs contain, flattened, by id.
func (n *otlpNode) records() map[string]map[string]any {
	n.t.Helper()
	all := map[string]map[string]any{}
	files, _ := filepath.Glob(filepath.Join(n.dir, "*.json"))
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			n.t.Fatal(err)
		}
		for line := range bytes.Lines(b[:bytes.LastIndexByte(b, '\n')+1]) {
			var r map[string]any
			if err := json.Unmarshal(line, &r); err != nil {
				n.t.Fatal(err)
			}
			if id, ok := r["gclog_doc_id"].(string); ok && r["gclog_file_id"] == nil { // no header of a file
				all[id] = flat(map[string]any{}, "", r)
			}
		}
	}
	return all
}

// flat flattens the objects in a record.
func flat(to map[string]any, path string, v any) map[string]any {
	if m, ok := v.(map[string]any); ok {
		for name, v := range m {
			flat(to, strings.TrimPrefix(path+"."+name, "."), v)
		}
		return to
	}
	to[path] = v
	return to
}

// TestShipOTLP: a collector receives each record once, with the fields of the log, each pause as a
// span, and metrics that add up to what the logs contain, also when it is stopped for a while.
func TestShipOTLP(t *testing.T) {
	for _, x := range []struct{ name, more string }{
		{"cumulative", ""},
		{"delta", ", temporality: delta, histograms: exponential, compression: none"},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := newOTLPCollector(t)
			c.start()
			n := newOTLPNode(t, fmt.Sprintf("otlp: {metrics: true, logs: true, traces: true, interval: 1s, endpoint: \"http://%s\"%s}\n", c.endpoint, x.more), "orders", "stock")
			n.collect(50)
			program.Eventually(t, "records", func() bool { return len(c.arrived("logs")) > 100 })
			c.stop()
			n.collect(50)
			time.Sleep(1500 * time.Millisecond) // for an attempt that fails
			c.start()
			n.collect(50)
			n.Runtimes()[0].Exit(3)
			program.Eventually(t, "the end of a session", func() bool { return strings.Contains(n.said.String(), "process ended") })
			n.stop()
			want := n.records()
			checkArrived(t, c.arrived("logs"), want)
			checkSpans(t, c.arrived("traces"), want)
			checkPoints(t, c.arrived("metrics"), want)
			c.stop()
		})
	}
}

// checkArrived compares log records with the logs: each must have arrived once.
func checkArrived(t *testing.T, got []arrival, want map[string]map[string]any) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d records arrived, the logs have %d", len(got), len(want))
	}
	seen := map[string]bool{}
	for _, a := range got {
		id, _ := a.Attributes["gclog_doc_id"].(string)
		record := want[id]
		a.Attributes["@timestamp"] = a.Time.Format("2006-01-02T15:04:05.000000000Z")
		a.Attributes["log.level"], a.Attributes["message"] = a.Severity, a.Body
		if d := cmp.Diff(record, a.Attributes); d != "" {
			t.Fatal(d)
		}
		if a.Resource["service.name"] != record["service.name"] || a.Resource["service.instance.id"] != record["process.entity_id"] || a.Resource["process.runtime.name"] != ".NET" {
			t.Errorf("the resource is %v", a.Resource)
		}
		if action := fmt.Sprint(record["event.action"]); a.Event != "dotnet."+strings.NewReplacer("gc-", "gc.", "-", "_").Replace(action) {
			t.Errorf("%s has the name %s", action, a.Event)
		}
		if seen[id] {
			t.Errorf("%s has arrived twice", id)
		}
		seen[id] = true
	}
}

// checkSpans compares spans with the pauses in the logs.
func checkSpans(t *testing.T, got []arrival, records map[string]map[string]any) {
	t.Helper()
	want := map[string]int{}
	for _, r := range records {
		for _, part := range parts(r) {
			want[fmt.Sprint(r["dotnet.gc.number"], part["start"], part["ns"], part["kind"], r["service.name"])]++
		}
	}
	for _, a := range got {
		want[fmt.Sprint(a.Attributes["dotnet.gc.number"], a.Start.Format("2006-01-02T15:04:05.000000000Z"), a.Value, a.Attributes["dotnet.gc.pause.kind"], a.Resource["service.name"])]--
	}
	for key, n := range want {
		if n != 0 {
			t.Errorf("%d spans of %s are missing", n, key)
		}
	}
}

func parts(r map[string]any) (list []map[string]any) {
	all, _ := r["dotnet.gc.pause.parts"].([]any)
	for _, x := range all {
		list = append(list, x.(map[string]any))
	}
	return list
}

// checkPoints compares metrics with the logs: of cumulative ones the last points, of deltas the sums
// of all.
func checkPoints(t *testing.T, got []arrival, records map[string]map[string]any) {
	t.Helper()
	want, have := map[string]float64{}, map[string]float64{}
	for _, r := range records {
		if r["event.action"] != "gc" {
			continue
		}
		service, generation := fmt.Sprint(r["service.name"]), fmt.Sprintf("gen%v", r["dotnet.gc.generation"])
		want["dotnet.gc.collections "+service+" "+generation]++
		for _, part := range parts(r) {
			ns, _ := part["ns"].(float64)
			kind := "blocking"
			if part["kind"] != "blocking" {
				kind = "background"
			}
			resume, _ := part["resume"].(map[string]any)
			resuming, _ := resume["ns"].(float64)
			want["dotnet.gc.pause.time "+service] += (ns - resuming) / 1e9
			want["dotnet.gc.pause.duration "+service+" "+generation+" "+kind] += ns / 1e9
			want["dotnet.gc.pause.duration count "+service+" "+generation+" "+kind]++
		}
		size, _ := r["dotnet.gc.gen2.after.bytes"].(float64)
		number, _ := r["dotnet.gc.number"].(float64)
		if key := "dotnet.gc.last_collection.heap.size " + service + " gen2"; number > have["last "+service] {
			want[key], have["last "+service] = size, number
		}
	}
	var own []string
	for _, a := range got {
		service := fmt.Sprint(a.Resource["service.name"])
		if service == "gclog" {
			own = append(own, a.Name)
		}
		key := " " + service
		for _, name := range []string{"gc.heap.generation", "gc.pause.type"} {
			if v := a.Attributes[name]; v != nil {
				key += fmt.Sprint(" ", v)
			}
		}
		add := func(key string, v float64) {
			if _, wanted := want[key]; wanted && a.Delta {
				have[key] += v
			} else if wanted {
				have[key] = v
			}
		}
		add(a.Name+key, a.Value)
		add(a.Name+" count"+key, float64(a.Count))
		if a.Start.IsZero() || a.Time.Before(a.Start) {
			t.Errorf("%s is from %v to %v", a.Name, a.Start, a.Time)
		}
	}
	for key, v := range want {
		if math.Abs(have[key]-v) > 1e-9*v {
			t.Errorf("%s is %v, the logs have %v", key, have[key], v)
		}
	}
	if !slices.Contains(own, "gclog.sessions") || !slices.Contains(own, "gclog.otlp_sent") {
		t.Errorf("of gclog itself: %q", own)
	}
}

// TestShipOTLPDropped: while the collector is down, as many records wait as the queue takes; those that
// are dropped are counted, and so are those that are left at the end.
func TestShipOTLPDropped(t *testing.T) {
	c := newOTLPCollector(t)
	c.start()
	address := reserved.Address(t)
	n := newOTLPNode(t, fmt.Sprintf("otlp: {logs: true, queue: 1M, endpoint: \"http://%s\"}\nhttp: {listen: %q}\nmetrics: {enabled: true}\n", c.endpoint, address), "orders", "stock")
	number := func(name string) (v float64) {
		r, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		for line := range strings.Lines(string(b)) {
			if value, ok := strings.CutPrefix(line, name+" "); ok {
				v, _ = strconv.ParseFloat(strings.TrimSpace(value), 64)
			}
		}
		return v
	}
	n.collect(10)
	program.Eventually(t, "records", func() bool { return len(c.arrived("logs")) >= 20 })
	c.stop()
	n.collect(500)
	program.Eventually(t, "records in the logs", func() bool { return len(n.records()) >= 1020 })
	program.Eventually(t, "dropped records", func() bool { return number(`gclog_otlp_dropped_records_total{signal="logs"}`) > 100 })
	if size := number(`gclog_otlp_queue_bytes{signal="logs"}`); size > 1<<20 {
		t.Errorf("%v bytes wait", size)
	}
	c.start()
	program.Eventually(t, "an empty queue", func() bool { return number(`gclog_otlp_queue_bytes{signal="logs"}`) == 0 })
	dropped := number(`gclog_otlp_dropped_records_total{signal="logs"}`)
	program.Eventually(t, "the rest", func() bool { return len(c.arrived("logs")) == len(n.records())-int(dropped) })
	if got := distinct(c.arrived("logs")); got != len(n.records())-int(dropped) {
		t.Errorf("%d records arrived of %d, %v were dropped", got, len(n.records()), dropped)
	}
	c.stop()
	n.collect(20)
	program.Eventually(t, "records in the logs", func() bool { return number(`gclog_otlp_queue_records{signal="logs"}`) > 0 })
	n.stop()
	left := 0
	if m := regexp.MustCompile(`"records":(\d+),.*were not sent in time`).FindStringSubmatch(n.said.String()); m != nil {
		left, _ = strconv.Atoi(m[1])
	}
	if want := len(n.records()) - len(c.arrived("logs")) - int(dropped); left != want || left < 40 {
		t.Errorf("it reports %d records that were not sent, want %d\n%s", left, want, n.said.String())
	}
}

// distinct returns how many different records have arrived.
func distinct(list []arrival) int {
	ids := map[any]bool{}
	for _, a := range list {
		ids[a.Attributes["gclog_doc_id"]] = true
	}
	return len(ids)
}
