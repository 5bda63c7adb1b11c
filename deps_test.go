package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
)

const module = "github.com/gclog/gclog"

// arrows lists the imports that a package may have, of this module and of others; the standard
// library is allowed except for what is forbidden below. Imports go in one direction, so that each
// package can be understood with those below it.
var arrows = map[string][]string{
	"":                     {"internal/cli"},
	"parse":                {},
	"parse/clr":            {"parse"},
	"gclog":                {"parse", "parse/clr"},
	"gclog/heap":           {"gclog/stacks", "gclog/heap/ecma335", "gclog/heap/nativeaot", "parse", "parse/clr"},
	"gclog/heap/nativeaot": {},
	"gclog/stacks":         {"gclog", "parse", "parse/clr"},
	"gclog/heap/ecma335":   {},
	"gclog/analysis":       {"gclog", "parse/clr", "github.com/HdrHistogram/hdrhistogram-go", "golang.org/x/tools/txtar"},
	"session":              {"github.com/Microsoft/go-winio", "golang.org/x/sys/unix", "golang.org/x/sys/windows"},
	"formats/fields":       {"gclog", "parse/clr"},
	"formats":              {"formats/fields", "gclog", "parse/clr", "formats/screen"},
	"formats/logs":         {"formats", "formats/fields", "gclog", "parse/clr"},
	"formats/screen":       {"github.com/clipperhouse/displaywidth", "golang.org/x/term"},
	"internal/host":        {"session", "github.com/Microsoft/go-winio", "golang.org/x/sys/unix", "golang.org/x/sys/windows"},
	"internal/output":      {"internal/rotate", "formats", "formats/screen", "gclog", "internal/cause", "golang.org/x/sys/unix", "golang.org/x/sys/windows"},
	"internal/spelling":    {},
	"internal/cause":       {},
	"internal/callers":     {"formats", "gclog/stacks", "internal/flame", "parse/clr"},
	"internal/flame":       {"formats", "github.com/google/pprof/profile"},
	"internal/config": {
		"internal/rotate",
		"formats", "session", "internal/attach", "internal/cause", "internal/condition", "internal/control", "internal/output", "internal/rules", "internal/spelling", "internal/xlog", "internal/metrics",
		"github.com/goccy/go-yaml", "github.com/goccy/go-yaml/ast", "github.com/goccy/go-yaml/lexer", "github.com/goccy/go-yaml/parser", "github.com/goccy/go-yaml/token", "golang.org/x/tools/txtar",
	},
	"internal/actions":   {"internal/rotate", "formats", "internal/command", "internal/post", "internal/rules", "internal/shares", "github.com/cenkalti/backoff/v5"},
	"internal/command":   {"internal/rotate", "formats", "golang.org/x/sys/unix"},
	"internal/post":      {"formats"},
	"internal/shares":    {},
	"internal/condition": {"gclog/analysis", "internal/spelling"},
	"internal/control":   {"session", "internal/cause", "github.com/Microsoft/go-winio", "golang.org/x/sys/windows"},
	"internal/parquet": {
		"internal/rotate",
		"formats", "formats/fields", "gclog", "parse/clr", "internal/cause", "internal/output", "internal/shares",
		"github.com/klauspost/compress/zstd", "github.com/parquet-go/parquet-go/deprecated", "github.com/parquet-go/parquet-go/encoding/rle", "github.com/parquet-go/parquet-go/encoding/thrift", "github.com/parquet-go/parquet-go/format",
	},
	"internal/accesslog":  {"formats", "gclog/analysis", "internal/times"},
	"internal/rotate":     {"formats", "gclog", "gopkg.in/natefinch/lumberjack.v2", "golang.org/x/sys/unix"},
	"internal/rules":      {"formats", "formats/fields", "gclog", "gclog/analysis", "parse/clr", "internal/condition", "internal/spelling"},
	"internal/xlog":       {"internal/rotate", "formats", "internal/output"},
	"internal/gcsettings": {"gclog", "parse/clr", "internal/spelling"},
	"internal/metrics": {
		"formats", "gclog", "gclog/analysis", "parse/clr",
		"github.com/klauspost/compress/gzip", "github.com/prometheus/client_golang/prometheus", "github.com/prometheus/common/expfmt", "google.golang.org/protobuf/encoding/protowire",
	},
	"internal/otlp": {
		"formats", "formats/fields", "gclog", "internal/cause", "internal/config", "internal/metrics", "internal/post", "internal/shares",
		"github.com/cenkalti/backoff/v5", "github.com/prometheus/client_model/go", "google.golang.org/protobuf/encoding/protowire", "google.golang.org/protobuf/proto",
		"go.opentelemetry.io/proto/slim/otlp/collector/logs/v1", "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1", "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1",
		"go.opentelemetry.io/proto/slim/otlp/common/v1", "go.opentelemetry.io/proto/slim/otlp/logs/v1", "go.opentelemetry.io/proto/slim/otlp/metrics/v1", "go.opentelemetry.io/proto/slim/otlp/resource/v1", "go.opentelemetry.io/proto/slim/otlp/trace/v1",
	},
	"internal/nettrace": {"gclog", "parse", "parse/clr"},
	"internal/flight":   {"internal/rotate", "formats", "gclog", "parse", "internal/cause", "internal/nettrace", "internal/output", "internal/shares"},
	"internal/attach":   {"formats", "gclog", "gclog/analysis", "gclog/stacks", "parse", "parse/clr", "session", "internal/host", "internal/flight", "internal/gcsettings", "internal/nettrace", "internal/output"},
	"internal/top": {
		"formats", "formats/logs", "formats/screen", "gclog", "gclog/analysis", "gclog/stacks", "parse/clr", "session", "internal/host", "internal/attach", "internal/callers", "internal/control", "internal/history", "internal/view",
		"charm.land/bubbletea/v2",
	},
	"internal/report":      {"formats", "formats/fields", "gclog", "gclog/analysis", "internal/view"},
	"internal/view":        {"formats", "formats/fields", "formats/screen", "gclog", "gclog/analysis"},
	"internal/unpack":      {"formats", "github.com/klauspost/compress/zstd"},
	"internal/times":       {},
	"internal/history":     {"internal/rotate", "formats", "formats/logs", "gclog", "gclog/analysis", "parse", "parse/clr", "internal/times", "internal/attach", "internal/cause", "internal/output", "internal/unpack"},
	"internal/doctor":      {"internal/rotate", "formats", "formats/logs", "gclog", "gclog/analysis", "parse", "parse/clr", "session", "internal/host", "internal/attach", "internal/config", "internal/control", "internal/history", "internal/output", "internal/unpack", "golang.org/x/sys/unix", "golang.org/x/tools/txtar"},
	"internal/fakeruntime": {"github.com/Microsoft/go-winio", "golang.org/x/sys/unix"},
	"internal/daemon": {
		"internal/rotate",
		"formats", "formats/logs", "gclog", "gclog/heap", "session", "internal/host", "internal/actions", "internal/attach", "internal/cause", "internal/command", "internal/config", "internal/control", "internal/flight", "internal/metrics", "internal/nettrace", "internal/otlp", "internal/parquet", "internal/output", "internal/rules",
		"github.com/cenkalti/backoff/v5", "github.com/coreos/go-systemd/v22/daemon", "github.com/rs/zerolog", "golang.org/x/sys/unix",
		"github.com/goccy/go-yaml", "github.com/prometheus/client_golang/prometheus", "github.com/prometheus/client_golang/prometheus/collectors", "github.com/prometheus/client_model/go", "github.com/prometheus/exporter-toolkit/web", "golang.org/x/crypto/bcrypt", "golang.org/x/time/rate",
	},
	// Rooms of commands, and below them what they share. Of one room another uses only what is named
	// here: a report shows heap snapshots; tune runs programs as run does, and compares as compare does.
	"internal/cli": {
		"internal/cli/analyse", "internal/cli/callers", "internal/cli/compare", "internal/cli/exit", "internal/cli/flags", "internal/cli/heap", "internal/cli/live", "internal/cli/node", "internal/cli/program", "internal/cli/record", "internal/cli/results", "internal/cli/subject", "internal/cli/tune",
		"formats", "formats/screen", "gclog/analysis", "internal/attach", "internal/command", "internal/config", "internal/host", "internal/rules", "internal/spelling", "internal/xlog",
		"github.com/urfave/cli/v2", "golang.org/x/tools/txtar",
	},
	"internal/cli/analyse": {
		"internal/cli/assess", "internal/cli/callers", "internal/cli/exit", "internal/cli/flags", "internal/cli/heap", "internal/cli/lists", "internal/cli/outfile", "internal/cli/program", "internal/cli/results", "internal/cli/subject", "internal/cli/watch",
		"formats", "formats/logs", "formats/screen", "gclog", "gclog/analysis", "internal/accesslog", "internal/history", "internal/output", "internal/report", "internal/rotate", "internal/unpack", "internal/view",
		"github.com/urfave/cli/v2",
	},
	"internal/cli/callers": {
		"internal/cli/assess", "internal/cli/exit", "internal/cli/flags", "internal/cli/lists", "internal/cli/program", "internal/cli/results", "internal/cli/subject", "internal/cli/watch",
		"formats", "formats/screen", "gclog", "gclog/stacks", "internal/attach", "internal/callers", "internal/doctor", "internal/flame", "internal/output", "internal/report", "internal/view", "parse", "session",
		"github.com/urfave/cli/v2",
	},
	"internal/cli/compare": {
		"internal/cli/assess", "internal/cli/exit", "internal/cli/flags", "internal/cli/outfile", "internal/cli/program", "internal/cli/results", "internal/cli/subject", "internal/cli/watch",
		"formats/screen", "gclog", "gclog/analysis", "internal/cause", "internal/condition", "internal/history", "internal/output", "internal/spelling", "internal/view", "parse",
		"github.com/urfave/cli/v2",
	},
	"internal/cli/tune": {
		"internal/cli/assess", "internal/cli/compare", "internal/cli/exit", "internal/cli/flags", "internal/cli/program", "internal/cli/record", "internal/cli/results", "internal/cli/subject",
		"formats", "formats/screen", "gclog", "gclog/analysis", "internal/attach", "internal/gcsettings", "internal/history", "internal/output", "internal/spelling", "internal/view",
		"github.com/urfave/cli/v2",
	},
	"internal/cli/heap": {
		"internal/cli/ctl", "internal/cli/exit", "internal/cli/flags", "internal/cli/lists", "internal/cli/outfile", "internal/cli/program", "internal/cli/results", "internal/cli/subject", "internal/cli/watch",
		"formats", "formats/screen", "gclog", "gclog/heap", "internal/attach", "internal/cause", "internal/command", "internal/control", "internal/daemon", "internal/doctor", "internal/flame", "internal/history", "internal/host", "internal/output", "internal/report", "internal/spelling", "internal/unpack", "internal/view", "parse", "session",
		"github.com/urfave/cli/v2", "golang.org/x/sys/unix", "golang.org/x/tools/txtar",
	},
	"internal/cli/live": {
		"internal/cli/ctl", "internal/cli/exit", "internal/cli/flags", "internal/cli/lists", "internal/cli/program", "internal/cli/results", "internal/cli/subject", "internal/cli/watch",
		"formats", "formats/screen", "gclog", "gclog/analysis", "internal/attach", "internal/doctor", "internal/gcsettings", "internal/history", "internal/host", "internal/metrics", "internal/spelling", "internal/top", "internal/unpack", "internal/view", "session",
		"github.com/prometheus/common/expfmt", "github.com/urfave/cli/v2",
	},
	"internal/cli/record": {
		"internal/cli/exit", "internal/cli/flags", "internal/cli/outfile", "internal/cli/program", "internal/cli/results", "internal/cli/subject", "internal/cli/watch",
		"formats", "formats/logs", "formats/screen", "gclog", "gclog/analysis", "internal/actions", "internal/attach", "internal/cause", "internal/command", "internal/condition", "internal/doctor", "internal/fakeruntime", "internal/flight", "internal/history", "internal/host", "internal/output", "internal/parquet", "internal/rotate", "internal/rules", "internal/view", "internal/xlog", "session",
		"github.com/urfave/cli/v2", "golang.org/x/sys/unix",
	},
	"internal/cli/node": {
		"internal/cli/ctl", "internal/cli/exit", "internal/cli/flags", "internal/cli/lists", "internal/cli/program", "internal/cli/results", "internal/cli/subject",
		"formats", "formats/screen", "gclog", "internal/condition", "internal/config", "internal/control", "internal/daemon", "internal/doctor", "internal/history", "internal/rules", "internal/view",
		"github.com/rs/zerolog", "github.com/rs/zerolog/diode", "github.com/urfave/cli/v2",
	},
	"internal/cli/assess": {
		"internal/cli/exit", "internal/cli/flags", "internal/cli/program", "internal/cli/subject", "internal/cli/watch",
		"formats", "formats/screen", "gclog", "gclog/analysis", "gclog/stacks", "internal/callers", "internal/doctor", "internal/history", "internal/spelling", "internal/view", "parse/clr",
		"github.com/urfave/cli/v2",
	},
	"internal/cli/watch": {
		"internal/cli/exit", "internal/cli/flags", "internal/cli/program", "internal/cli/subject",
		"formats", "gclog", "gclog/analysis", "internal/attach", "internal/doctor", "internal/history", "internal/host", "internal/view", "session",
		"github.com/urfave/cli/v2",
	},
	"internal/cli/subject": {
		"internal/cli/exit", "internal/cli/flags", "internal/cli/program",
		"formats", "formats/logs", "formats/screen", "gclog", "gclog/stacks", "internal/attach", "internal/history", "internal/host", "internal/output", "internal/rotate", "internal/spelling", "internal/times", "internal/unpack", "internal/view", "parse", "session",
		"github.com/urfave/cli/v2",
	},
	"internal/cli/lists": {
		"internal/cli/exit", "internal/cli/program",
		"formats", "formats/screen", "internal/output", "internal/view",
		"github.com/urfave/cli/v2",
	},
	"internal/cli/results": {
		"internal/cli/exit", "internal/cli/flags", "internal/cli/outfile", "internal/cli/program",
		"formats", "internal/output",
		"github.com/urfave/cli/v2",
	},
	"internal/cli/ctl": {
		"internal/cli/exit", "internal/cli/flags",
		"internal/config", "internal/control", "internal/view",
		"github.com/urfave/cli/v2",
	},
	"internal/cli/outfile": {
		"internal/cli/exit", "internal/cli/program",
		"internal/cause", "internal/output", "internal/rotate",
		"golang.org/x/sys/unix",
	},
	"internal/cli/flags": {
		"internal/cli/exit",
		"internal/condition", "internal/rules", "internal/spelling", "internal/unpack",
		"github.com/urfave/cli/v2",
	},
	"internal/cli/program": {
		"internal/cli/exit",
		"formats", "formats/screen", "internal/cause", "internal/host", "internal/output", "internal/view",
	},
	"internal/cli/exit": {
		"formats/logs", "internal/attach", "internal/host", "internal/output", "internal/rotate", "parse", "session",
	},
	// Only for tests and the demonstration of the Makefile.
	"internal/testing/nettracetest": {},
	"internal/testing/fakeshipper":  {},
	"internal/testing/pprof":        {},

	"internal/testing/fakenode/bench":   {"internal/testing/fakenode", "internal/testing/fakenode/check", "internal/testing/terminal", "golang.org/x/sys/unix"},
	"internal/testing/fakenode/check":   {"internal/testing/fakenode"},
	"internal/testing/child":            {},
	"internal/testing/ipc":              {},
	"internal/testing/syscalls":         {"golang.org/x/sys/unix"},
	"internal/testing/elffile":          {},
	"internal/testing/fakefuse":         {"internal/testing/child", "golang.org/x/sys/unix"},
	"internal/testing/fakenode":         {"internal/fakeruntime", "internal/testing/nettracetest", "parse/clr", "golang.org/x/sys/unix"},
	"internal/testing/recordings":       {"internal/testing/extent"},
	"internal/testing/evidence":         {},
	"internal/testing/rules":            {},
	"internal/testing/extent":           {},
	"internal/testing/known":            {},
	"internal/testing/gotest":           {"internal/testing/gcload"},
	"internal/testing/stages":           {},
	"internal/testing/harmless":         {},
	"internal/testing/fleet":            {"formats", "gclog", "internal/output", "internal/testing/recordings", "parse/clr"},
	"internal/testing/fleet/growth":     {"formats", "gclog", "internal/attach", "internal/parquet", "internal/unpack", "parse", "parse/clr"},
	"internal/testing/fleet/bench":      {"formats", "gclog", "internal/testing/fleet"},
	"internal/mutate":                   {},
	"internal/testing/generated":        {"internal/testing/recordings"},
	"internal/testing/terminal":         {"golang.org/x/sys/unix"},
	"internal/testing/totals":           {"internal/testing/generated"},
	"internal/testing/gcload":           {"internal/testing/recordings", "github.com/klauspost/compress/zstd"},
	"internal/testing/gcload/demo":      {"internal/testing/gcload", "internal/testing/recordings"},
	"internal/testing/gcload/long":      {"internal/testing/gcload"},
	"internal/testing/gcload/overhead":  {"internal/testing/extent", "internal/testing/gcload", "golang.org/x/sys/unix"},
	"internal/testing/gcload/snapshots": {"gclog", "gclog/heap", "internal/testing/gcload", "parse/clr", "session", "internal/host", "golang.org/x/sys/unix"},

	"internal/testing/program": {"internal/cli", "internal/testing/child", "internal/testing/evidence", "internal/testing/gcload", "internal/testing/recordings", "github.com/rogpeppe/go-internal/testscript", "golang.org/x/sys/unix"},
	"internal/testing/scripts": {
		"internal/fakeruntime", "internal/testing/evidence", "internal/testing/extent", "internal/testing/program", "internal/testing/recordings",
		"github.com/klauspost/compress/zstd", "github.com/parquet-go/parquet-go", "github.com/rogpeppe/go-internal/testscript", "golang.org/x/sys/unix",
	},
	"internal/testing/reserved": {"golang.org/x/sys/unix"},
	// They contain only tests, of gclog as a program.
	"internal/e2e/bench":   {},
	"internal/e2e/daemon":  {},
	"internal/e2e/deploy":  {},
	"internal/e2e/endure":  {},
	"internal/e2e/fleet":   {},
	"internal/e2e/hostile": {},
	"internal/e2e/live":    {},
	"internal/e2e/metrics": {},
	"internal/e2e/ship":    {},
}

