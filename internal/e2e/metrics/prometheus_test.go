//go:build linux

package metrics

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/metrics"
	"github.com/gclog/gclog/internal/testing/fakenode"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/internal/testing/reserved"
)

// The tests of metrics: a real Prometheus scrapes the daemon while real and fake runtimes run, and
// what it has stored is compared with the logs. "make metrics-test" runs them.

// A metricsNode is a daemon that logs and serves metrics.
type metricsNode struct {
	t       *testing.T
	dir     string
	address string
	daemon  *exec.Cmd
	said    bytes.Buffer
}

// TestPrometheus: what Prometheus has stored equals what the logs contain, in both formats, also
// when a program and gclog itself are restarted.
func TestPrometheus(t *testing.T) {
	for name, native := range scrapeFormats {
		t.Run(name, func(t *testing.T) {
			scraped(t, native)
		})
	}
}

// scrapeFormats are the formats that a Prometheus asks for. true: with native histograms.
var scrapeFormats = map[string]bool{"text": false, "protobuf": true}

// prometheusProgram returns the Prometheus to test with.
func prometheusProgram(t *testing.T) string {
	t.Helper()
	name := os.Getenv("GCLOG_PROMETHEUS")
	if name == "" {
		t.Skip("make metrics-test runs it")
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("there is no prometheus: Debian has a package of this name")
	}
	return path
}

// TestPrometheusSamples: promtool accepts the sample, and what gclog prints under all names.
func TestPrometheusSamples(t *testing.T) {
	exe, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("there is no promtool: Debian's package prometheus has it")
	}
	if out, err := exec.Command(exe, "check", "config", filepath.Join("samples", "prometheus", "prometheus.yml")).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, names := range metrics.Names {
		text, err := exec.Command("gclog", "metrics", filepath.Join("samples", "gc.json"), "--names", names).Output()
		if err != nil {
			t.Fatal(err)
		}
		check := exec.Command(exe, "check", "metrics")
		check.Stdin = bytes.NewReader(text)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s\n%s", names, err, out, text)
		}
	}
}

func scraped(t *testing.T, native bool) {
	exe := prometheusProgram(t)
	n := &metricsNode{t: t, dir: t.TempDir(), address: reserved.Address(t)}
	sockets := program.SocketDir(t)
	node := fakenode.New(sockets, 1)
	t.Cleanup(node.Close)
	fake := func(name string, background float64) *fakenode.Runtime {
		r, err := node.Start(fakenode.Config{Name: name, Rate: 20, Background: background})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	fake("orders", 0.2)
	fake("orders", 0)
	restarted := fake("stock", 0.2)
	include := fmt.Sprintf("{command_line: %q}", node.Pattern())
	var load1 *gcload.Process
	if r, err := gcload.FromRepository(); err != nil {
		t.Logf("without a real runtime: %v", err)
	} else {
		knobs, args := program.Load(r, "workstation")
		cmd := exec.Command(r.Program("workstation"), append(args, "--rate", "100")...)
		cmd.Env = append(r.Environment(os.Environ(), "workstation", knobs...), "TMPDIR="+sockets, "OTEL_SERVICE_NAME=real")
		if load1, err = gcload.StartCommand(cmd); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(load1.Kill)
		include += fmt.Sprintf(", {pid: %d}", cmd.Process.Pid)
	}
	n.configure(include)
	n.start()
	p := startPrometheus(t, exe, n.dir, n.address, native)
	program.Eventually(t, "collections of every service", func() bool {
		return n.total("orders").gcs() > 60 && n.total("stock").gcs() > 20 && (load1 == nil || n.total("real").gcs() > 10)
	})
	// A program exits, and is started again: its last values are scraped after its exit.
	restarted.Exit(0)
	fake("stock", 0.2)
	before := n.total("stock").gcs()
	program.Eventually(t, "more of stock", func() bool { return n.total("stock").gcs() > before+20 })
	// Everything pauses, so that nothing happens between the last scrape and the end of gclog.
	if load1 != nil {
		if err := load1.Exit(0); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range node.Runtimes() {
		r.SetRate(0)
	}
	p.agrees(n, native)
	n.stop()
	p.restarted = float64(time.Now().UnixMilli()) / 1e3
	n.start()
	for _, r := range node.Runtimes() {
		r.SetRate(20)
	}
	before = n.total("orders").gcs()
	program.Eventually(t, "more after gclog was restarted", func() bool { return n.total("orders").gcs() > before+60 })
	for _, r := range node.Runtimes() {
		r.Exit(0)
	}
	p.agrees(n, native)
	p.hasSelf()
	n.stop()
}

func (n *metricsNode) configure(include string) {
	text := fmt.Sprintf(`version: 1
discovery: {interval: 100ms, include: [%s]}
outputs: [{path: "%s/%%s-%%p-%%t.json", filecount: 0}]
control: {socket: ""}
http: {listen: %q}
metrics: {enabled: true}
summary: 0
`, include, n.dir, n.address)
	if err := os.WriteFile(filepath.Join(n.dir, "gclog.yaml"), []byte(text), 0o644); err != nil {
		n.t.Fatal(err)
	}
}

func (n *metricsNode) start() {
	n.daemon = exec.Command("gclog", "daemon", "-c", filepath.Join(n.dir, "gclog.yaml"))
	n.daemon.Stderr = &n.said
	if err := n.daemon.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		_ = n.daemon.Process.Kill()
	})
}

