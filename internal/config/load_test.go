package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// load parses text as if it were the file gclog.yaml.
func load(text string, environ ...string) (*Loaded, error) {
	return parse("gclog.yaml", []byte(text), environ)
}

func mustLoad(t *testing.T, text string, environ ...string) *Loaded {
	t.Helper()
	l, err := load(text, environ...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

const whole = `
version: 1
discovery:
  interval: 1m30s
  listen: [/run/gclog/diag.sock]
  include: [{process: "*"}]
  exclude:
    - command_line: "*dotnet-trace*"
    - {user: ci, pid: 47?1}
  max_processes: 20
session:
  level: full
  providers: ["Microsoft-Windows-DotNETRuntime:0x4000:4"]
services:
  - match: {process: "orders*"}
    name: orders
    level: light
labels: {env: prod, stage: 2}
outputs:
  - path: /var/log/gclog/%s-%p.json
    filecount: 7
    filesize: 20M
    rotation_names: index
    mode: "0600"
    only: [{service: "orders"}]
  - xlog: "gc*:file=/var/log/gclog/%n-%p.gc.log:time,uptime,level,tags:filecount=2,filesize=1M"
heap:
  auto: {enabled: true, directory: /data/heap, growth: 50%, collections: 3, cooldown: 2h, keep: 7, max_heap: 8G, only: [{service: orders}]}
rules:
  - name: long
    event: pause
    when: pause > 500ms && kind == 'blocking'
    for: 10s
    every: 1m
    cooldown: 1h
    only: [{service: orders}]
    do:
      - log: warn
      - record: {before: 1m}
      - level: {to: full}
      - exec: {command: [/bin/x, "", "-a"], su: {user: app}, timeout: 1m}
      - webhook: {url: "https://hooks.example/a", secret: "file:/etc/secret"}
      - heap_snapshot: true
  - {name: end, event: exit, do: [{log: info}]}
recorder: {memory: 128M, directory: /data/rec, keep: 3}
parquet: {path: "/data/date=%d/%H/%hn.parquet", interval: 10m, max_rows: 5000, mode: "0644", only: [{service: orders}]}
retention: {total: 5G, age: 14d}
summary: 0
long_pause: 1s
causes: dotnet
control: {socket: /run/x.sock}
http: {listen: "127.0.0.1:9799", web_config: /etc/web.yml}
metrics: {enabled: true, names: both, attributes: semconv, max_series: 5000}
otlp:
  metrics: true
  logs: true
  traces: true
  endpoint: https://c:4318
  headers: {X-Scope-OrgID: 1}
  timeout: 3s
  compression: none
  certificate: /ca.pem
  client_certificate: /c.pem
  client_key: /k.pem
  interval: 15s
  temporality: delta
  histograms: exponential
  queue: 4M
log: {level: debug, format: json}
`

// action returns an action with the defaults and what set sets.
func action(set func(*Action)) Action {
	a := defaultAction()
	set(&a)
	return a
}

func TestLoad(t *testing.T) {
	got := mustLoad(t, whole).Config
	want := Config{
		Version: 1,
		Discovery: Discovery{
			Interval: 90 * time.Second, Listen: []string{"/run/gclog/diag.sock"}, Include: []Match{{Process: "*"}},
			Exclude: []Match{{CommandLine: "*dotnet-trace*"}, {User: "ci", PID: "47?1"}}, MaxProcesses: 20,
		},
		Session:  Session{Level: "full", Providers: []string{"Microsoft-Windows-DotNETRuntime:0x4000:4"}},
		Services: []Service{{Match: Match{Process: "orders*"}, Name: "orders", Level: "light"}},
		Labels:   map[string]string{"env": "prod", "stage": "2"},
		Outputs: []Output{
			{Path: "/var/log/gclog/%s-%p.json", Format: "json", FileCount: 7, FileSize: 20 << 20, RotationNames: "index", Mode: 0o600, Only: []Match{{Service: "orders"}}},
			{FileCount: 2, FileSize: 1 << 20, RotationNames: "index", Mode: 0o640, Xlog: "gc*:file=/var/log/gclog/%n-%p.gc.log:time,uptime,level,tags:filecount=2,filesize=1M"},
		},
		Heap: Heap{Auto: HeapAuto{
			Enabled: true, Directory: "/data/heap", Growth: 50, Collections: 3, Cooldown: 2 * time.Hour, Keep: 7, MaxHeap: 8 << 30, Only: []Match{{Service: "orders"}},
		}},
		Rules: []Rule{
			{
				Name: "long", Event: "pause", When: "pause > 500ms && kind == 'blocking'", For: 10 * time.Second, Every: time.Minute, Cooldown: time.Hour, Only: []Match{{Service: "orders"}},
				Do: []Action{
					action(func(a *Action) { a.Log = "warn" }),
					action(func(a *Action) { a.Record.Before = time.Minute }),
					action(func(a *Action) { a.Level.To = "full" }),
					action(func(a *Action) {
						a.Exec = ExecAction{Command: []string{"/bin/x", "", "-a"}, Su: Su{User: "app"}, Timeout: time.Minute}
					}),
					action(func(a *Action) { a.Webhook.URL, a.Webhook.Secret = "https://hooks.example/a", "file:/etc/secret" }),
					action(func(a *Action) { a.HeapSnapshot = true }),
				},
			},
			{Name: "end", Event: "exit", Do: []Action{action(func(a *Action) { a.Log = "info" })}},
		},
		Recorder:  Recorder{Memory: 128 << 20, Directory: "/data/rec", Keep: 3},
		Parquet:   Parquet{Path: "/data/date=%d/%H/%hn.parquet", Interval: 10 * time.Minute, MaxRows: 5000, Mode: 0o644, Only: []Match{{Service: "orders"}}},
		Retention: Retention{Total: 5 << 30, Age: 336 * time.Hour},
		Metrics:   Metrics{Enabled: true, Names: "both", Attributes: "semconv", MaxSeries: 5000},
		OTLP: OTLP{
			Metrics: true, Logs: true, Traces: true, Endpoint: "https://c:4318", Headers: map[string]Secret{"X-Scope-OrgID": "1"}, Timeout: 3 * time.Second,
			Compression: "none", Certificate: "/ca.pem", ClientCertificate: "/c.pem", ClientKey: "/k.pem", Interval: 15 * time.Second,
			Temporality: "delta", Histograms: "exponential", Queue: 4 << 20,
		},
		LongPause: time.Second, Causes: "dotnet", Control: Control{Socket: "/run/x.sock"}, HTTP: HTTP{Listen: "127.0.0.1:9799", WebConfig: "/etc/web.yml"}, Log: Log{Level: "debug", Format: "json"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// TestDefaults: an empty file is like none.
func TestDefaults(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n", "\uFEFFversion: 1", "version: 1\r\n", "---\n", "version: 1\n", "{}", "discovery:\n  # interval: 1s\n", "outputs:\n#  - path: x\n", "labels:\nsession: ~\n"} {
		if got := mustLoad(t, text).Config; !reflect.DeepEqual(&got, Default()) {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if o := Default().Outputs; len(o) != 1 || o[0].Path != "gclog-logs/%s-%p.json" || o[0].Format != "json" || o[0].FileCount != 5 || o[0].FileSize != 10<<20 || o[0].Mode != 0o640 {
		t.Errorf("%+v", o)
	}
}

// TestWrong: errors are reported with their position, the key and what would be correct.
func TestWrong(t *testing.T) {
	for text, want := range map[string]string{
		"outputs:\n  - path: a-%p.json\n    filecout: 5": "gclog.yaml:3:5: outputs[0].filecout: unknown key, did you mean filecount?",
		"\"a\\eb\": x":                                             `gclog.yaml:1:1: "a\x1bb": unknown key`,
		"leevl: x":                                                 "gclog.yaml:1:1: leevl: unknown key: those of a configuration are version, discovery, ",
		"version: 2\nnew_key: 1":                                   "gclog.yaml:1:10: version: this gclog supports version 1 of the configuration, not \"2\": use another version of gclog",
		"version: one":                                             `gclog.yaml:1:10: version: "one" must be a number, without quotes, such as 1`,
		"summary: 5m\nsummary: 6m":                                 "gclog.yaml:2:1: summary: duplicate key, first in line 1",
		"labels:\n  env: a\n  env: b":                              "gclog.yaml:3:3: labels.env: duplicate key, first in line 2",
		"labels: {a.b: c}":                                         `gclog.yaml:1:10: labels: "a.b" cannot be a key: only letters, digits, _ and - are allowed`,
		"labels: [a]":                                              "gclog.yaml:1:9: labels: expected keys with values",
		"labels: {a: [b]}":                                         "gclog.yaml:1:13: labels.a: it must be a single value, such as prod",
		"session: full":                                            "gclog.yaml:1:10: session: expected keys: level, providers",
		"session: [level]":                                         "gclog.yaml:1:10: session: expected keys: level, providers",
		"session:\n  level: fulll":                                 `gclog.yaml:2:10: session.level: "fulll": it must be light, normal or full, did you mean full?`,
		"session: {level: }":                                       "gclog.yaml:1:17: session.level: it has no value",
		"session: {level: true}":                                   `gclog.yaml:1:18: session.level: true must be text, such as "light"`,
		"session: {level: [full]}":                                 "gclog.yaml:1:18: session.level: it must be a single value, such as light",
		"session: {providers: X}":                                  "gclog.yaml:1:22: session.providers: it must be a list: write [Microsoft-Windows-DotNETRuntime:0x1:4]",
		`session: {providers: ["X:zz"]}`:                           `gclog.yaml:1:23: session.providers[0]: providers "X:zz": the keywords "zz" are not a hexadecimal number`,
		"services: {a: b}":                                         "gclog.yaml:1:11: services: it must be a list: write - {match: ...}",
		"services:\n  -\n":                                         "gclog.yaml:2:5: services[0]: it is empty",
		"services:\n  - name: x":                                   `gclog.yaml:2:5: services[0].match: it has no conditions: give a pattern, such as process: "*"`,
		"services:\n  - match: {pid: 1}":                           "gclog.yaml:2:5: services[0]: the rule has no effect: set a name or a level",
		"services:\n  - match: {pid: 1x}":                          `gclog.yaml:2:18: services[0].match.pid: "1x" is not a pid pattern: only digits, * and ? are allowed`,
		"discovery: {interval: 3}":                                 `gclog.yaml:1:23: discovery.interval: 3 must be text, such as "3s"`,
		"discovery: {interval: 99ms}":                              `gclog.yaml:1:23: discovery.interval: "99ms": it must be at least 100ms`,
		"discovery: {interval: 3x}":                                `gclog.yaml:1:23: discovery.interval: "3x" is not a duration: write it like 3s, 5m, 12h or 14d`,
		"discovery: {max_processes: 5001}":                         `gclog.yaml:1:28: discovery.max_processes: "5001": it must be a number from 1 to 5000`,
		"discovery: {max_processes: \"9\"}":                        `gclog.yaml:1:28: discovery.max_processes: "9" must be a number, without quotes, such as 500`,
		"discovery: {max_processes: 1.5}":                          `gclog.yaml:1:28: discovery.max_processes: "1.5" must be a number, without quotes, such as 500`,
		"discovery: {include: [{}]}":                               `gclog.yaml:1:23: discovery.include[0]: it has no conditions: give a pattern, such as process: "*"`,
		`discovery: {exclude: [{user: ""}]}`:                       "gclog.yaml:1:30: discovery.exclude[0].user: an empty pattern matches nothing: leave the key out",
		"discovery: {listen: [/a, /b, /a]}":                        `gclog.yaml:1:30: discovery.listen[2]: duplicate "/a"`,
		`discovery: {listen: ["/a,b"]}`:                            `gclog.yaml:1:22: discovery.listen[0]: "/a,b": DOTNET_DiagnosticPorts cannot have a path with a comma or semicolon`,
		"discovery: {listen: [/" + strings.Repeat("a", 107) + "]}": "is too long: the path of a socket is limited to 107 bytes",
		"outputs: []":                                              "gclog.yaml:1:10: outputs: the list is empty, so nothing would be written; if you leave the key out, there is one output, gclog-logs/%s-%p.json",
		"outputs: [" + strings.Repeat("{path: a-%p.json},", 101) + "]":                                 "gclog.yaml:1:10: outputs: there are 101, but at most 100 are allowed: gclog could have that many files open for each process",
		"outputs: [{format: json}]":                                                                    "gclog.yaml:1:11: outputs[0]: the output has no destination: set path or xlog",
		"outputs: [{path: x-%p.log, mode: 0640}]":                                                      `gclog.yaml:1:34: outputs[0].mode: 0640 must be text, such as "0640"`,
		`outputs: [{path: x-%p.log, mode: "0440"}]`:                                                    `"0440": the daemon itself must be able to read and write its files`,
		`outputs: [{path: x-%p.log, mode: "rw"}]`:                                                      `gclog.yaml:1:34: outputs[0].mode: "rw" is not a mode: write it like "0640"`,
		"outputs: [{path: x.log}]":                                                                     "gclog.yaml:1:18: outputs[0].path: a file in the format unified can contain only one process: put %p, the pid, into x.log",
		"outputs: [{path: x-%q.log}]":                                                                  "gclog.yaml:1:18: outputs[0].path: x-%q.log: unknown placeholder %q: %p is the pid",
		"outputs: [{path: \"-\"}]":                                                                     "gclog.yaml:1:18: outputs[0].path: - is not a file: the daemon writes only to files",
		"outputs: [{path: /var/log/}]":                                                                 "gclog.yaml:1:18: outputs[0].path: /var/log/ is a directory: give a file, such as /var/log/%s-%p.json",
		`outputs: [{path: "a\nb"}]`:                                                                    `gclog.yaml:1:18: outputs[0].path: "a\nb" contains a control character`,
		"outputs: [{path: x-%p.json, format: jsn}]":                                                    `gclog.yaml:1:37: outputs[0].format: "jsn": it must be unified, jdk8, json, csv or text, did you mean json?`,
		"outputs: [{path: x-%p.json, filesize: 1K}]":                                                   `gclog.yaml:1:39: outputs[0].filesize: "1K" is too small: the minimum is 16K`,
		"outputs: [{path: x-%p.json, filesize: -1}]":                                                   `gclog.yaml:1:39: outputs[0].filesize: "-1" is not a size: give a number with K, M or G, such as 10M`,
		"outputs: [{path: a-%p.json}, {path: ./a-%p.json, format: csv}]":                               "gclog.yaml:1:37: outputs[1].path: ./a-%p.json is also the file of outputs[0]: some processes would be logged to it twice",
		"outputs: [{path: a-%p.json, xlog: gc}]":                                                       "gclog.yaml:1:35: outputs[0].xlog: path and xlog are mutually exclusive: set one of them",
		"outputs: [{format: json, xlog: \"gc:file=a-%p.log\"}]":                                        "gclog.yaml:1:20: outputs[0].format: the file's extension determines the format of xlog (unified by default): leave format out",
		"outputs: [{xlog: \"gc*\"}]":                                                                   "gclog.yaml:1:18: outputs[0].xlog: - is not a file: the daemon writes only to files",
		"outputs: [{xlog: \"gc*:stderr\"}]":                                                            "/dev/stderr is not a file: the daemon writes only to files",
		"outputs: [{xlog: \"gc*=x:file=a\"}]":                                                          "invalid level 'x' in log selection",
		"outputs: [{xlog: \"gc*:file=a.log\"}]":                                                        "a file in the format unified can contain only one process: put %p, the pid, into a.log",
		"outputs: [{xlog: disable}]":                                                                   "leaves nothing to write",
		"heap: {auto: {enabled: yes}}":                                                                 `gclog.yaml:1:24: heap.auto.enabled: "yes": it must be true or false, without quotes`,
		"heap: {auto: {enabled: \"true\"}}":                                                            `heap.auto.enabled: "true": it must be true or false, without quotes`,
		"heap: {auto: {growth: 20}}":                                                                   `gclog.yaml:1:23: heap.auto.growth: 20 must be text, such as "20%"`,
		"heap: {auto: {growth: 0%}}":                                                                   `heap.auto.growth: "0%": it must be a percentage from 1% to 1000%`,
		"heap: {auto: {growth: twenty}}":                                                               `heap.auto.growth: "twenty": it must be a percentage`,
		"heap: {auto: {collections: 1}}":                                                               `heap.auto.collections: "1": it must be a number from 2 to 100`,
		"heap: {auto: {cooldown: 59s}}":                                                                `heap.auto.cooldown: "59s": it must be at least 1m`,
		"heap: {auto: {keep: 0}}":                                                                      `heap.auto.keep: "0": it must be a number from 1 to 100`,
		"heap: {auto: {directory: /data/%s}}":                                                          `heap.auto.directory: "/data/%s": unknown placeholder %s: %hn is the host, %% a percent sign`,
		"heap: {auto: {directory: \"a\\nb\"}}":                                                         `heap.auto.directory: "a\nb" contains a control character`,
		"heap: {auto: {only: [{}]}}":                                                                   `heap.auto.only[0]: it has no conditions`,
		"rules: [{when: \"pause > 1s\", do: [{log: warn}]}]":                                           "gclog.yaml:1:9: rules[0]: the rule has no name: set name",
		"rules: [{name: a, when: pause > 1s}]":                                                         "gclog.yaml:1:9: rules[0]: the rule does nothing: set do, such as do: [{log: warn}]",
		"rules: [{name: a, do: [{log: warn}]}]":                                                        "gclog.yaml:1:9: rules[0]: it would fire at every gc: give it a condition",
		"rules:\n- name: a\n  when: pauze > 1s\n  do: [{log: warn}]":                                   "gclog.yaml:3:9: rules[0].when: at column 1: there is no field pauze, did you mean pause? (gclog rules fields gc lists those of collections)",
		"rules:\n- name: a\n  when: heap.after > 1s\n  do: [{log: warn}]":                              `gclog.yaml:3:9: rules[0].when: at column 14: "1s" is not a size`,
		"rules: [{name: a, event: gcs, do: [{log: warn}]}]":                                            `gclog.yaml:1:26: rules[0].event: "gcs": it must be gc, pause, stall, gap, finding or exit`,
		"rules: [{name: a, event: exit, do: [{}]}]":                                                    "gclog.yaml:1:37: rules[0].do[0]: the action is empty: set one of log, record, level, exec, webhook, heap_snapshot",
		"rules: [{name: a, event: exit, do: [{record: {after: 1s}}]}]":                                 "rules[0].do[0].record: set before, such as before: 30s",
		"rules: [{name: a, event: exit, do: [{log: info, heap_snapshot: true}]}]":                      "rules[0].do[0]: it has log and heap_snapshot: write an element of the list for each",
		"rules: [{name: a, event: exit, do: [{level: {to: full}}]}]":                                   "rules[0].do[0]: level is not possible for a process that has exited",
		"rules: [{name: a, event: exit, for: 5m, do: [{log: info}]}]":                                  "rules[0]: for needs a condition that stays true",
		"rules: [{name: a, event: exit, do: [{log: info}]}, {name: a, event: gap, do: [{log: info}]}]": `rules[1].name: another rule is called "a", too`,
		"rules: [{name: a, event: exit, only: [{}], do: [{log: info}]}]":                               "rules[0].only[0]: it has no conditions",
		"rules: [{name: a, event: exit, do: [{record: {before: 11m}}]}]":                               `record.before: "11m": it must be at most 10m`,
		"rules: [{name: a, event: exit, do: [{webhook: {url: hooks.example}}]}]":                       `webhook.url: it is not a URL: write https://HOST/PATH`,
		"rules: [{name: a, event: exit, do: [{exec: {command: sh}}]}]":                                 "exec.command: it must be a list: write [/usr/local/bin/on-long-pause]",
		"recorder: {memory: 1K}":                                                                       `recorder.memory: "1K" is too small: the minimum is 1M`,
		"parquet: {path: /data/%x.parquet}":                                                            `gclog.yaml:1:17: parquet.path: "/data/%x.parquet": unknown placeholder %x: %d is the date and %H the hour of the records (UTC), %p is`,
		"parquet: {path: /data/}":                                                                      `parquet.path: "/data/" is a directory: give files, such as /data/date=%d/hour=%H/%hn.parquet`,
		"parquet: {interval: 1s}":                                                                      `parquet.interval: "1s": it must be at least 1m`,
		"parquet: {max_rows: 1}":                                                                       `parquet.max_rows: "1": it must be a number from 1000 to 100000000`,
		"parquet: {path: /a/b, only: [{}]}":                                                            `parquet.only[0]: it has no conditions`,
		"outputs: [{path: a-%p, format: parquet}]":                                                     "parquet: one table contains all processes, so it is none of the outputs: set parquet.path",
		"retention: {age: -1h}":                                                                        `gclog.yaml:1:18: retention.age: "-1h": it must not be negative`,
		"retention: {total: -5G}":                                                                      `gclog.yaml:1:20: retention.total: "-5G" is not a size`,
		"long_pause: 0s":                                                                               `gclog.yaml:1:13: long_pause: "0s": it must be more than 0`,
		"summary: 1ms":                                                                                 `gclog.yaml:1:10: summary: "1ms": it must be at least 10s`,
		"http: {listen: 9799}":                                                                         `gclog.yaml:1:16: http.listen: 9799 must be text, such as "127.0.0.1:9799"`,
		"http: {listen: localhost}":                                                                    `gclog.yaml:1:16: http.listen: "localhost" is not an address: write HOST:PORT, such as 127.0.0.1:9799, or "" for none`,
		"http: {listen: \"a:70000\"}":                                                                  `"a:70000" is not an address`,
		"log: {level: warning}":                                                                        `gclog.yaml:1:14: log.level: "warning": it must be debug, info, warn or error`,
		// Input that is not a configuration.
		"a: [1,\n b":                     "gclog.yaml:1:4: invalid YAML: ",
		"a:\n\tb: 1":                     "gclog.yaml:2:1: invalid YAML: ",
		"just words":                     "gclog.yaml:1:1: expected keys: version, ",
		"- a":                            "expected keys: version, ",
		"version: 1\n---\nversion: 1":    "gclog.yaml:3:1: a second YAML document starts here: a configuration is a single document",
		"summary: &a 5m\nlong_pause: *a": "gclog.yaml:1:10: anchors and aliases (& * <<) are not supported: write the value out, or quote the text",
		"<<: {summary: 5m}":              "anchors and aliases",
		"summary: !!str 5m":              `gclog.yaml:1:10: a configuration contains only plain keys and values: "!!str" is not supported`,
		"? summary\n: 5m":                "a configuration contains only plain keys and values",
		"summary: \xff":                  "gclog.yaml: it is not valid UTF-8 text",
	} {
		if _, err := load(text); err == nil {
			t.Errorf("%q is loaded", text)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// TestEnvironment: variables set any key, and a wrong one is reported.
func TestEnvironment(t *testing.T) {
	l := mustLoad(t, "labels: {Env: a}\noutputs:\n  - path: a-%p.json\n  - path: b-%p.json\n",
		"PATH=/bin", "GCLOG_SESSION__LEVEL=light", "GCLOG_SUMMARY=0", "GCLOG_LONG_PAUSE=1s", "GCLOG_LABELS__ENV=b", "GCLOG_LABELS__TEAM=x",
		"GCLOG_OUTPUTS__1__FILESIZE=1M", "GCLOG_OUTPUTS__2__PATH=c-%p.json", "GCLOG_OUTPUTS__2__ONLY__0__SERVICE=orders",
		"GCLOG_DISCOVERY__LISTEN__1=/b", "GCLOG_DISCOVERY__LISTEN__0=/a", "GCLOG_HTTP__LISTEN=", "GCLOG_SERVICES__0__MATCH__PID=7", "GCLOG_SERVICES__0__NAME=n",
		"GCLOG_HEAP__AUTO__ENABLED=true", "GCLOG_HEAP__AUTO__GROWTH=5%",
		"GCLOG_XLOG=gc*", "GCLOG_CONFIG=/x", "GCLOG_PORT_9799_TCP=tcp://10.0.0.1:9799", "GCLOG_SERVICE_HOST=10.0.0.1")
	want := defaults()
	want.Session.Level, want.Summary, want.LongPause = "light", 0, time.Second
	want.Labels = map[string]string{"Env": "b", "team": "x"}
	want.Outputs = []Output{defaultOutput(), defaultOutput(), defaultOutput()}
	for i, path := range []string{"a-%p.json", "b-%p.json", "c-%p.json"} {
		want.Outputs[i].Path = path
	}
	want.Outputs[1].FileSize, want.Outputs[2].Only = 1<<20, []Match{{Service: "orders"}}
	want.Discovery.Listen = []string{"/a", "/b"}
	want.HTTP.Listen = ""
	want.Services = []Service{{Match: Match{PID: "7"}, Name: "n"}}
	want.Heap.Auto.Enabled, want.Heap.Auto.Growth = true, 5
	want.complete()
	if !reflect.DeepEqual(&l.Config, want) {
		t.Errorf("got\n%+v\nwant\n%+v", l.Config, *want)
	}

	// 10 comes after 9.
	var list []string
	for _, i := range []string{"10", "9", "2", "0", "1", "3", "8", "7", "6", "5", "4"} {
		list = append(list, "GCLOG_DISCOVERY__LISTEN__"+i+"=/"+i)
	}
	if got := mustLoad(t, "", list...).Discovery.Listen; len(got) != 11 || got[10] != "/10" || got[2] != "/2" {
		t.Errorf("%q", got)
	}

	// -Xlog replaces the default output, not one that was configured.
	if got := mustLoad(t, "", "GCLOG_OUTPUTS__0__XLOG=gc*:file=a-%p.log").Outputs; len(got) != 1 || got[0].Path != "" || got[0].RotationNames != "index" {
		t.Errorf("%+v", got)
	}

	for variable, want := range map[string]string{
		"GCLOG_SESION__LEVEL=full":      "GCLOG_SESION__LEVEL: unknown key sesion, did you mean GCLOG_SESSION__LEVEL?",
		"GCLOG_OUTPUTS__0__PTH=x":       "GCLOG_OUTPUTS__0__PTH: unknown key outputs[0].pth, did you mean GCLOG_OUTPUTS__0__PATH?",
		"GCLOG_OUTPUTS__2__PATH=x":      "GCLOG_OUTPUTS__2__PATH: index out of range: the next element of outputs is GCLOG_OUTPUTS__1",
		"GCLOG_OUTPUTS__X__PATH=x":      "index out of range",
		"GCLOG_SESSION_LEVEL=full":      "GCLOG_SESSION_LEVEL: unknown key, did you mean GCLOG_SESSION__LEVEL?",
		"GCLOG_SESSION__LEVEL=x":        `GCLOG_SESSION__LEVEL: session.level: "x": it must be light, normal or full`,
		"GCLOG_SESSION__LEVEL__X=x":     "GCLOG_SESSION__LEVEL__X: session.level has no subkeys: the variable is GCLOG_SESSION__LEVEL",
		"GCLOG_SESSION=full":            "GCLOG_SESSION: session has subkeys: write it like GCLOG_SESSION__LEVEL",
		"GCLOG_OUTPUTS=x":               "GCLOG_OUTPUTS: outputs is a list: write it like GCLOG_OUTPUTS__0",
		"GCLOG_LABELS=x":                "GCLOG_LABELS: labels has subkeys: write it like GCLOG_LABELS__ENV",
		"GCLOG_LABELS__A__B=x":          "GCLOG_LABELS__A__B: ",
		"GCLOG_LABELS__A.B=x":           `GCLOG_LABELS__A.B: labels: "a.b" cannot be a key`,
		"GCLOG_OUTPUTS__0__PATH=\xff%p": "GCLOG_OUTPUTS__0__PATH: outputs[0].path: it is not valid UTF-8 text",
		"GCLOG_SUMMARY=":                `GCLOG_SUMMARY: summary: "" is not a duration`,
		"GCLOG_OUTPUTS__0__PATH=x.log":  "GCLOG_OUTPUTS__0__PATH: outputs[0].path: a file in the format unified can contain only one process",
		"GCLOG_VERSION=2":               "this gclog supports version 1",
	} {
		if _, err := load("", variable); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\ngot  %v\nwant %s", variable, err, want)
		}
	}
}

// TestAllAtOnce: all errors of a file are reported at once.
func TestAllAtOnce(t *testing.T) {
	_, err := load("summaries: 5m\noutputs:\n  - path: a-%p.log\n    format: xml\n    filecount: many\nlog: {level: loud}\n", "GCLOG_X__Y=1")
	if err == nil {
		t.Fatal("it is loaded")
	}
	want := []string{"GCLOG_X__Y: ", "gclog.yaml:1:1: summaries: ", "gclog.yaml:4:13: outputs[0].format: ", "gclog.yaml:5:16: outputs[0].filecount: ", "gclog.yaml:6:14: log.level: "}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%v", err)
	}
	for i, w := range want {
		if !strings.HasPrefix(lines[i], w) {
			t.Errorf("%s, want %s", lines[i], w)
		}
	}
	_, err = load("version: 2\nnew_key: 1\n")
	if err == nil || strings.Contains(err.Error(), "new_key") {
		t.Errorf("keys of another version are judged: %v", err)
	}
	_, err = load(strings.Repeat("x: 1\n", 1000))
	if n := strings.Count(err.Error(), "\n"); n != maxProblems || !strings.Contains(err.Error(), "more problems") {
		t.Errorf("%d lines", n)
	}
}

// TestFiles: a file that cannot be read is reported, quickly.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "missing.yaml"): "missing.yaml does not exist",
		dir:                                "is a directory: name the file in it",
		write("long.yaml", strings.Repeat("# x\n", 300000)): "is larger than 1024 KB: it is probably another file",
		write("many.yaml", strings.Repeat("a: 1\n", 50000)): "it has more than 50000 tokens: it is probably not a configuration",
		write("deep.yaml", strings.Repeat("[", 40000)):      "deep.yaml:1:21: nested too deeply",
		write("dash.yaml", strings.Repeat("- ", 500000)):    "it has more than 50000 tokens",
		write("step.yaml", strings.Repeat("- ", 20000)):     "nested too deeply",
		write("bomb.yaml", "a: &a [x,x]\nb: &b [*a,*a]\n"):  "bomb.yaml:1:4: anchors and aliases",
		"/dev/zero": "/dev/zero is larger than 1024 KB",
	} {
		if _, err := Load(path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\ngot  %v\nwant %s", path, err, want)
		}
	}
	if l, err := Load("", nil); err != nil || !reflect.DeepEqual(&l.Config, Default()) {
		t.Errorf("%+v, %v", l, err)
	}
	path := write("good.yaml", "session: {level: full}\n")
	if l, err := Load(path, nil); err != nil || l.Session.Level != "full" || l.File != path {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestFind(t *testing.T) {
	for _, x := range []struct {
		path    string
		environ []string
		want    string
	}{
		{"a.yaml", []string{"GCLOG_CONFIG=b.yaml"}, "a.yaml"},
		{"", []string{"GCLOG_CONFIG=b.yaml"}, "b.yaml"},
	} {
		if got := Find(x.path, x.environ); got != x.want {
			t.Errorf("%q %q: %q", x.path, x.environ, got)
		}
	}
}
