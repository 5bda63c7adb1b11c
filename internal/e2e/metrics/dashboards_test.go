//go:build linux

package metrics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/fakenode"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/internal/testing/reserved"
)

// A dashboard is a model of Grafana, as far as it is read here.
type dashboard struct {
	Title  string
	Panels []struct {
		Title       string
		Targets     []target
		FieldConfig struct {
			Overrides []struct{ Matcher struct{ Options any } }
		}
		Transforming []struct {
			ID      string
			Options struct{ Include struct{ Names []string } }
		} `json:"transformations"`
	}
	Templating struct {
		List []struct{ Name, Type, Query string }
	}
}

// A target is a query of a panel.
type target struct {
	Expr, LegendFormat string
	Instant            bool
}

func readDashboard(t *testing.T, name string) (d dashboard) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("samples", "grafana", "dashboards", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// dashboardRules are the files with rules.
var dashboardRules = []string{"samples/prometheus/rules.yml", "samples/prometheus/alerts.yml"}

// onlyClassic are recording rules that have no series if Prometheus scrapes native histograms.
var onlyClassic = []string{"service:dotnet_gc_pause_duration_seconds_bucket:rate5m"}

// TestPrometheusDashboards: every query of the dashboards and every recording rule returns numbers
// while the daemon logs real and fake runtimes, with classic and with native histograms.
func TestPrometheusDashboards(t *testing.T) {
	for format, native := range scrapeFormats {
		t.Run(format, func(t *testing.T) {
			exe := prometheusProgram(t)
			n, pod := busyNode(t, "")
			p := startPrometheus(t, exe, n.dir, n.address, native, slices.Clone(dashboardRules)...)
			all := map[string]string{"namespace": ".*", "service": ".*", "instance": ".*"}
			p.fills(readDashboard(t, "fleet"), all, nil)
			// Grafana joins chosen values, and quotes them for a regular expression in a string.
			one := map[string]string{"namespace": "(shop|mail)", "service": "(orders|real)", "instance": strings.ReplaceAll(n.address, ".", `\\.`)}
			p.fills(readDashboard(t, "fleet"), one, nil)
			service := map[string]string{"namespace": ".*", "service": "real", "instance": ".*", "pod": pod}
			// The process is not in a container, has no version, and is the only one of its name.
			p.fills(readDashboard(t, "service"), service, []string{"container_id", "service_version", "process_pid"})
			p.hasRules(native)
			n.stop()
		})
	}
}

// TestPrometheusOTLP: the same for metrics that came by OTLP, with the settings of docs/otlp.md.
func TestPrometheusOTLP(t *testing.T) {
	exe := prometheusProgram(t)
	if help, err := exec.Command(exe, "--help").CombinedOutput(); err != nil || !bytes.Contains(help, []byte(otlpFlag)) {
		t.Skipf("%s has no OTLP receiver: make metrics-test-newest builds one that has", exe)
	}
	p := startPrometheus(t, exe, t.TempDir(), "", false, slices.Clone(dashboardRules)...)
	n, pod := busyNode(t, fmt.Sprintf("otlp: {metrics: true, logs: true, interval: 1s, endpoint: \"http://%s/api/v1/otlp\"}\n", p.address))
	all := map[string]string{"namespace": ".*", "service": ".*", "instance": ".*"}
	p.fills(readDashboard(t, "fleet"), all, nil)
	service := map[string]string{"namespace": ".*", "service": "real", "instance": ".*", "pod": pod}
	p.fills(readDashboard(t, "service"), service, []string{"container_id", "service_version"})
	p.hasRules(false)
	n.stop()
}

// busyNode returns a running daemon whose processes have everything that the dashboards show, also
// what exists only after a problem: a failed attempt to attach, and a process that has exited. otlp is
// that section of its configuration; "": it sends logs to a server that accepts everything.
func busyNode(t *testing.T, otlp string) (n *metricsNode, pod string) {
	t.Helper()
	n = &metricsNode{t: t, dir: t.TempDir(), address: reserved.Address(t)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(n.said.String())
		}
	})
	sockets := program.SocketDir(t)
	node := fakenode.New(sockets, 1)
	t.Cleanup(node.Close)
	start := func(c fakenode.Config) *fakenode.Runtime {
		c.Rate, c.Background = 20, 0.2
		r, err := node.Start(c)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	inPod := func(name, namespace, pod string) fakenode.Config {
		return fakenode.Config{Name: name, Env: []string{"KUBERNETES_SERVICE_HOST=10.0.0.1", "POD_NAMESPACE=" + namespace, "POD_NAME=" + pod}}
	}
	start(inPod("orders", "shop", "orders-1"))
	start(inPod("orders", "shop", "orders-2"))
	start(fakenode.Config{Name: "stock"})
	start(fakenode.Config{Name: "stock"})
	start(fakenode.Config{Name: "refuses"}).Refuse(0x80004005, time.Hour)
	exits := start(fakenode.Config{Name: "exits"})

	r, err := gcload.FromRepository()
	if err != nil {
		t.Skipf("only a real runtime has all metrics: %v", err)
	}
	cmd := exec.Command(r.Program("hardlimit"), "churn", "--rate", "100", "--live", "20", "--loh", "10", "--threads", "2", "--seed", "1")
	pod = "real-1"
	cmd.Env = append(r.Environment(os.Environ(), "hardlimit", "GCgen0size=400000"), "TMPDIR="+sockets, "OTEL_SERVICE_NAME=real",
		"KUBERNETES_SERVICE_HOST=10.0.0.1", "POD_NAMESPACE=mail", "POD_NAME="+pod)
	real, err := gcload.StartCommand(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(real.Kill)

	if otlp == "" {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/x-protobuf") // an empty message: everything is accepted
		}))
		t.Cleanup(server.Close)
		otlp = fmt.Sprintf("otlp: {logs: true, endpoint: %q}\n", server.URL)
	}
	n.configure(fmt.Sprintf("{command_line: %q}, {pid: %d}", node.Pattern(), cmd.Process.Pid))
	n.append(otlp)
	n.start()
	program.Eventually(t, "records of every service", func() bool {
		return n.total("orders").gcs() > 20 && n.total("stock").gcs() > 20 && n.total("exits").gcs() > 0 && n.total("real").gcs() > 10
	})
	exits.Exit(0)
	// Collections of gen2 that somebody has requested.
	go func() {
		for t.Context().Err() == nil {
			_ = exec.CommandContext(t.Context(), "gclog", "gc", strconv.Itoa(cmd.Process.Pid)).Run()
			time.Sleep(time.Second)
		}
	}()
	return n, pod
}

