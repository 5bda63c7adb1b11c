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
	Retention Retention         `key:"retention" about:"when to delete the files of processes that have exited; never, if neither is set"`
	Summary   time.Duration     `key:"summary" is:"period" about:"interval between summary records of a process, at least 10s; 0: none"`
	LongPause time.Duration     `key:"long_pause" is:"threshold" about:"pause from which a JSON record is a warning"`
	Causes    string            `key:"causes" is:"causes" about:"GC causes in the JDK formats: java, which all readers know, or dotnet"`
	Control   Control           `key:"control" about:"administration of the daemon: gclog ctl and gclog health"`
	HTTP      HTTP              `key:"http" about:"health endpoints for every user of the host over TCP: /healthz and /readyz"`
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
	Keep        int           `key:"keep" is:"keep" about:"number of snapshots to keep of each process, and of the exited processes of each service, 1 to 100"`
	MaxHeap     int64         `key:"max_heap" is:"total" about:"no snapshot of a heap larger than this: the pause grows with the heap; 0: no limit"`
	Only        []Match       `key:"only" about:"processes to take snapshots of; all, if the list is empty"`
}

// Retention is when the files of processes that have exited are deleted. Zero: never.
type Retention struct {
	Total int64         `key:"total" is:"total" about:"maximum total size of the files of exited processes; the oldest are deleted first"`
	Age   time.Duration `key:"age" is:"age" about:"maximum time since the last record of an exited process"`
}

// Control is how the daemon is administered.
type Control struct {
	Socket string `key:"socket" is:"control" about:"unix socket for root and the user of the daemon (a pipe on Windows): auto is /run/gclog/ctl.sock for root, else ctl.sock in $RUNTIME_DIRECTORY or $XDG_RUNTIME_DIR/gclog; \"\": none"`
}

// HTTP is what is served over TCP.
type HTTP struct {
	Listen string `key:"listen" is:"address" about:"HOST:PORT; \"\": none"`
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
		Summary:   5 * time.Minute,
		LongPause: 200 * time.Millisecond,
		Causes:    "java",
		Control:   Control{Socket: control.Auto},
		Log:       Log{Level: "info", Format: "auto"},
	}
	c.Outputs[0].Path = "gclog-logs/%s-%p.json"
	return c
}

// defaultOutput returns an output of which only the destination is given.
func defaultOutput() Output { return Output{FileCount: 5, FileSize: 10 << 20, Mode: 0o640} }

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
