package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
)

func TestFits(t *testing.T) {
	for _, x := range []struct {
		pattern, s string
		want       bool
	}{
		{"*", "", true},
		{"*", "anything at all", true},
		{"orders", "orders", true},
		{"orders", "Orders", true},
		{"ORDERS*", "orders-api", true},
		{"orders", "orders-api", false},
		{"orders", "my-orders", false},
		{"*orders", "my-orders", true},
		{"*ord*rs*", "my-orders-2", true},
		{"a*b*c", "abbcb", false},
		{"a*b*c", "abbcbc", true},
		{"?", "é", true},
		{"?", "", false},
		{"?", "ab", false},
		{"47?1", "4711", true},
		{"[a]", "a", false},
		{"[a]", "[a]", true},
		{"**", "x", true},
		{"a**", "a", true},
		{"É*", "école", true},
	} {
		if got := fits(x.pattern, x.s); got != x.want {
			t.Errorf("%q fits %q: %v", x.pattern, x.s, got)
		}
	}
	// The cost of matching is bounded.
	if fits(strings.Repeat("*a", 200)+"b", strings.Repeat("a", 20000)) {
		t.Error("there is no b")
	}
}

func TestPatternsMeet(t *testing.T) {
	for _, x := range []struct {
		a, b string
		want bool
	}{
		{"orders", "Orders", true},
		{"orders", "payments", false},
		{"orders*", "*api", true},
		{"orders*", "payments*", false},
		{"*a", "*b", false},
		{"a?c", "ab?", true},
		{"a?", "a", false},
		{"*", "", true},
		{"a*b*c", "*x*", true},
		{"ab", "a*b", true},
		{"a*bc", "ab*d", false},
	} {
		if patternsMeet(x.a, x.b) != x.want || patternsMeet(x.b, x.a) != x.want {
			t.Errorf("%q and %q meet: %v", x.a, x.b, !x.want)
		}
	}
}

func TestMatch(t *testing.T) {
	s := &Subject{
		Processes: []string{"Orders.Api", "dotnet"}, CommandLine: "dotnet Orders.Api.dll --urls x", EntryAssembly: "Orders.Api",
		Service: "orders", Namespace: "shop", User: "app", Container: "0123456789ab", PID: 4711,
	}
	for _, m := range []Match{
		{},
		{Process: "dotnet"},
		{Process: "orders*"},
		{CommandLine: "*--urls*"},
		{EntryAssembly: "orders.api"},
		{Service: "orders", Namespace: "shop", User: "app", Container: "0123*", PID: "47*"},
	} {
		if !m.Fits(s) {
			t.Errorf("%+v does not fit", m)
		}
	}
	for _, m := range []Match{
		{Process: "orders"},
		{CommandLine: "--urls"},
		{EntryAssembly: "orders"},
		{Service: "order"},
		{Namespace: "sho"},
		{User: "root"},
		{Container: "123*"},
		{PID: "471"},
		{Process: "dotnet", Service: "payments"}, // all must fit
	} {
		if m.Fits(s) {
			t.Errorf("%+v fits", m)
		}
	}
}

func TestIncluded(t *testing.T) {
	l := mustLoad(t, "discovery:\n  include:\n    - {user: app}\n  exclude:\n    - {pid: 7}\n    - process: dotnet-*\n", "GCLOG_DISCOVERY__EXCLUDE__2__SERVICE=secret")
	for _, x := range []struct {
		s    Subject
		want string
	}{
		{Subject{User: "app", PID: 8}, ""},
		{Subject{User: "app", PID: 7}, "excluded by discovery.exclude[0] (gclog.yaml:5)"},
		{Subject{User: "app", Processes: []string{"x", "dotnet-trace"}}, "excluded by discovery.exclude[1] (gclog.yaml:6)"},
		{Subject{User: "app", Service: "secret"}, "excluded by discovery.exclude[2] (environment GCLOG_DISCOVERY__EXCLUDE__2__SERVICE)"},
		{Subject{User: "root"}, "not in discovery.include (gclog.yaml:3)"},
	} {
		if included, why := l.Included(&x.s); why != x.want || included != (x.want == "") {
			t.Errorf("%+v: %v, %q, want %q", x.s, included, why, x.want)
		}
	}
	if included, why := mustLoad(t, "").Included(&Subject{}); !included || why != "" {
		t.Errorf("without rules: %q", why)
	}
}

