package config

import (
	"reflect"
	"testing"
)

// An Origin is where a value came from: a file with its line, an environment variable, or the
// defaults.
type Origin struct{ Path, From string }

// Origins lists all values, in the order of the keys.
func (l *Loaded) Origins() (list []Origin) {
	for _, line := range l.lines(false) {
		if line.path != "" {
			list = append(list, Origin{line.path, l.origins[line.path].String()})
		}
	}
	return list
}

// TestYAML: the effective configuration is written so that any YAML reader reads the same, and
// shows where each value came from.
func TestYAML(t *testing.T) {
	l := mustLoad(t, `discovery:
  listen: ["true", "/a b"]
  exclude: [{process: "a*", pid: 007}, {user: app}]
labels: {b: "2", a: "no", text: "x\ny: #"}
services:
  - match: {service: x}
    name: "- y"
outputs:
  - xlog: "gc*:file=a-%p.log::filecount=2"
    only: [{pid: 7}]
  - path: "5"
    format: json
heap: {auto: {enabled: true, growth: 7%}}
rules:
  - name: a
    event: exit
    do: [{log: info}, {exec: {command: [x, ""]}}]
retention: {age: 36h, total: 10000K}
summary: 90m
`, "GCLOG_LABELS__B=c", "GCLOG_LOG__LEVEL=debug", "GCLOG_OUTPUTS__1__FILESIZE=20000")
	want := `version: 1                                        # default
discovery:
  interval: 3s                                    # default
  listen:
    - "true"                                      # gclog.yaml:2
    - "/a b"                                      # gclog.yaml:2
  include: []                                     # default
  exclude:
    - process: "a*"                               # gclog.yaml:3
      pid: "007"                                  # gclog.yaml:3
    - user: app                                   # gclog.yaml:3
  max_processes: 500                              # default
session:
  level: normal                                   # default
  providers: []                                   # default
  counters: 0                                     # default
services:
  - match:
      service: x                                  # gclog.yaml:6
    name: "- y"                                   # gclog.yaml:7
labels:
  a: "no"                                         # gclog.yaml:4
  b: c                                            # environment GCLOG_LABELS__B
  text: "x\ny: #"                                 # gclog.yaml:4
outputs:
  - xlog: "gc*:file=a-%p.log::filecount=2"        # gclog.yaml:9
    filecount: 2                                  # gclog.yaml:9
    filesize: 10M                                 # default
    rotation_names: index                         # default
    mode: "0640"                                  # default
    only:
      - pid: 7                                    # gclog.yaml:10
  - path: "5"                                     # gclog.yaml:11
    format: json                                  # gclog.yaml:12
    filecount: 5                                  # default
    filesize: 20000                               # environment GCLOG_OUTPUTS__1__FILESIZE
    rotation_names: timestamp                     # default
    mode: "0640"                                  # default
    only: []                                      # default
heap:
  auto:
    enabled: true                                 # gclog.yaml:13
    directory: ""                                 # default
    growth: "7%"                                  # gclog.yaml:13
    collections: 5                                # default
    cooldown: 1h                                  # default
    keep: 3                                       # default
    max_heap: 0                                   # default
    only: []                                      # default
rules:
  - name: a                                       # gclog.yaml:15
    event: exit                                   # gclog.yaml:16
    for: 0                                        # default
    every: 0                                      # default
    cooldown: 0                                   # default
    only: []                                      # default
    do:
      - log: info                                 # gclog.yaml:17
      - exec:
          command:
            - x                                   # gclog.yaml:17
            - ""                                  # gclog.yaml:17
          timeout: 30s                            # default
recorder:
  memory: 64M                                     # default
  directory: ""                                   # default
  keep: 10                                        # default
parquet:
  path: ""                                        # default
  interval: 1h                                    # default
  max_rows: 1000000                               # default
  mode: "0640"                                    # default
  only: []                                        # default
retention:
  total: 10000K                                   # gclog.yaml:18
  age: 36h                                        # gclog.yaml:18
summary: 1h30m                                    # gclog.yaml:19
long_pause: 200ms                                 # default
causes: java                                      # default
control:
  socket: auto                                    # default
http:
  listen: ""                                      # default
  web_config: ""                                  # default
metrics:
  enabled: false                                  # default
  names: otel                                     # default
  attributes: runtime                             # default
  max_series: 200000                              # default
otlp:
  metrics: false                                  # default
  logs: false                                     # default
  traces: false                                   # default
  endpoint: ""                                    # default
  headers: {}                                     # default
  timeout: 0                                      # default
  compression: ""                                 # default
  certificate: ""                                 # default
  client_certificate: ""                          # default
  client_key: ""                                  # default
  interval: 0                                     # default
  temporality: ""                                 # default
  histograms: ""                                  # default
  queue: 16M                                      # default
log:
  level: debug                                    # environment GCLOG_LOG__LEVEL
  format: auto                                    # default
`
	if got := string(l.YAML(true, true)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if again := mustLoad(t, string(l.YAML(false, true))); string(again.YAML(false, true)) != string(l.YAML(false, true)) {
		t.Errorf("it is read as\n%s", again.YAML(false, true))
	}
	origins := map[string]Origin{}
	for _, o := range l.Origins() {
		origins[o.Path] = o
	}
	for _, want := range []Origin{
		{"discovery.exclude[0].pid", "gclog.yaml:3"},
		{"discovery.include", "default"},
		{"labels.text", "gclog.yaml:4"},
		{"labels.b", "environment GCLOG_LABELS__B"},
		{"outputs[1].filesize", "environment GCLOG_OUTPUTS__1__FILESIZE"},
	} {
		if got := origins[want.Path]; !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
