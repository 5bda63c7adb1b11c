// Package config is the configuration of the daemon: one YAML file, overridden by environment
// variables and completed by defaults. It records where each value came from, and reports
// everything that is wrong with a file at once.
//
// The structs below are the only list of the keys. Their tags contain the name of a key, the kind
// of its value (see kinds) and its purpose; the reader, the JSON Schema and the table of
// docs/configuration.md are generated from them.
package config

import (
	"io/fs"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/control"
	"github.com/gclog/gclog/internal/metrics"
)

// A Config is what the daemon does.
type Config struct {
	Version   int               `key:"version" is:"version" about:"version of the configuration format"`
	Discovery Discovery         `key:"discovery" about:"which processes to log, and how to find them"`
	Session   Session           `key:"session" about:"what to request from the runtimes"`
	Services  []Service         `key:"services" about:"rules for services; the first match applies"`
	Labels    map[string]string `key:"labels" is:"label" about:"labels of every JSON record: keys of letters, digits, _ and -"`
	Outputs   []Output          `key:"outputs" about:"what to write; all outputs of the list are written"`
	Heap      Heap              `key:"heap" about:"heap snapshots"`
	Rules     []Rule            `key:"rules" about:"what to do when something happens to a process: docs/rules.md"`
	Recorder  Recorder          `key:"recorder" about:"the flight recorder: what rules with the action record write"`
	Parquet   Parquet           `key:"parquet" about:"Parquet files with the records of all processes, for DuckDB, ClickHouse, Spark and the like (docs/fleet.md)"`
	Retention Retention         `key:"retention" about:"when to delete the files of processes that have exited, and complete Parquet files"`
	Summary   time.Duration     `key:"summary" is:"period" about:"interval between summary records of a process, at least 10s; 0: none"`
	LongPause time.Duration     `key:"long_pause" is:"threshold" about:"pause from which a JSON record is a warning"`
	Causes    string            `key:"causes" is:"causes" about:"GC causes in the JDK formats: java, which all readers know, or dotnet"`
	Control   Control           `key:"control" about:"administration of the daemon: gclog ctl and gclog health"`
	HTTP      HTTP              `key:"http" about:"what is served over TCP: /healthz and /readyz for every user of the host, and /metrics if metrics.enabled is set"`
	Metrics   Metrics           `key:"metrics" about:"metrics of all processes and of gclog"`
	OTLP      OTLP              `key:"otlp" about:"what is sent to an OpenTelemetry collector or backend, by HTTP with protobuf (docs/otlp.md)"`
	Log       Log               `key:"log" about:"the daemon's own log, on standard error"`
}

// Discovery is which processes to log, and how to find them.
type Discovery struct {
	Interval     time.Duration `key:"interval" is:"interval" about:"interval between scans for processes, at least 100ms"`
	Listen       []string      `key:"listen" is:"socket" about:"diagnostic ports: sockets that runtimes with DOTNET_DiagnosticPorts connect to"`
	Include      []Match       `key:"include" about:"processes to log; all, if the list is empty"`
	Exclude      []Match       `key:"exclude" about:"processes not to log; takes precedence over include"`
	MaxProcesses int           `key:"max_processes" is:"processes" about:"maximum number of processes logged at the same time, 1 to 5000; while others wait, a single user other than root gets at most half of them"`
}

// A Match is a condition on a process. All given patterns must fit; * matches any text, ? one
// character, and case is ignored.
type Match struct {
	Process       string `key:"process" is:"pattern" about:"pattern of a name: the program's, its executable's, or that of the service in its environment"`
	CommandLine   string `key:"command_line" is:"pattern" about:"pattern of the command line, arguments separated by spaces"`
	EntryAssembly string `key:"entry_assembly" is:"pattern" about:"pattern of the entry assembly, without .dll"`
	Service       string `key:"service" is:"pattern" about:"pattern of the service"`
	Namespace     string `key:"namespace" is:"pattern" about:"pattern of the Kubernetes namespace"`
	User          string `key:"user" is:"pattern" about:"pattern of the user's name"`
	Container     string `key:"container" is:"pattern" about:"pattern of the container's id or name"`
	PID           string `key:"pid" is:"pid" about:"pattern of the pid on this host"`
}

// Session is what to request from the runtimes.
type Session struct {
	Level     string   `key:"level" is:"level" about:"what a runtime reports: light, normal (with background phases) or full (with allocations and pinned objects; costs more)"`
	Providers []string `key:"providers" is:"provider" about:"additional events in the syntax of dotnet-trace: NAME:KEYWORDS:LEVEL[:FILTER]"`
}

