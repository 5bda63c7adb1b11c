package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/metrics"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rules"
	"github.com/gclog/gclog/internal/spelling"
)

// A kind is how a value is written.
type kind struct {
	example string
	// types are the types that it can have in YAML, in terms of JSON Schema.
	types []string
	// schema is what else JSON Schema can express about it.
	schema map[string]any
	// parse parses a value: the error is a sentence about it without its key.
	parse func(text string) (any, error)
	// print formats a value so that parse accepts it; nil: fmt.Sprint does.
	print func(value any) string
	// secret is set if values are a Secret, which no message may have.
	secret bool
}

// format formats a value so that parse accepts it.
func (k *kind) format(v any) string {
	if k.print == nil {
		return fmt.Sprint(v)
	}
	return k.print(v)
}

// kinds maps the names in the tags of Config to kinds of values.
var kinds = map[string]kind{
	"version":   {example: "1", types: integer, schema: object{"const": 1}, parse: parseVersion},
	"interval":  duration("3s", 100*time.Millisecond, false),
	"period":    duration("5m", 10*time.Second, true),
	"threshold": duration("200ms", time.Nanosecond, false),
	"age":       duration("14d", time.Second, true),
	"cooldown":  duration("1h", time.Minute, false),
	"filetime":  duration("1h", time.Minute, false),
	"size":      bytes("10M", output.ParseSize, output.MinFileSize),
	"total":     bytes("5G", output.ParseBytes, 0),
	"space":     space(),
	"count":     number("5", 0, output.MaxFileCount),
	"processes": number("500", 1, 5000),
	"fullgcs":   number("5", 2, 100),
	"keep":      number("3", 1, 100),
	"growth":    percent("20%", 1, 1000),
	"flag":      {example: "true", types: []string{"boolean"}, parse: parseFlag},
	"rows":      number("1000000", 1000, 100_000_000),
	"level":     words(attach.Levels...),
	"format":    formatKind(),
	"naming":    words(output.Namings...),
	"causes":    words("java", "dotnet"),
	"loglevel":  words("debug", "info", "warn", "error"),
	"logformat": words("auto", "console", "json"),
	"pattern":   {example: "orders*", types: scalar, parse: parsePattern},
	"pid": {
		example: "4711", types: []string{"string", "integer"}, schema: object{"pattern": `^[0-9*?]+$`}, parse: parsePID,
	},
	"account":   {example: "app", types: scalar, parse: parseName},
	"name":      {example: "orders", types: scalar, parse: parseName},
	"label":     {example: "prod", types: scalar, parse: parseLabel},
	"path":      {example: "/var/log/gclog/%s-%p.json", types: text, parse: parsePath},
	"tablepath": {example: "/var/log/gclog/fleet/date=%d/hour=%H/%hn.parquet", types: text, parse: parseTablePath},
	"directory": {example: "/var/log/gclog/heap", types: text, parse: parseDirectory},
	"mode": {
		example: "0640", types: text, schema: object{"pattern": `^0?[0-7]{3}$`}, parse: parseMode,
		print: func(v any) string { return fmt.Sprintf("%04o", v) },
	},
	"socket": {
		example: "/run/gclog/diag.sock", types: text, schema: object{"maxLength": maxSocket}, parse: parseSocket,
	},
	"control": {
		example: "/run/gclog/ctl.sock", types: text, schema: object{"maxLength": maxSocket}, parse: parseControl,
	},
	"provider":  {example: "Microsoft-Windows-DotNETRuntime:0x1:4", types: text, parse: parseProvider},
	"xlog":      {example: "gc*:file=/var/log/gclog/%n-%p.gc.log", types: text, parse: parseLine},
	"event":     words(rules.Kinds...),
	"condition": {example: "pause > 500ms && generation == 2", types: text, parse: parseLine},
	"counters":  countersKind(),
	"wait":      duration("10m", time.Millisecond, true),
	"window":    between("30s", time.Second, 10*time.Minute),
	"lasting":   between("5m", 10*time.Second, 24*time.Hour),
	"timeout":   between("30s", time.Second, time.Hour),
	"severity":  words("info", "warn", "error"),
	"argument":  {example: "/usr/local/bin/on-long-pause", types: scalar, parse: parseArgument},
	"url":       secretKind(kind{example: "https://hooks.example/gc", types: text, parse: parseURL}),
	"secret":    secretKind(kind{example: "file:/etc/gclog/webhook.secret", types: scalar, parse: parseSecret}),
	"memory":    bytes("64M", parseMemory, minMemory),
	"pem":       {example: "/etc/gclog/web.yml", types: text, parse: parseOptional},
	"series":    number("200000", 1000, 10_000_000),
	"metrics":   words(metrics.Names...),
	"attrs":     words(metrics.AttributeNames...),
	"endpoint":  secretKind(kind{example: "https://collector:4318", types: text, parse: parseEndpoint}),
	"header":    secretKind(kind{example: "file:/etc/gclog/otlp.token", types: scalar, parse: parseSecret}),
	"patience":  duration("10s", time.Millisecond, true),
	"every":     duration("1m", time.Second, true),
	"zip":       optionalWords("gzip", "none"),
	"tempo":     optionalWords("cumulative", "delta", "lowmemory"),
	"histogram": optionalWords("explicit", "exponential"),
	"queue":     bytes("16M", parseQueue, 1<<20),
	"address":   {example: "127.0.0.1:9799", types: text, parse: parseAddress},
}