func (n *metricsNode) stop() {
	_ = n.daemon.Process.Signal(syscall.SIGTERM)
	if err := n.daemon.Wait(); err != nil || n.t.Failed() {
		n.t.Errorf("gclog daemon: %v\n%s", err, n.said.String())
	}
}

// totals is what the logs of a service, or Prometheus, have of it.
type totals struct {
	collections [3]float64 // by generation
	pauses      map[string]float64
	paused      map[string]float64 // by generation and type of pause, in seconds
	resumed     float64            // of that, while the threads were being resumed
	incomplete  float64
}

func (s totals) gcs() float64 { return s.collections[0] + s.collections[1] + s.collections[2] }

// total sums up the logs of a service.
func (n *metricsNode) total(service string) totals {
	n.t.Helper()
	s := totals{pauses: map[string]float64{}, paused: map[string]float64{}}
	files, _ := filepath.Glob(filepath.Join(n.dir, service+"-*.json"))
	for _, name := range files {
		b, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) { // a session that could not begin: gclog leaves no empty file
			continue
		}
		if err != nil {
			n.t.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			var r struct {
				Event  struct{ Action string }
				Dotnet struct {
					GC struct {
						Generation int
						Complete   bool
						Pause      struct {
							Parts []struct {
								Kind   string
								NS     float64
								Resume struct{ NS float64 }
							}
						}
					}
				}
			}
			if json.Unmarshal(line, &r) != nil || r.Event.Action != "gc" { // the last line may be incomplete
				continue
			}
			gc := &r.Dotnet.GC
			s.collections[gc.Generation]++
			if !gc.Complete {
				s.incomplete++
			}
			for _, part := range gc.Pause.Parts {
				kind := "blocking"
				if part.Kind != "blocking" {
					kind = "background"
				}
				key := fmt.Sprintf("gen%d %s", gc.Generation, kind)
				s.pauses[key]++
				s.paused[key] += part.NS / 1e9
				s.resumed += part.Resume.NS / 1e9
			}
		}
	}
	return s
}

// A prometheus is a running server.
type prometheus struct {
	t         *testing.T
	address   string
	restarted float64 // when gclog was restarted, in Unix time; 0: it was not
	receives  bool    // metrics by OTLP
}

// otlpFlag is the flag of a Prometheus that receives OTLP.
const otlpFlag = "web.enable-otlp-receiver"

// startPrometheus starts one that scrapes the target twice a second, with rules. Without a target it
// receives OTLP, with the settings of docs/otlp.md.
func startPrometheus(t *testing.T, exe, dir, target string, native bool, rules ...string) *prometheus {
	t.Helper()
	p := &prometheus{t: t, address: reserved.Address(t), receives: target == ""}
	config := filepath.Join(dir, "prometheus.yml")
	flags := []string{"--config.file=" + config, "--storage.tsdb.path=" + filepath.Join(dir, "tsdb"), "--web.listen-address=" + p.address}
	global := "scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 1s"
	if native {
		// Version 2 has the flag, later ones the setting.
		if version, err := exec.Command(exe, "--version").CombinedOutput(); err != nil {
			t.Fatal(err)
		} else if strings.Contains(string(version), "version 2.") {
			flags = append(flags, "--enable-feature=native-histograms")
		} else {
			global += ", scrape_native_histograms: true"
		}
	}
	for i, r := range rules {
		path, err := filepath.Abs(r)
		if err != nil {
			t.Fatal(err)
		}
		rules[i] = strconv.Quote(path)
	}
	text := fmt.Sprintf("global: {%s}\nrule_files: [%s]\n", global, strings.Join(rules, ", "))
	if p.receives {
		flags = append(flags, "--"+otlpFlag)
		_, settings, there := strings.Cut(readText(t, filepath.Join("docs", "otlp.md")), "```yaml\n# prometheus.yml\n")
		if !there {
			t.Fatal("docs/otlp.md has no settings of Prometheus")
		}
		settings, _, _ = strings.Cut(settings, "```")
		text += settings
	} else {
		text += fmt.Sprintf("scrape_configs: [{job_name: gclog, static_configs: [{targets: [%q]}]}]\n", target)
	}
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, flags...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	return p
}

// A series is the samples of one: several, or the one of an instant query.
type series struct {
	Metric             map[string]string
	Values, Histograms [][2]any
	Value, Histogram   [2]any
}

// raw returns the samples of all series that a selector selects.
func (p *prometheus) raw(selector string) []series {
	p.t.Helper()
	var data struct{ Result []series }
	p.get("query", url.Values{"query": {selector + "[1h]"}}, &data)
	return data.Result
}