// A Service is a rule for the processes that it fits.
type Service struct {
	Match Match  `key:"match" about:"processes that the rule applies to"`
	Name  string `key:"name" is:"name" about:"name of the service, instead of the detected one"`
	Level string `key:"level" is:"level" about:"level, instead of session.level"`
}

// An Output is what is written: Path and Format, or Xlog.
type Output struct {
	Path          string      `key:"path" is:"path" about:"file; placeholders: %p pid, %t start, %hn host, %n name, %s service, %c container, %P pod, %N namespace, %% percent sign"`
	Xlog          string      `key:"xlog" is:"xlog" about:"Java's -Xlog option for a file, instead of path and format"`
	Format        string      `key:"format" is:"format" about:"format; by default determined by the file's extension"`
	FileCount     int         `key:"filecount" is:"count" about:"number of old files to keep; 0: no rotation"`
	FileSize      int64       `key:"filesize" is:"size" about:"size at which the file is rotated"`
	RotationNames string      `key:"rotation_names" is:"naming" about:"names of old files: timestamp (the default of path) or index (the default of xlog)"`
	Mode          fs.FileMode `key:"mode" is:"mode" about:"permissions of the files, quoted"`
	Su            Su          `key:"su" about:"write as a user other than gclog's: for directories that belong to that user, which gclog otherwise refuses (Linux)"`
	Only          []Match     `key:"only" about:"processes to write to this output; all, if the list is empty"`
}

// Su is the user that an output is written as, like su of logrotate.
type Su struct {
	User  string `key:"user" is:"account" about:"name or uid"`
	Group string `key:"group" is:"account" about:"name or gid; by default the user's own group"`
}

// Heap is what the daemon does about heap snapshots.
type Heap struct {
	Auto HeapAuto `key:"auto" about:"snapshots of processes whose heap grows"`
}

// HeapAuto is when the daemon takes a heap snapshot.
type HeapAuto struct {
	Enabled     bool          `key:"enabled" is:"flag" about:"take a heap snapshot when full collections of a process leave more and more: each one pauses the program (docs/heap.md)"`
	Directory   string        `key:"directory" is:"directory" about:"where the snapshots are written; by default heap in the directory of the first output, or heap/%hn if that has %hn; each daemon needs one of its own"`
	Growth      int           `key:"growth" is:"growth" about:"how much more they must leave than they did before, 1% to 1000%"`
	Collections int           `key:"collections" is:"fullgcs" about:"number of full collections in a row that must leave that much, 2 to 100"`
	Cooldown    time.Duration `key:"cooldown" is:"cooldown" about:"minimum time between two snapshots of a process, and after one that could not be taken; at least 1m"`
	Keep        int           `key:"keep" is:"keep" about:"number of snapshots to keep of each process, and of the exited processes of each user and service, 1 to 100"`
	MaxHeap     int64         `key:"max_heap" is:"total" about:"no snapshot of a heap larger than this: the pause grows with the heap; 0: no limit"`
	Only        []Match       `key:"only" about:"processes to take snapshots of; all, if the list is empty"`
}

// A Rule is what to do when something happens to a process.
type Rule struct {
	Name     string        `key:"name" is:"name" about:"name of the rule, in messages and in what its actions receive"`
	Event    string        `key:"event" is:"event" about:"what it is about: gc (a finished collection), pause, stall, gap, finding or exit"`
	When     string        `key:"when" is:"condition" about:"condition on it, such as pause > 500ms && generation == 2; gclog rules fields lists the fields; optional, except for gc and pause"`
	For      time.Duration `key:"for" is:"wait" about:"how long the condition must have been true, at each gc or pause in that time; the rule then fires once until it has been false"`
	Every    time.Duration `key:"every" is:"wait" about:"while the condition stays true, fire again at this interval"`
	Cooldown time.Duration `key:"cooldown" is:"wait" about:"minimum time until the rule fires again for the same process"`
	Only     []Match       `key:"only" about:"processes that it applies to; all, if the list is empty"`
	Do       []Action      `key:"do" about:"what to do, one action for each element"`
}

// An Action is one thing to do: one of its fields is set.
type Action struct {
	Log          string        `key:"log" is:"severity" about:"write a line with this level to the daemon's own log: info, warn or error"`
	Record       RecordAction  `key:"record" about:"write a recording (.nettrace) of the time around it, from memory"`
	Level        LevelAction   `key:"level" about:"change the level of the process's session for some time"`
	Exec         ExecAction    `key:"exec" about:"run a command with the record on its standard input"`
	Webhook      WebhookAction `key:"webhook" about:"post the record to a URL"`
	HeapSnapshot bool          `key:"heap_snapshot" is:"flag" about:"take a heap snapshot, with the settings of heap.auto"`
}