// forbidden lists packages of the standard library that a package must not import, not even
// indirectly, with the reason.
var forbidden = map[string]map[string]string{
	"parse":          {"net": "it reads from an io.Reader", "encoding/json": "it is the hot path"},
	"parse/clr":      {"net": "it reads payloads", "encoding/json": "it is the hot path"},
	"gclog":          {"net": "events may come from anywhere", "encoding/json": "formats decides how records look"},
	"formats":        {"net/http": "it writes files"},
	"gclog/heap":     {"net": "events may come from anywhere", "encoding/json": "commands decide how results look"},
	"gclog/stacks":   {"net": "events may come from anywhere", "encoding/json": "commands decide how results look"},
	"gclog/analysis": {"net": "records may come from anywhere"},
}

type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
	Deps       []string
}

// packages lists the packages of the module as built for a platform.
func packages(t *testing.T, goos string) (list []listed) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports,Deps", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

func TestImportDirection(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range packages(t, goos) {
			name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
			allowed, known := arrows[name]
			if !known {
				t.Errorf("%s is in no place of the layout: add it to arrows", p.ImportPath)
				continue
			}
			for _, i := range p.Imports {
				short := strings.TrimPrefix(i, module+"/")
				if law := broken(name, short); law != "" {
					t.Errorf("%s: %s imports %s: %s", goos, p.ImportPath, i, law)
				}
				if strings.Contains(strings.SplitN(i, "/", 2)[0], ".") && !slices.Contains(allowed, short) {
					t.Errorf("%s: %s must not import %s", goos, p.ImportPath, i)
				}
			}
			for dep, why := range forbidden[name] {
				if slices.Contains(p.Deps, dep) {
					t.Errorf("%s: %s must not reach %s: %s", goos, p.ImportPath, dep, why)
				}
			}
			if (name == "parse" || name == "parse/clr") && slices.Contains(p.Imports, "unsafe") {
				t.Errorf("%s imports unsafe", p.ImportPath)
			}
		}
	}
}