type object = map[string]any

var (
	text    = []string{"string"}
	integer = []string{"integer"}
	scalar  = []string{"string", "integer", "number", "boolean"}
)

func parseVersion(s string) (any, error) {
	if s != "1" {
		return 0, fmt.Errorf("this gclog supports version 1 of the configuration, not %s: use another version of gclog",
			quote(s))
	}
	return 1, nil
}

// words returns the kind of values that are one of a few words.
func words(list ...string) kind {
	parse := func(s string) (any, error) {
		if !slices.Contains(list, s) {
			last := len(list) - 1
			return "", fmt.Errorf("%s: it must be %s or %s%s",
				quote(s), strings.Join(list[:last], ", "), list[last], spelling.DidYouMean(s, list))
		}
		return s, nil
	}
	return kind{example: list[0], types: text, schema: object{"enum": list}, parse: parse}
}

// formatKind returns the kind of formats.
func formatKind() kind {
	k := words(formatNames()...)
	parse := k.parse
	k.parse = func(s string) (any, error) {
		if s == "parquet" {
			return "", errors.New(
				"parquet: one table contains all processes, so it is none of the outputs: set parquet.path")
		}
		return parse(s)
	}
	return k
}

func formatNames() (names []string) {
	for _, f := range formats.All() {
		names = append(names, f.Name)
	}
	return names
}

func number(example string, least, most int) kind {
	parse := func(s string) (any, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("%s: it must be a number from %d to %d", quote(s), least, most)
		}
		return n, nil
	}
	schema := object{"minimum": least, "maximum": most}
	return kind{example: example, types: integer, schema: schema, parse: parse}
}

// percent returns the kind of percentages.
func percent(example string, least, most int) kind {
	return kind{
		example: example, types: text, schema: object{"pattern": `^[0-9]+%$`},
		parse: func(s string) (any, error) {
			number, ok := strings.CutSuffix(s, "%")
			n, err := strconv.Atoi(number)
			if err != nil || !ok || n < least || n > most {
				return 0, fmt.Errorf("%s: it must be a percentage from %d%% to %d%%", quote(s), least, most)
			}
			return n, nil
		},
		print: func(v any) string { return fmt.Sprintf("%d%%", v) },
	}
}