// RecordAction is the part of the stream that is recorded.
type RecordAction struct {
	Before time.Duration `key:"before" is:"window" about:"how much to record from before it, 1s to 10m"`
	After  time.Duration `key:"after" is:"window" about:"how much to record from after it, 1s to 10m"`
}

// LevelAction is a change of level.
type LevelAction struct {
	To  string        `key:"to" is:"level" about:"the level: light, normal or full"`
	For time.Duration `key:"for" is:"lasting" about:"for how long, 10s to 1d"`
}

// ExecAction is a command.
type ExecAction struct {
	Command []string      `key:"command" is:"argument" about:"the program and its arguments; no shell is involved"`
	Su      Su            `key:"su" about:"run as a user other than gclog's (Linux)"`
	Timeout time.Duration `key:"timeout" is:"timeout" about:"when it is killed, 1s to 1h"`
}

// WebhookAction is a URL that receives records.
type WebhookAction struct {
	URL     Secret        `key:"url" is:"url" about:"http or https; a secret"`
	Secret  Secret        `key:"secret" is:"secret" about:"what signs what is sent: X-Gclog-Signature is the HMAC-SHA256 of the body; a secret"`
	Timeout time.Duration `key:"timeout" is:"timeout" about:"how long one attempt may take, 1s to 1h"`
}

// Recorder is the flight recorder.
type Recorder struct {
	Memory    int64  `key:"memory" is:"memory" about:"memory for the streams of all processes together, at least 1M; if it is not enough, recordings begin later"`
	Directory string `key:"directory" is:"directory" about:"where recordings are written; by default recordings in the directory of the first output, or recordings/%hn if that has %hn"`
	Keep      int    `key:"keep" is:"keep" about:"number of recordings to keep of each process, and of the exited processes of each user and service, 1 to 100"`
}

// Parquet is what is written as a table.
type Parquet struct {
	Path     string        `key:"path" is:"tablepath" about:"files; \"\": none; placeholders: %d date and %H hour of the records (UTC), %hn host, %s service and the others of outputs[].path; the time of writing is added to the names; each daemon needs files of its own"`
	Interval time.Duration `key:"interval" is:"filetime" about:"how often files are completed, at least 1m: a file that is not complete cannot be read"`
	MaxRows  int           `key:"max_rows" is:"rows" about:"files are completed earlier if there are that many records, 1000 to 100000000"`
	Mode     fs.FileMode   `key:"mode" is:"mode" about:"permissions of the files, quoted"`
	Only     []Match       `key:"only" about:"processes in the files; all, if the list is empty"`
}

// AutoTotal is the Total of a Retention that depends on the size of the file systems: a tenth, at most
// AutoTotalMost bytes.
const (
	AutoTotal     = -1
	AutoTotalMost = 10 << 30
)

// Retention is when the files of processes that have exited are deleted. Zero: never.
type Retention struct {
	Total int64         `key:"total" is:"space" about:"maximum total size of the files of exited processes and of complete Parquet files; auto: a tenth of each file system, at most 10G; 0: no limit; the user with the most loses files first, of the service with the most, the oldest first"`
	Age   time.Duration `key:"age" is:"age" about:"maximum time since the last record of an exited process"`
}

// Control is how the daemon is administered.
type Control struct {
	Socket string `key:"socket" is:"control" about:"unix socket for root and the user of the daemon (a pipe on Windows): auto is /run/gclog/ctl.sock for root, else ctl.sock in $RUNTIME_DIRECTORY or $XDG_RUNTIME_DIR/gclog; \"\": none"`
}

// HTTP is what is served over TCP.
type HTTP struct {
	Listen    string `key:"listen" is:"address" about:"HOST:PORT; \"\": none"`
	WebConfig string `key:"web_config" is:"pem" about:"file with the TLS certificate and the users for /metrics, in the format of Prometheus's exporters (docs/metrics.md); \"\": none"`
}

// Metrics is which metrics there are.
type Metrics struct {
	Enabled    bool   `key:"enabled" is:"flag" about:"serve /metrics at http.listen, for Prometheus (docs/metrics.md)"`
	Names      string `key:"names" is:"metrics" about:"names of metrics: otel as .NET 9 and later emit them, dotnetruntime as prometheus-net.DotNetRuntime, or both"`
	Attributes string `key:"attributes" is:"attrs" about:"names of labels and attributes: runtime as .NET emits them (gc.heap.generation), or semconv as in OpenTelemetry's conventions (dotnet.gc.heap.generation)"`
	MaxSeries  int    `key:"max_series" is:"series" about:"maximum number of series; processes beyond it are left out, and counted"`
}