// get decodes the answer of Prometheus's API; it leaves into alone before Prometheus has started.
func (p *prometheus) get(path string, parameters url.Values, into any) {
	p.t.Helper()
	r, err := http.Get("http://" + p.address + "/api/v1/" + path + "?" + parameters.Encode())
	if err != nil {
		return
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	var answer struct {
		Status          string
		Data            json.RawMessage
		Warnings, Infos []string
	}
	if err := json.Unmarshal(b, &answer); err != nil || answer.Status != "success" || answer.Warnings != nil || answer.Infos != nil {
		if r.StatusCode == http.StatusServiceUnavailable {
			return
		}
		p.t.Fatalf("%s %v: %v %s", path, parameters, err, b)
	}
	if err := json.Unmarshal(answer.Data, into); err != nil {
		p.t.Fatalf("%s %v: %v %s", path, parameters, err, answer.Data)
	}
}

// grown returns how much a counter has grown in all of its series: a value below the one before is
// that of a new start, and so is the first one after gclog was restarted. A field is that of native
// histograms; "" is the value.
func (p *prometheus) grown(name, labels, field string) (sum float64) {
	for _, s := range p.raw(fmt.Sprintf("%s{%s}", name, labels)) {
		samples := s.Values
		if field != "" {
			samples = s.Histograms
		}
		last, before := 0.0, 0.0
		for _, sample := range samples {
			at, _ := sample[0].(float64)
			value := sample[1]
			if h, ok := value.(map[string]any); ok {
				value = h[field]
			}
			v, err := strconv.ParseFloat(fmt.Sprint(value), 64)
			if err != nil {
				p.t.Fatalf("%s: %v", name, sample)
			}
			if v < last || before < p.restarted && at >= p.restarted {
				last = 0
			}
			sum += v - last
			last, before = v, at
		}
	}
	return sum
}

// agrees waits until what is stored equals what the logs contain.
func (p *prometheus) agrees(n *metricsNode, native bool) {
	p.t.Helper()
	var wrong []string
	check := func(what string, got, want float64) {
		if got != want && math.Abs(got-want) > 1e-9*want {
			wrong = append(wrong, fmt.Sprintf("%s is %v, the logs have %v", what, got, want))
		}
	}
	services := []string{"orders", "stock"}
	if files, _ := filepath.Glob(filepath.Join(n.dir, "real-*.json")); files != nil {
		services = append(services, "real")
	}
	for began := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		wrong = nil
		for _, service := range services {
			want := n.total(service)
			label := fmt.Sprintf("service_name=%q", service)
			for g, x := range want.collections {
				check(fmt.Sprintf("gen%d of %s", g, service), p.grown("dotnet_gc_collections_total", fmt.Sprintf("%s,gc_heap_generation=\"gen%d\"", label, g), ""), x)
			}
			check("incomplete of "+service, p.grown("gclog_gcs_incomplete_total", label, ""), want.incomplete)
			total := 0.0
			for key, count := range want.pauses {
				g, kind, _ := strings.Cut(key, " ")
				label := fmt.Sprintf("%s,gc_heap_generation=%q,gc_pause_type=%q", label, g, kind)
				total += want.paused[key]
				if native {
					check("native count, "+key, p.grown("dotnet_gc_pause_duration_seconds", label, "count"), count)
					check("native sum, "+key, p.grown("dotnet_gc_pause_duration_seconds", label, "sum"), want.paused[key])
					continue
				}
				check("count, "+key, p.grown("dotnet_gc_pause_duration_seconds_count", label, ""), count)
				check("sum, "+key, p.grown("dotnet_gc_pause_duration_seconds_sum", label, ""), want.paused[key])
				check("bucket, "+key, p.grown("dotnet_gc_pause_duration_seconds_bucket", label+",le=\"+Inf\"", ""), count)
			}
			check("paused of "+service, p.grown("dotnet_gc_pause_time_seconds_total", label, ""), total-want.resumed)
			check("resumed of "+service, p.grown("gclog_gc_resume_time_seconds_total", label, ""), want.resumed)
		}
		if wrong == nil {
			return
		}
		if time.Since(began) > program.Deadline {
			p.t.Fatalf("%s\n%s", strings.Join(wrong, "\n"), n.said.String())
		}
	}
}

// hasSelf checks that gclog's own metrics are there, and those of processes have their labels.
func (p *prometheus) hasSelf() {
	p.t.Helper()
	for _, selector := range []string{
		"gclog_build_info", `gclog_sessions == 0`, `gclog_bytes_written_total`, `gclog_process_cpu_seconds_total`,
		`gclog_process_info{service_name="orders",runtime_flavor="CoreCLR"}`, `gclog_sessions_ended_total{reason="exited"}`, `up`,
	} {
		if list := p.raw(strings.Split(selector, " ")[0]); len(list) == 0 {
			p.t.Errorf("there is no %s", selector)
		}
	}
	for _, s := range p.raw("dotnet_gc_collections_total") {
		for name := range s.Metric {
			if !slices.Contains([]string{"__name__", "instance", "job", "service_name", "process_name", "process_pid", "gc_heap_generation"}, name) {
				p.t.Errorf("a collection has the label %s", name)
			}
		}
	}
}