// append adds to the configuration.
func (n *metricsNode) append(text string) {
	n.t.Helper()
	f, err := os.OpenFile(filepath.Join(n.dir, "gclog.yaml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		n.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		n.t.Fatal(err)
	}
}

// fills waits until every query of a dashboard has a number, and checks that the labels that it
// shows exist. Grafana would replace the variables by these values.
func (p *prometheus) fills(d dashboard, variables map[string]string, unknown []string) {
	p.t.Helper()
	variables = maps.Clone(variables)
	maps.Copy(variables, map[string]string{"__rate_interval": "4s", "__range": "30s"})
	fill := func(s string) string {
		return os.Expand(s, func(name string) string {
			v, known := variables[name]
			if name == "1" { // of a regular expression
				return "$1"
			}
			if !known {
				p.t.Fatalf("%s: the variable $%s has no value", d.Title, name)
			}
			return v
		})
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			p.offers(fill(v.Query))
		}
	}
	for _, panel := range d.Panels {
		labels := map[string]bool{}
		for _, q := range panel.Targets {
			where := fmt.Sprintf("%s, %s: %s", d.Title, panel.Title, fill(q.Expr))
			var got []series
			if strings.Contains(q.Expr, ofTheDead) { // the query is only evaluated
				p.evaluate(fill(q.Expr), q.Instant)
				continue
			}
			program.Eventually(p.t, where, func() bool {
				got = p.evaluate(fill(q.Expr), q.Instant)
				return slices.ContainsFunc(got, series.hasNumber)
			})
			for _, s := range got {
				for name := range s.Metric {
					labels[name] = true
				}
			}
			for _, m := range regexp.MustCompile(`{{(\w+)}}`).FindAllStringSubmatch(q.LegendFormat, -1) {
				// Heat maps of native histograms have no buckets to name.
				if name := m[1]; !labels[name] && name != "le" && !slices.Contains(unknown, name) {
					p.t.Errorf("%s: no series has the label %s", where, name)
				}
			}
		}
		for _, x := range panel.Transforming {
			for _, name := range x.Options.Include.Names {
				if !strings.HasPrefix(name, "Value") && !labels[name] && !slices.Contains(unknown, name) {
					p.t.Errorf("%s, %s: no row has a column %s", d.Title, panel.Title, name)
				}
			}
		}
	}
}