// OTLP is what is sent to OpenTelemetry. What is zero is taken from the standard variables OTEL_*, or
// has their default.
type OTLP struct {
	Metrics           bool              `key:"metrics" is:"flag" about:"send the metrics of docs/metrics.md"`
	Logs              bool              `key:"logs" is:"flag" about:"send each record as a log record"`
	Traces            bool              `key:"traces" is:"flag" about:"send each pause as a span"`
	Endpoint          Secret            `key:"endpoint" is:"endpoint" about:"URL that /v1/metrics and the like are appended to, which may have a password; a secret; by default $OTEL_EXPORTER_OTLP_ENDPOINT, or http://localhost:4318"`
	Headers           map[string]Secret `key:"headers" is:"header" about:"headers of each request, added to $OTEL_EXPORTER_OTLP_HEADERS; each is a secret"`
	Timeout           time.Duration     `key:"timeout" is:"patience" about:"maximum time of a request; 0: $OTEL_EXPORTER_OTLP_TIMEOUT, or 10s"`
	Compression       string            `key:"compression" is:"zip" about:"gzip or none; by default $OTEL_EXPORTER_OTLP_COMPRESSION, or gzip"`
	Certificate       string            `key:"certificate" is:"pem" about:"PEM file with the certificates that the server's is checked against; by default $OTEL_EXPORTER_OTLP_CERTIFICATE, or those of the system"`
	ClientCertificate string            `key:"client_certificate" is:"pem" about:"PEM file with gclog's own certificate; by default $OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"`
	ClientKey         string            `key:"client_key" is:"pem" about:"PEM file with its key; by default $OTEL_EXPORTER_OTLP_CLIENT_KEY"`
	Interval          time.Duration     `key:"interval" is:"every" about:"interval between two exports of metrics, at least 1s; 0: $OTEL_METRIC_EXPORT_INTERVAL, or 1m"`
	Temporality       string            `key:"temporality" is:"tempo" about:"cumulative, delta or lowmemory; by default $OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE, or cumulative"`
	Histograms        string            `key:"histograms" is:"histogram" about:"explicit (the buckets of docs/metrics.md) or exponential (finer); by default $OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION, or explicit"`
	Queue             int64             `key:"queue" is:"queue" about:"how much memory records may take that wait to be sent; further ones are dropped, and counted"`
}

// Log is the daemon's own log.
type Log struct {
	Level  string `key:"level" is:"loglevel" about:"minimum level: debug, info, warn or error"`
	Format string `key:"format" is:"logformat" about:"json, console, or auto: console on a terminal, else json"`
}

// Default returns the configuration without a file: JSON lines for every process.
func Default() *Config {
	c := defaults()
	c.complete()
	return c
}

func defaults() *Config {
	c := &Config{
		Version:   1,
		Discovery: Discovery{Interval: 3 * time.Second, MaxProcesses: 500},
		Session:   Session{Level: "normal"},
		Outputs:   []Output{defaultOutput()},
		Heap:      Heap{Auto: HeapAuto{Growth: 20, Collections: 5, Cooldown: time.Hour, Keep: 3}},
		Parquet:   Parquet{Interval: time.Hour, MaxRows: 1_000_000, Mode: 0o640},
		Recorder:  Recorder{Memory: 64 << 20, Keep: 10},
		Retention: Retention{Total: AutoTotal},
		Summary:   5 * time.Minute,
		LongPause: 200 * time.Millisecond,
		Causes:    "java",
		Control:   Control{Socket: control.Auto},
		Metrics:   Metrics{Names: metrics.NamesOTel, Attributes: metrics.AttributesRuntime, MaxSeries: 200_000},
		OTLP:      OTLP{Queue: 16 << 20},
		Log:       Log{Level: "info", Format: "auto"},
	}
	c.Outputs[0].Path = "gclog-logs/%s-%p.json"
	return c
}

// defaultOutput returns an output of which only the destination is given.
func defaultOutput() Output { return Output{FileCount: 5, FileSize: 10 << 20, Mode: 0o640} }

// defaultAction returns an action of which nothing is given.
func defaultAction() Action {
	return Action{
		Record: RecordAction{After: 5 * time.Second}, Level: LevelAction{For: 5 * time.Minute},
		Exec: ExecAction{Timeout: 30 * time.Second}, Webhook: WebhookAction{Timeout: 10 * time.Second},
	}
}

// complete fills in values that follow from others.
func (c *Config) complete() {
	for i := range c.Outputs {
		o := &c.Outputs[i]
		if o.Format == "" && o.Xlog == "" {
			o.Format = formats.ForFile(o.Path).Name
		}
		switch {
		case o.RotationNames != "":
		case o.Xlog != "":
			o.RotationNames = "index" // as HotSpot does
		default:
			o.RotationNames = "timestamp"
		}
	}
}