// broken returns the law that an import breaks, whatever arrows says; "" if it breaks none.
func broken(name, imported string) string {
	test := func(name string) bool {
		return strings.HasPrefix(name, "internal/testing/") || name == "internal/mutate"
	}
	switch {
	case name != "" && !strings.HasPrefix(name, "internal/") && strings.HasPrefix(imported, "internal/"):
		return "a package of the library needs nothing but the library"
	case !test(name) && test(imported):
		return "it is for tests only"
	}
	return ""
}

// dependencies are the modules that may be required directly. Adding one is a decision, not an
// accident.
var dependencies = []string{
	"charm.land/bubbletea/v2",
	"github.com/HdrHistogram/hdrhistogram-go", "github.com/Microsoft/go-winio", "github.com/cenkalti/backoff/v5", "github.com/clipperhouse/displaywidth", "github.com/coreos/go-systemd/v22", "github.com/goccy/go-yaml", "github.com/google/pprof",
	"github.com/klauspost/compress", "github.com/parquet-go/parquet-go", "github.com/prometheus/client_golang", "github.com/prometheus/client_model", "github.com/prometheus/common", "github.com/prometheus/exporter-toolkit",
	"github.com/rs/zerolog", "github.com/urfave/cli/v2", "golang.org/x/crypto", "golang.org/x/sys", "golang.org/x/term", "golang.org/x/time", "golang.org/x/tools", "go.opentelemetry.io/proto/slim/otlp", "google.golang.org/protobuf",
	"gopkg.in/natefinch/lumberjack.v2",
	// For tests only.
	"github.com/google/go-cmp", "github.com/rogpeppe/go-internal", "go.uber.org/goleak",
}