// offers checks that a variable has a value to choose: label_values(SELECTOR, LABEL).
func (p *prometheus) offers(text string) {
	p.t.Helper()
	m := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`).FindStringSubmatch(text)
	if m == nil {
		p.t.Fatalf("not understood: %s", text)
	}
	program.Eventually(p.t, text, func() bool {
		var values []string
		p.get("label/"+m[2]+"/values", url.Values{"match[]": {m[1]}}, &values)
		return len(values) > 0
	})
}

// evaluate returns what a query has now, or at each second of the last ten.
func (p *prometheus) evaluate(expr string, instant bool) []series {
	p.t.Helper()
	var data struct{ Result []series }
	now := time.Now()
	if instant {
		p.get("query", url.Values{"query": {expr}}, &data)
	} else {
		at := func(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1e3, 'f', 3, 64) }
		p.get("query_range", url.Values{"query": {expr}, "start": {at(now.Add(-10 * time.Second))}, "end": {at(now)}, "step": {"1"}}, &data)
	}
	return data.Result
}

// hasNumber reports whether a sample is a number or a histogram.
func (s series) hasNumber() bool {
	if len(s.Histograms) > 0 || s.Histogram != [2]any{} {
		return true
	}
	return slices.ContainsFunc(append(s.Values, s.Value), func(sample [2]any) bool {
		text, _ := sample[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		return err == nil && !math.IsNaN(v)
	})
}

// ofTheDead is a metric of processes that died, of which the node has none.
const ofTheDead = "gclog_process_ended"

// selector is a selector of a metric in an alert.
var selector = regexp.MustCompile(`\b((dotnet|gclog)_|process:|up\b)[\w:]*({[^}]*})?`)

// hasRules checks that every recording rule has series and that alerts select series that exist, and
// that no rule fails.
func (p *prometheus) hasRules(native bool) {
	p.t.Helper()
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Query, Type, Health, LastError string }
		}
	}
	program.Eventually(p.t, "the evaluation of all rules", func() bool {
		data.Groups = nil
		p.get("rules", nil, &data)
		for _, g := range data.Groups {
			for _, r := range g.Rules {
				if r.Health == "unknown" {
					return false
				}
			}
		}
		return len(data.Groups) > 0
	})
	n := 0
	for _, g := range data.Groups {
		for _, r := range g.Rules {
			if r.Health != "ok" {
				p.t.Errorf("%s: %s", r.Name, r.LastError)
			}
			if r.Type == "alerting" {
				for _, x := range selector.FindAllString(r.Query, -1) {
					if strings.HasPrefix(x, ofTheDead) || strings.HasPrefix(x, "up") && p.receives {
						continue
					}
					program.Eventually(p.t, r.Name+": "+x, func() bool { return slices.ContainsFunc(p.evaluate(x, true), series.hasNumber) })
				}
			}
			if classic := slices.Contains(onlyClassic, r.Name); classic && native {
				if list := p.evaluate(r.Name, true); len(list) > 0 {
					p.t.Errorf("%s has %d series of classic histograms", r.Name, len(list))
				}
			} else if r.Type == "recording" {
				n++
				program.Eventually(p.t, r.Name, func() bool { return slices.ContainsFunc(p.evaluate(r.Name, true), series.hasNumber) })
			}
		}
	}
	if n < 10 {
		p.t.Errorf("%d recording rules", n)
	}
}