func parseFlag(s string) (any, error) {
	switch s {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%s: it must be true or false", quote(s))
}

// duration returns the kind of durations of at least a minimum, or 0 if zero is allowed and means
// none.
func duration(example string, least time.Duration, zero bool) kind {
	k := kind{
		example: example,
		types:   text,
		schema:  object{"pattern": `^([0-9]+d)?([0-9.]+(h|m|s|ms|us|µs|ns))*$`},
		print:   printDuration,
	}
	if zero {
		k.types = []string{"string", "integer"}
		k.schema = object{"pattern": `^(0|([0-9]+d)?([0-9.]+(h|m|s|ms|us|µs|ns))*)$`, "minimum": 0, "maximum": 0}
	}
	k.parse = func(s string) (any, error) {
		d, err := parseDuration(s)
		switch {
		case err != nil:
			return d, err
		case d == 0 && zero:
			return d, nil
		case d == 0:
			return d, fmt.Errorf("%s: it must be more than 0", quote(s))
		case d < least:
			return d, fmt.Errorf("%s: it must be at least %s", quote(s), printDuration(least))
		}
		return d, nil
	}
	return k
}

// countersKind is the kind of the interval between counters.
func countersKind() kind {
	k := duration("10s", time.Second, true)
	parse := k.parse
	k.parse = func(s string) (any, error) {
		d, err := parse(s)
		if err == nil && d.(time.Duration) > 0 {
			_, err = attach.ParseCounters("", d.(time.Duration))
		}
		return d, err
	}
	return k
}

// between returns the kind of durations from least to most.
func between(example string, least, most time.Duration) kind {
	k := duration(example, least, false)
	parse := k.parse
	k.parse = func(s string) (any, error) {
		d, err := parse(s)
		if err == nil && d.(time.Duration) > most {
			err = fmt.Errorf("%s: it must be at most %s", quote(s), printDuration(most))
		}
		return d, err
	}
	return k
}

const day = 24 * time.Hour

// parseDuration parses a duration in Go's format, optionally preceded by days.
func parseDuration(s string) (time.Duration, error) {
	wrong := fmt.Errorf("%s is not a duration: write it like 3s, 5m, 12h or 14d", quote(s))
	days, rest, hasDays := strings.Cut(s, "d")
	if !hasDays {
		days, rest = "0", s
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, wrong
	}
	var d time.Duration
	if rest != "" || !hasDays {
		if d, err = time.ParseDuration(rest); err != nil || rest[0] == '+' || rest[0] == '-' && d == 0 {
			return 0, wrong
		}
	}
	switch total := time.Duration(n)*day + d; {
	case d < 0:
		return 0, fmt.Errorf("%s: it must not be negative", quote(s))
	case total < d:
		return 0, wrong
	default:
		return total, nil
	}
}

// printDuration formats a duration as Go does, without trailing parts that are zero.
func printDuration(v any) string {
	s := v.(time.Duration).String()
	if s == "0s" {
		return "0"
	}
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// bytes returns the kind of sizes that parse accepts.
func bytes(example string, parse func(string) (int64, error), least int) kind {
	return kind{
		example: example, types: []string{"string", "integer"},
		schema: object{"pattern": `^[0-9]+([KMGkmg][Ii]?)?[Bb]?$`, "minimum": least},
		parse:  func(s string) (any, error) { return parse(s) },
		print: func(v any) string {
			n, unit := v.(int64), ""
			for _, u := range []string{"K", "M", "G"} {
				if n == 0 || n%1024 != 0 {
					break
				}
				n, unit = n/1024, u
			}
			return strconv.FormatInt(n, 10) + unit
		},
	}
}

// space returns the kind of sizes that may follow from that of the file system.
func space() kind {
	k := bytes("5G", output.ParseBytes, 0)
	parse, print := k.parse, k.print
	k.schema = object{"pattern": `^(auto|[0-9]+([KMGkmg][Ii]?)?[Bb]?)$`, "minimum": 0}
	k.parse = func(s string) (any, error) {
		if s == "auto" {
			return int64(AutoTotal), nil
		}
		return parse(s)
	}
	k.print = func(v any) string {
		if v == int64(AutoTotal) {
			return "auto"
		}
		return print(v)
	}
	return k
}

// parseLine accepts text without control characters, so that no message, name or path can span
// lines.
func parseLine(s string) (any, error) {
	if s == "" {
		return "", errors.New("it has no value")
	}
	if i := strings.IndexFunc(s, unicode.IsControl); i >= 0 {
		return "", fmt.Errorf("%s contains a control character", quote(s))
	}
	return s, nil
}

// parsePattern parses a pattern for Match. The limit on its length bounds the cost of matching.
func parsePattern(s string) (any, error) {
	const most = 500
	if s == "" {
		return "", errors.New("an empty pattern matches nothing: leave the key out")
	}
	if len(s) > most {
		return "", fmt.Errorf("a pattern is limited to %d bytes", most)
	}
	return parseLine(s)
}

func parsePID(s string) (any, error) {
	if strings.Trim(s, "0123456789*?") != "" {
		return "", fmt.Errorf("%s is not a pid pattern: only digits, * and ? are allowed", quote(s))
	}
	return parsePattern(s)
}

func parseName(s string) (any, error) {
	const most = 200
	if len(s) > most {
		return "", fmt.Errorf("a name is limited to %d bytes", most)
	}
	return parseLine(s)
}

func parseLabel(s string) (any, error) {
	const most = 1000
	if len(s) > most {
		return "", fmt.Errorf("a label is limited to %d bytes", most)
	}
	return s, nil
}

// isLabelKey reports whether a label can have this key. A dot would make it an object next to the
// values of other labels, which Elasticsearch rejects.
func isLabelKey(s string) bool {
	return s != "" && len(s) <= 100 &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

func parsePath(s string) (any, error) {
	if _, err := parseLine(s); err != nil {
		return "", err
	}
	return s, checkFile(s)
}

// checkFile checks the path of an output.
func checkFile(path string) error {
	switch {
	case output.IsStream(output.Named(path)):
		return fmt.Errorf("%s is not a file: the daemon writes only to files", path)
	case strings.HasSuffix(path, "/"):
		return fmt.Errorf("%s is a directory: give a file, such as %s%%s-%%p.json", path, path)
	}
	if bad := output.BadPlace(path); bad != "" {
		return fmt.Errorf("%s: unknown placeholder %s: %s", path, bad, output.Places)
	}
	return nil
}

// parseTablePath parses the path of Parquet files; "" is none.
func parseTablePath(s string) (any, error) {
	if s == "" {
		return s, nil
	}
	bad := output.BadTablePlace(s)
	switch {
	case bad != "":
		return "", fmt.Errorf("%s: unknown placeholder %s: %s", quote(s), bad, output.TablePlaces)
	case strings.HasSuffix(s, "/"):
		return "", fmt.Errorf("%s is a directory: give files, such as %sdate=%%d/hour=%%H/%%hn.parquet", quote(s), s)
	}
	return parseLine(s)
}

// parseDirectory parses the path of a directory for all processes; "" is the default.
func parseDirectory(s string) (any, error) {
	if s == "" {
		return s, nil
	}
	if bad := output.BadHostPlace(s); bad != "" {
		return "", fmt.Errorf("%s: unknown placeholder %s: %s", quote(s), bad, output.HostPlaces)
	}
	return parseLine(s)
}

func parseMode(s string) (any, error) {
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil || n > 0o777 || len(s) < 3 || len(s) > 4 {
		return fs.FileMode(0), fmt.Errorf("%s is not a mode: write it like \"0640\"", quote(s))
	}
	if n&0o600 != 0o600 {
		return fs.FileMode(0), fmt.Errorf("%s: the daemon itself must be able to read and write its files", quote(s))
	}
	return fs.FileMode(n), nil
}

// optionalWords is words that may be left out.
func optionalWords(list ...string) kind {
	k := words(list...)
	parse := k.parse
	k.schema = object{"enum": append([]string{""}, list...)}
	k.parse = func(s string) (any, error) {
		if s == "" {
			return s, nil
		}
		return parse(s)
	}
	return k
}

// parseQueue parses how much memory a queue may use.
func parseQueue(s string) (int64, error) {
	const least, most = 1 << 20, 1 << 30
	n, err := output.ParseBytes(s)
	if err == nil && (n < least || n > most) {
		err = fmt.Errorf("%s: it must be from 1M to 1G", quote(s))
	}
	return n, err
}

func parseEndpoint(s string) (any, error) {
	if s == "" {
		return s, nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("it is not the URL of a collector: write it like http://localhost:4318")
	}
	return parseSecret(s)
}

// parseOptional parses a line, or "" for none.
func parseOptional(s string) (any, error) {
	if s == "" {
		return s, nil
	}
	return parseLine(s)
}

// maxSocket is the maximum length of the name of a socket, in bytes.
const maxSocket = 107

// parseControl parses the path of a unix socket, or the name of a pipe.
func parseControl(s string) (any, error) {
	switch {
	case s == "":
		return s, nil
	case len(s) > maxSocket:
		return "", fmt.Errorf("%s is too long: the path of a socket is limited to %d bytes", quote(s), maxSocket)
	}
	return parseLine(s)
}

func parseSocket(s string) (any, error) {
	switch {
	case s == "":
		return parseLine(s)
	case strings.ContainsAny(s, ",;"):
		return "", fmt.Errorf("%s: DOTNET_DiagnosticPorts cannot have a path with a comma or semicolon", quote(s))
	}
	return parseControl(s)
}

func parseProvider(s string) (any, error) {
	cfg, err := attach.SessionConfig(attach.Levels[0], []string{s}, true)
	if err == nil {
		err = cfg.Validate()
	}
	return s, err
}

func parseAddress(s string) (any, error) {
	if s == "" {
		return s, nil
	}
	host, port, err := net.SplitHostPort(s)
	outside := func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }
	if _, wrong := strconv.ParseUint(port, 10, 16); err != nil || wrong != nil || strings.ContainsFunc(host, outside) {
		return "", fmt.Errorf("%s is not an address: write HOST:PORT, such as 127.0.0.1:9799, or \"\" for none",
			quote(s))
	}
	return s, nil
}

// minMemory is the least that a flight recorder can do something with, in bytes.
const minMemory = 1 << 20

func parseMemory(s string) (int64, error) {
	n, err := output.ParseBytes(s)
	if err == nil && n < minMemory {
		err = fmt.Errorf("%s is too small: the minimum is 1M", quote(s))
	}
	return n, err
}

// parseArgument parses an argument of a command, which may be empty.
func parseArgument(s string) (any, error) {
	if strings.ContainsRune(s, 0) {
		return "", fmt.Errorf("%s contains a NUL, which no argument can", quote(s))
	}
	return s, nil
}

func parseURL(s string) (any, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", errors.New("it is not a URL: write https://HOST/PATH")
	}
	return parseSecret(s)
}

// parseSecret is parseLine without the value in its errors.
func parseSecret(s string) (any, error) {
	if s == "" {
		return "", errors.New("it has no value")
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "", errors.New("it contains a control character")
	}
	return s, nil
}

// quote formats a value of a file for a message.
func quote(s string) string {
	const most = 100
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.Quote(s)
}