func TestDependencies(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mod)) {
		m := regexp.MustCompile(`^(?:require )?\t?(\S+\.\S+/\S+) v\S+\n$`).FindStringSubmatch(line)
		if m != nil && !slices.Contains(dependencies, m[1]) {
			t.Errorf("go.mod requires %s, which is not in the list of dependencies", m[1])
		}
	}
}

// TestPackageComments: each package has one package comment, which says more than its name.
func TestPackageComments(t *testing.T) {
	for _, p := range packages(t, "linux") {
		var comments []string
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if f.Doc != nil {
				comments = append(comments, f.Doc.Text())
			}
		}
		if len(comments) != 1 || len(comments[0]) < 60 {
			t.Errorf("%s has %d package comments: %q", p.ImportPath, len(comments), comments)
		}
	}
}

// TestExportedComments: every exported symbol of the library has a comment.
func TestExportedComments(t *testing.T) {
	for _, p := range packages(t, "linux") {
		if strings.Contains(p.ImportPath, "/internal/") {
			continue
		}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if what := undocumented(d); what != "" {
					t.Errorf("%s/%s: %s has no comment", filepath.Base(p.Dir), name, what)
				}
			}
		}
	}
}

// TestExamples: every package of the library has an example that runs, and a row in docs/library.md.
func TestExamples(t *testing.T) {
	page, err := os.ReadFile("docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages(t, "linux") {
		if p.ImportPath == module || strings.Contains(p.ImportPath, "/internal/") {
			continue
		}
		names, err := filepath.Glob(filepath.Join(p.Dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		runs := false
		for _, name := range names {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			runs = runs || slices.ContainsFunc(doc.Examples(f), func(e *doc.Example) bool { return e.Output != "" })
		}
		if !runs {
			t.Errorf("%s has no example with an output", p.ImportPath)
		}
		if !strings.Contains(string(page), "\n| `"+strings.TrimPrefix(p.ImportPath, module+"/")+"` | ") {
			t.Errorf("%s has no row in docs/library.md", p.ImportPath)
		}
	}
}

func undocumented(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && !exportedReceiver(d.Recv) || d.Doc != nil || !d.Name.IsExported() {
			return ""
		}
		// Methods of well-known interfaces need no comment.
		if n := d.Name.Name; n == "String" || n == "Error" && d.Recv != nil {
			return ""
		}
		return d.Name.Name
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
					return s.Name.Name
				}
			case *ast.ValueSpec:
				if s.Names[0].IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					return s.Names[0].Name
				}
			}
		}
	}
	return ""
}

func exportedReceiver(r *ast.FieldList) bool {
	e := r.List[0].Type
	if s, ok := e.(*ast.StarExpr); ok {
		e = s.X
	}
	id, ok := e.(*ast.Ident)
	return ok && id.IsExported()
}

// TestNothingOfThisMachine: no file contains a path of the machine on which it was written.
func TestNothingOfThisMachine(t *testing.T) {
	extent.Long(t)
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("not a git checkout")
	}
	wrong := regexp.MustCompile("/w" + "ork/|/r" + "oot/|bash_" + "jobs")
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		b, err := os.ReadFile(name)
		if err != nil || len(b) > 1<<20 || strings.Contains(name, "testdata/traces/") || strings.HasSuffix(name, ".gz") {
			continue
		}
		if m := wrong.Find(b); m != nil {
			t.Errorf("%s holds %q", name, m)
		}
	}
}
