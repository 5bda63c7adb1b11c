// Package config is the configuration of the daemon: one YAML file, overridden by environment
// variables and completed by defaults. It records where each value came from, and reports
// everything that is wrong with a file at once.
//
// The structs below are the only list of the keys. Their tags contain the name of a key and the kind
// of its value (see kinds); keys.txtar has its purpose. The reader, the JSON Schema and the table of
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
	Version   int               `key:"version" is:"version"`
	Discovery Discovery         `key:"discovery"`
	Session   Session           `key:"session"`
	Services  []Service         `key:"services"`
	Labels    map[string]string `key:"labels" is:"label"`
	Outputs   []Output          `key:"outputs"`
	Heap      Heap              `key:"heap"`
	Rules     []Rule            `key:"rules"`
	Recorder  Recorder          `key:"recorder"`
	Parquet   Parquet           `key:"parquet"`
	Retention Retention         `key:"retention"`
	Summary   time.Duration     `key:"summary" is:"period"`
	LongPause time.Duration     `key:"long_pause" is:"threshold"`
	Causes    string            `key:"causes" is:"causes"`
	Control   Control           `key:"control"`
	HTTP      HTTP              `key:"http"`
	Metrics   Metrics           `key:"metrics"`
	OTLP      OTLP              `key:"otlp"`
	Log       Log               `key:"log"`
}

// Discovery is which processes to log, and how to find them.
type Discovery struct {
	Interval     time.Duration `key:"interval" is:"interval"`
	Listen       []string      `key:"listen" is:"socket"`
	Include      []Match       `key:"include"`
	Exclude      []Match       `key:"exclude"`
	MaxProcesses int           `key:"max_processes" is:"processes"`
}

// A Match is a condition on a process. All given patterns must fit; * matches any text, ? one
// character, and case is ignored.
type Match struct {
	Process       string `key:"process" is:"pattern"`
	CommandLine   string `key:"command_line" is:"pattern"`
	EntryAssembly string `key:"entry_assembly" is:"pattern"`
	Service       string `key:"service" is:"pattern"`
	Namespace     string `key:"namespace" is:"pattern"`
	User          string `key:"user" is:"pattern"`
	Container     string `key:"container" is:"pattern"`
	PID           string `key:"pid" is:"pid"`
}

// Session is what to request from the runtimes.
type Session struct {
	Level     string        `key:"level" is:"level"`
	Providers []string      `key:"providers" is:"provider"`
	Counters  time.Duration `key:"counters" is:"counters"`
}

// A Service is a rule for the processes that it fits.
type Service struct {
	Match Match  `key:"match"`
	Name  string `key:"name" is:"name"`
	Level string `key:"level" is:"level"`
}

// An Output is what is written: Path and Format, or Xlog.
type Output struct {
	Path          string      `key:"path" is:"path"`
	Xlog          string      `key:"xlog" is:"xlog"`
	Format        string      `key:"format" is:"format"`
	FileCount     int         `key:"filecount" is:"count"`
	FileSize      int64       `key:"filesize" is:"size"`
	RotationNames string      `key:"rotation_names" is:"naming"`
	Mode          fs.FileMode `key:"mode" is:"mode"`
	Su            Su          `key:"su"`
	Only          []Match     `key:"only"`
}

// Su is the user that an output is written as, like su of logrotate.
type Su struct {
	User  string `key:"user" is:"account"`
	Group string `key:"group" is:"account"`
}

// Heap is what the daemon does about heap snapshots.
type Heap struct {
	Auto HeapAuto `key:"auto"`
}

// HeapAuto is when the daemon takes a heap snapshot.
type HeapAuto struct {
	Enabled     bool          `key:"enabled" is:"flag"`
	Directory   string        `key:"directory" is:"directory"`
	Growth      int           `key:"growth" is:"growth"`
	Collections int           `key:"collections" is:"fullgcs"`
	Cooldown    time.Duration `key:"cooldown" is:"cooldown"`
	Keep        int           `key:"keep" is:"keep"`
	MaxHeap     int64         `key:"max_heap" is:"total"`
	Only        []Match       `key:"only"`
}