// TestRefused: a process is not asked if no answer can change anything.
func TestRefused(t *testing.T) {
	worker := &Subject{Processes: []string{"worker"}, User: "build"}
	for text, want := range map[string]string{
		"": "",
		"discovery: {exclude: [{process: worker}]}":                           "excluded by discovery.exclude[0]",
		"discovery: {exclude: [{process: worker, service: orders}]}":          "",
		"discovery: {exclude: [{service: orders}, {user: build}]}":            "excluded by discovery.exclude[1]",
		"discovery: {include: [{process: web}]}":                              "not in discovery.include",
		"discovery: {include: [{process: web}, {process: work*}]}":            "",
		"discovery: {include: [{process: web}, {namespace: shop}]}":           "",
		"discovery: {include: [{process: work*}], exclude: [{user: \"b*\"}]}": "excluded by discovery.exclude[0]",
	} {
		if got := mustLoad(t, text).Refused(worker); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestIdentify(t *testing.T) {
	l := mustLoad(t, `
session: {level: light}
services:
  - {match: {process: "orders*"}, name: orders}
  - {match: {process: "*"}, level: full}
  - {match: {process: "x"}, name: never}
`)
	for _, x := range []struct{ process, service, level string }{
		{"orders-2", "orders", "light"},
		{"x", "found", "full"},
	} {
		if service, level := l.Identify(&Subject{Processes: []string{x.process}, Service: "found"}); service != x.service || level != x.level {
			t.Errorf("%s: %s, %s", x.process, service, level)
		}
	}
	if service, level := mustLoad(t, "").Identify(&Subject{Service: "found"}); service != "found" || level != "normal" {
		t.Errorf("without rules: %s, %s", service, level)
	}
}

func TestOutputsFor(t *testing.T) {
	l := mustLoad(t, `
outputs:
  - {path: all-%p.json, mode: "0600", filecount: 3, filesize: 1M, rotation_names: index}
  - {path: orders-%p.csv, only: [{service: orders}]}
  - {path: orders-%p.csv, only: [{service: payments}], filecount: 9}
  - {xlog: "gc*,safepoint:file=%n-%p.log:uptime:filesize=2M", rotation_names: timestamp, only: [{user: app}, {user: ops}]}
`)
	paths := func(s Subject) (all []string) {
		for _, spec := range l.OutputsFor(&s) {
			all = append(all, spec.Path)
		}
		return all
	}
	for _, x := range []struct {
		s    Subject
		want string
	}{
		{Subject{Service: "other"}, "all-%p.json"},
		{Subject{Service: "orders"}, "all-%p.json orders-%p.csv"},
		{Subject{User: "ops", Service: "payments"}, "all-%p.json orders-%p.csv %n-%p.log"},
	} {
		if got := strings.Join(paths(x.s), " "); got != x.want {
			t.Errorf("%+v: %s, want %s", x.s, got, x.want)
		}
	}
	specs := l.OutputsFor(&Subject{Service: "payments", User: "app"})
	json, csv, log := specs[0], specs[1], specs[2]
	if json.Format.Name != "json" || json.Rotate != (rotate.Options{Count: 3, Size: 1 << 20, Naming: rotate.NameByIndex, Mode: 0o600}) || json.Selection != nil {
		t.Errorf("%+v", json)
	}
	if csv.Format.Name != "csv" || csv.Rotate.Count != 9 {
		t.Errorf("%+v", csv)
	}
	if log.Format.Name != "unified" || log.Rotate != (rotate.Options{Count: 5, Size: 2 << 20, Naming: rotate.NameByTime, Mode: 0o640}) || !output.Suspensions([]output.Spec{log}) || log.Selection.Decorators != formats.Of(formats.DecUptime) {
		t.Errorf("%+v", log)
	}
}

// TestSameFile: outputs may share a path only if no process fits both.
func TestSameFile(t *testing.T) {
	for only, ok := range map[string]bool{
		"[{service: orders}]":                          false,
		"[{service: payments}]":                        true,
		"[{service: payments}, {user: app}]":           false,
		"[{service: payments, user: app}]":             true,
		"[{service: \"p*\", namespace: shop}]":         true,
		"[{service: \"o*\", namespace: shop}]":         false,
		"[]":                                           false,
		"[{service: \"*\"}]":                           false,
		"[{process: dotnet, command_line: \"*api*\"}]": false,
	} {
		_, err := load("outputs:\n  - {path: a-%p.json, only: [{service: orders}]}\n  - {path: a-%p.json, only: " + only + "}\n")
		if (err == nil) != ok {
			t.Errorf("%s: %v", only, err)
		}
	}
}

// TestSessionConfig: providers are added to what the level asks for.
func TestSessionConfig(t *testing.T) {
	l := mustLoad(t, `session: {providers: ["My-Source:0x4:5", "Microsoft-Windows-DotNETRuntime:0x4000:4"]}`)
	cfg, err := l.SessionConfig("light")
	if err != nil || len(cfg.Providers) != 2 || cfg.Providers[0].Keywords != 0x4001 || cfg.Providers[1].Name != "My-Source" || cfg.Validate() != nil {
		t.Errorf("%+v, %v", cfg, err)
	}
}

// TestWarnings: what is allowed but probably not intended is reported.
func TestWarnings(t *testing.T) {
	l := mustLoad(t, "outputs: [{xlog: \"gc*:file=a-%p.log:tid\"}]")
	if len(l.Warnings) == 0 || !strings.HasPrefix(l.Warnings[0], "gclog.yaml:1:18: outputs[0].xlog: GCViewer will not read") {
		t.Errorf("%q", l.Warnings)
	}
}

// TestSnapshots: snapshots are off by default, and then taken of all processes or of those that the
// rules match, into a directory next to the logs unless it is given.
func TestSnapshots(t *testing.T) {
	orders, other := &Subject{Service: "orders"}, &Subject{Service: "other"}
	for text, want := range map[string][2]bool{
		"": {false, false},
		"heap: {auto: {growth: 50%, only: [{service: orders}]}}":    {false, false},
		"heap: {auto: {enabled: true}}":                             {true, true},
		"heap: {auto: {enabled: true, only: [{service: orders}]}}":  {true, false},
		"heap: {auto: {enabled: false, only: [{service: orders}]}}": {false, false},
	} {
		l := mustLoad(t, text)
		if got := [2]bool{l.TakesSnapshots(orders), l.TakesSnapshots(other)}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"":                                               filepath.Join("gclog-logs", "heap"),
		"heap: {auto: {directory: /data/%hn/x}}":         "/data/%hn/x",
		"outputs: [{path: /v/%hn/%p.json}]":              "/v/heap/%hn",
		"outputs: [{path: /v/%hn-%p.json}]":              "/v/heap/%hn",
		"outputs: [{path: /var/log/%N/%p.json}]":         "/var/log/heap",
		`outputs: [{xlog: "gc:file=/x/%p.log"}]`:         "/x/heap",
		"outputs: [{path: a/%p.csv}, {path: /b/%p.csv}]": "a/heap",
	} {
		if got := mustLoad(t, text).SnapshotFolder(); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestQuotas: a retention that one process or service can fill is reported.
func TestQuotas(t *testing.T) {
	const records = "rules: [{name: r, when: number > 0, do: [{record: {before: 1s}}]}]\n"
	for text, want := range map[string]string{
		"":                           "",
		records:                      "",
		"retention: {total: 0}\n":    "",
		"retention: {total: 61M}\n":  "",
		"retention: {total: auto}\n": "",
		"retention: {age: 1d}\n":     "",
		"retention: {total: 60M}\n":  "gclog.yaml:1:20: retention.total: the logs of one process can have 60M (filecount and filesize of the outputs), so that it alone can fill 60M",
		"outputs: [{path: x-%p.json, filecount: 200, filesize: 100M}]\n": "retention.total: the logs of one process can have 20100M",
		"outputs: [{path: x-%p.json, filecount: 0}]\n":                   "gclog.yaml:1:40: outputs[0].filecount: without rotation the log of one process alone can fill retention.total",
		"retention: {total: 500M}\n" + records:                           "recorder.keep: 10 recordings of one service can have 640M (recorder.memory each), so that it alone can fill retention.total, 500M",
		"retention: {total: 500M}\n":                                     "",
		"recorder: {keep: 100, memory: 1G}\n" + records:                  "gclog.yaml:1:18: recorder.keep: 100 recordings of one service can have 100G",
	} {
		l := mustLoad(t, text)
		if got := strings.Join(l.Warnings, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: warnings %q, want %q", text, l.Warnings, want)
		}
	}
}