// A Rule is what to do when something happens to a process.
type Rule struct {
	Name     string        `key:"name" is:"name"`
	Event    string        `key:"event" is:"event"`
	When     string        `key:"when" is:"condition"`
	For      time.Duration `key:"for" is:"wait"`
	Every    time.Duration `key:"every" is:"wait"`
	Cooldown time.Duration `key:"cooldown" is:"wait"`
	Only     []Match       `key:"only"`
	Do       []Action      `key:"do"`
}

// An Action is one thing to do: one of its fields is set.
type Action struct {
	Log          string        `key:"log" is:"severity"`
	Record       RecordAction  `key:"record"`
	Level        LevelAction   `key:"level"`
	Exec         ExecAction    `key:"exec"`
	Webhook      WebhookAction `key:"webhook"`
	HeapSnapshot bool          `key:"heap_snapshot" is:"flag"`
}

// RecordAction is the part of the stream that is recorded.
type RecordAction struct {
	Before time.Duration `key:"before" is:"window"`
	After  time.Duration `key:"after" is:"window"`
}

// LevelAction is a change of level.
type LevelAction struct {
	To  string        `key:"to" is:"level"`
	For time.Duration `key:"for" is:"lasting"`
}

// ExecAction is a command.
type ExecAction struct {
	Command []string      `key:"command" is:"argument"`
	Su      Su            `key:"su"`
	Timeout time.Duration `key:"timeout" is:"timeout"`
}

// WebhookAction is a URL that receives records.
type WebhookAction struct {
	URL     Secret        `key:"url" is:"url"`
	Secret  Secret        `key:"secret" is:"secret"`
	Timeout time.Duration `key:"timeout" is:"timeout"`
}

// Recorder is the flight recorder.
type Recorder struct {
	Memory    int64  `key:"memory" is:"memory"`
	Directory string `key:"directory" is:"directory"`
	Keep      int    `key:"keep" is:"keep"`
}

// Parquet is what is written as a table.
type Parquet struct {
	Path     string        `key:"path" is:"tablepath"`
	Interval time.Duration `key:"interval" is:"filetime"`
	MaxRows  int           `key:"max_rows" is:"rows"`
	Mode     fs.FileMode   `key:"mode" is:"mode"`
	Only     []Match       `key:"only"`
}

// AutoTotal is the Total of a Retention that depends on the size of the file systems: a tenth, at most
// AutoTotalMost bytes.
const (
	AutoTotal     = -1
	AutoTotalMost = 10 << 30
)

// Retention is when the files of processes that have exited are deleted. Zero: never.
type Retention struct {
	Total int64         `key:"total" is:"space"`
	Age   time.Duration `key:"age" is:"age"`
}

// Control is how the daemon is administered.
type Control struct {
	Socket string `key:"socket" is:"control"`
}

// HTTP is what is served over TCP.
type HTTP struct {
	Listen    string `key:"listen" is:"address"`
	WebConfig string `key:"web_config" is:"pem"`
}

// Metrics is which metrics there are.
type Metrics struct {
	Enabled    bool   `key:"enabled" is:"flag"`
	Names      string `key:"names" is:"metrics"`
	Attributes string `key:"attributes" is:"attrs"`
	MaxSeries  int    `key:"max_series" is:"series"`
}

// OTLP is what is sent to OpenTelemetry. What is zero is taken from the standard variables OTEL_*, or
// has their default.
type OTLP struct {
	Metrics           bool              `key:"metrics" is:"flag"`
	Logs              bool              `key:"logs" is:"flag"`
	Traces            bool              `key:"traces" is:"flag"`
	Endpoint          Secret            `key:"endpoint" is:"endpoint"`
	Headers           map[string]Secret `key:"headers" is:"header"`
	Timeout           time.Duration     `key:"timeout" is:"patience"`
	Compression       string            `key:"compression" is:"zip"`
	Certificate       string            `key:"certificate" is:"pem"`
	ClientCertificate string            `key:"client_certificate" is:"pem"`
	ClientKey         string            `key:"client_key" is:"pem"`
	Interval          time.Duration     `key:"interval" is:"every"`
	Temporality       string            `key:"temporality" is:"tempo"`
	Histograms        string            `key:"histograms" is:"histogram"`
	Queue             int64             `key:"queue" is:"queue"`
}

// Log is the daemon's own log.
type Log struct {
	Level  string `key:"level" is:"loglevel"`
	Format string `key:"format" is:"logformat"`
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
