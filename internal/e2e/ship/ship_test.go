//go:build linux

package ship

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/gclog/gclog/internal/testing/program"
	"github.com/google/go-cmp/cmp"
)

// The tests of shippers: real shippers follow files over many rotations, with the settings of
// samples/. They are stopped and restarted in between, for a shorter time than files are kept, and
// what arrived is compared with a log that is not rotated. "make ship" runs the tests;
// docs/shippers.md contains the results.

const (
	shipFiles    = 5                // number of archived files that are kept
	shipSize     = 32 << 10         // maximum size of a file in bytes
	shipStops    = 300              // average number of records between two stops of a shipper
	shipPatience = 20 * time.Second // if no record arrives for this long, none will
)

// A source is a program whose log is followed.
type source struct {
	path    string       // latest file of the log
	collect func() error // writes one more record
	rotate  func() error // makes the latest file be renamed, at the end of the test
	whole   followed     // the same log without rotation

	written int      // records that are in the log, or will be soon
	ids     []string // of the records in the log, in order
	records map[string][]byte
	longest int // length of the longest record in bytes
}

// A shipper follows the files.
type shipper struct {
	name, version string
	stop          syscall.Signal
	command       func() *exec.Cmd
	record        func(line []byte) map[string]any // returns the record in a line that the shipper wrote
	arrived       followed                         // what it wrote

	running *exec.Cmd // nil while it is stopped
	startAt int       // it is restarted when it is this many records behind
	news    time.Time // when something last arrived, or it was started
	stops   int
	says    *os.File // its own messages
	seen    map[string]int
	through map[*source]int // records that have arrived together with all records before them
}

// followed is a file whose new lines are read. When it has been renamed, the rest of it is read, and
// then the file that has its name now.
type followed struct {
	path   string
	file   *os.File
	offset int64
}

func (f *followed) lines(t *testing.T, do func(line []byte)) {
	t.Helper()
	latest, err := os.Stat(f.path) // nothing more is written to the file that had the name before
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if f.file != nil {
		f.rest(t, do)
		if latest == nil {
			return
		}
		if info, err := f.file.Stat(); err != nil || os.SameFile(info, latest) {
			return
		}
	}
	if latest != nil && f.open(t) {
		f.rest(t, do)
	}
}

// open opens the file that has the name now. It reports false if there is none.
func (f *followed) open(t *testing.T) bool {
	t.Helper()
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	f.file, f.offset = file, 0
	return true
}

func (f *followed) rest(t *testing.T, do func(line []byte)) {
	t.Helper()
	b, err := io.ReadAll(io.NewSectionReader(f.file, f.offset, 1<<40))
	if err != nil {
		t.Fatal(err)
	}
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	f.offset += int64(len(b))
	for line := range bytes.Lines(b) {
		do(line)
	}
}

// TestShip: what gclog writes arrives unchanged and, except with shippers that are killed, once.
func TestShip(t *testing.T) {
	files, written := shipFolders(t)
	list := logPrograms(t, files, written)
	var shippers []*shipper
	for _, stop := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		shippers = append(shippers, shippersOf(t, stop, files, newCollector, newRsyslog)...)
	}
	for _, r := range ship(t, list, shippers, 1000) {
		if r.missing > 0 || r.doubled > 0 && r.stop != syscall.SIGKILL || r.wrong != "" {
			t.Errorf("%s, stopped by %v: %d records missing: %v, %d doubled, one differs: %s\n%s", r.name, r.stop, r.missing, r.lost, r.doubled, r.wrong, r.lastSaid())
		}
	}
}

// TestShipNewest: an rsyslog that also follows the latest file loses and duplicates lines of any
// program that renames its files. No code of gclog is involved, and the collector follows the same
// files at the same time.
func TestShipNewest(t *testing.T) {
	files, written := shipFolders(t)
	newest := func(t *testing.T, dir, files string) (*shipper, error) {
		s, err := newRsyslog(t, dir, files)
		if err == nil {
			edit(t, filepath.Join(dir, "rsyslog.conf"), `\*-20\?\?-\?\?-\?\?T\*\.json`, "*.json")
		}
		return s, err
	}
	shippers := shippersOf(t, syscall.SIGTERM, files, newCollector, newest)
	if len(shippers) < 2 {
		t.Skip("one of them is missing")
	}
	result := ship(t, []*source{plainProgram(t, files, written)}, shippers, 200)
	if r := result[0]; r.missing > 0 || r.doubled > 0 {
		t.Errorf("%s: %d lines missing, %d doubled: then the files are wrong", r.name, r.missing, r.doubled)
	}
	if r := result[1]; r.missing == 0 && r.doubled == 0 {
		t.Errorf("%s %s loses and doubles nothing: docs/shippers.md and samples/rsyslog say otherwise", r.name, r.version)
	}
}

// TestShipSamples: the shippers accept the samples unchanged.
func TestShipSamples(t *testing.T) {
	files, _ := shipFolders(t)
	t.Run("otelcol", func(t *testing.T) {
		if _, err := newCollector(t, t.TempDir(), files); err != nil {
			t.Skip(err)
		}
		for _, sample := range []string{"config.yaml", "kafka.yaml"} {
			out, err := exec.Command(filepath.Join("bin", "otelcol"), "validate", "--config", filepath.Join("samples", "otelcol", sample)).CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v: %s", sample, err, out)
			}
		}
	})
	t.Run("rsyslog", func(t *testing.T) {
		dir := t.TempDir()
		s, err := newRsyslog(t, dir, files)
		if err != nil {
			t.Skip(err)
		}
		if modules, _ := filepath.Glob("/usr/lib/*/rsyslog/omelasticsearch.so"); modules == nil {
			t.Skip("there is no rsyslog-elasticsearch")
		}
		config := filepath.Join(dir, "sample.conf")
		text := fmt.Sprintf("global(workDirectory=%q)\ninclude(file=%q)\n", dir, filepath.Join("samples", "rsyslog", "gclog.conf"))
		if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(s.command().Path, "-N1", "-f", config).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// shipFolders creates a folder for logs that are rotated, and one for logs that are not.
func shipFolders(t *testing.T) (files, written string) {
	t.Helper()
	if os.Getenv("GCLOG_SHIP") == "" {
		t.Skip("make ship runs it")
	}
	dir := t.TempDir()
	files, written = filepath.Join(dir, "files"), filepath.Join(dir, "written")
	for _, dir := range []string{files, written} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return files, written
}

// shippersOf returns those shippers that are installed.
func shippersOf(t *testing.T, stop syscall.Signal, files string, kinds ...func(t *testing.T, dir, files string) (*shipper, error)) (list []*shipper) {
	t.Helper()
	for _, kind := range kinds {
		dir := t.TempDir()
		s, err := kind(t, dir, files)
		if err != nil {
			t.Run(s.name, func(t *testing.T) { t.Skip(err) })
			continue
		}
		s.stop, s.seen, s.through, s.arrived.path = stop, map[string]int{}, map[*source]int{}, filepath.Join(dir, "arrived")
		if s.says, err = os.Create(filepath.Join(dir, "says")); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.says.Close() })
		list = append(list, s)
	}
	return list
}

// A shipped is the result for the records of a shipper.
type shipped struct {
	*shipper
	missing, doubled int
	lost             []string // the missing records: file, and number in the order of writing
	wrong            string   // how a record differs from what was written
}

// ship makes the programs collect and the shippers follow until the logs were rotated turns times,
// and prints what arrived. The programs wait for the slowest shipper when its backlog fills all
// kept files but one: what is lost then was not lost because the shipper was too slow.
func ship(t *testing.T, programs []*source, shippers []*shipper, turns int) (results []shipped) {
	t.Helper()
	if len(shippers) == 0 {
		t.Skip("there is no shipper")
	}
	for _, s := range shippers {
		s.start(t)
		defer s.end(t)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	collect := func(p *source) {
		if err := p.collect(); err != nil {
			t.Fatal(err)
		}
		p.written++
	}
	for _, p := range programs { // to know the length of a record before many are written
		collect(p)
		program.Eventually(t, "the first collection", func() bool {
			p.read(t)
			return len(p.ids) >= p.written
		})
	}
	look := func() {
		for _, p := range programs {
			p.read(t)
		}
		for _, s := range shippers {
			s.look(t, programs)
			awaited := slices.ContainsFunc(programs, func(p *source) bool { return p.waits(s) })
			if s.running == nil && (awaited || s.missing(programs) >= s.startAt) {
				s.start(t)
			}
			if awaited && !s.goesOn() {
				s.giveUp(programs)
			}
		}
	}
	for n := 0; n%100 != 0 || rotations(t, programs) < turns; n++ {
		p := programs[rnd.IntN(len(programs))]
		for look(); slices.ContainsFunc(shippers, p.waits); look() {
			time.Sleep(2 * time.Millisecond)
		}
		collect(p)
		for _, s := range shippers {
			if s.running != nil && rnd.IntN(shipStops) == 0 {
				s.end(t)
				s.startAt = 1 + rnd.IntN(p.most())
			}
		}
	}
	await := func(there func() bool) bool {
		for _, s := range shippers {
			s.startAt, s.news = 0, time.Now()
		}
		for ; !there(); time.Sleep(2 * time.Millisecond) {
			if look(); !slices.ContainsFunc(shippers, (*shipper).goesOn) {
				return false
			}
		}
		return true
	}
	isWritten := func() bool {
		return !slices.ContainsFunc(programs, func(p *source) bool { return len(p.ids) < p.written })
	}
	hasArrived := func() bool {
		return isWritten() && !slices.ContainsFunc(shippers, func(s *shipper) bool { return s.missing(programs) > 0 })
	}
	// rotate rotates logs, so that the last records too are in files that were rotated away.
	rotate := func(programs []*source) {
		await(isWritten)
		for _, p := range programs {
			if err := p.rotate(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if rotate(programs); !await(hasArrived) {
		// Rarely, rsyslog does not notice one of the last files within 20 s. It does with the next
		// rotation, or when it is restarted, both of which come on every node.
		for _, s := range shippers {
			if n := s.missing(programs); n > 0 {
				t.Logf("%s, stopped by %v: %d records have not arrived", s.name, s.stop, n)
				s.end(t)
			}
		}
		last := programs[len(programs)-1:]
		collect(last[0])
		rotate(last)
		await(hasArrived)
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "shipper\tversion\tstopped by\ttimes\twritten\tarrived\tmissing\tdoubled")
	for _, s := range shippers {
		s.end(t)
		r := s.result(t, programs)
		results = append(results, r)
		written := 0
		for _, p := range programs {
			written += len(p.ids)
		}
		fmt.Fprintf(w, "%s\t%s\t%v\t%d\t%d\t%d\t%d\t%d\n", s.name, s.version, s.stop, s.stops, written, written-r.missing, r.missing, r.doubled)
	}
	_ = w.Flush()
	t.Logf("\n%s", table.String())
	return results
}

var (
	docIDs      = regexp.MustCompile(`"gclog_doc_id":"([0-9a-f]{32})"`)
	fileNumbers = regexp.MustCompile(`, file (\d+) of this session"`)
)

func docID(line []byte) string {
	if m := docIDs.FindSubmatch(line); m != nil {
		return string(m[1])
	}
	return ""
}

// read reads what was written.
func (p *source) read(t *testing.T) {
	t.Helper()
	p.whole.lines(t, func(line []byte) {
		if id := docID(line); id != "" && !bytes.HasPrefix(line, []byte(`{"gclog_file_id":`)) { // no header of a file
			p.ids = append(p.ids, id)
			p.records[id] = bytes.Clone(line)
			p.longest = max(p.longest, len(line))
		}
	})
}

// most returns how many records are certain to fit into the files that are kept, except one.
func (p *source) most() int {
	const head = 3 << 10 // maximum size of a file's header
	return (shipFiles - 1) * ((shipSize - head) / p.longest)
}

// waits reports whether a shipper is too far behind. A stopped shipper must be started then,
// whatever its startAt: the limit depends on the longest record, which may be a new one.
func (p *source) waits(s *shipper) bool { return p.written-s.through[p] >= p.most() }

// rotations returns how often the logs were rotated, by the headers of the latest files.
func rotations(t *testing.T, programs []*source) (n int) {
	t.Helper()
	for _, p := range programs {
		b, err := os.ReadFile(p.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if m := fileNumbers.FindSubmatch(b); m != nil {
			i, _ := strconv.Atoi(string(m[1]))
			n += i - 1
		}
	}
	return n
}

func (s *shipper) start(t *testing.T) {
	t.Helper()
	// A shipper that was killed while it wrote has left part of a line, and writes the line again.
	if err := os.Truncate(s.arrived.path, s.arrived.offset); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	s.running = s.command()
	s.running.Stdout, s.running.Stderr = s.says, s.says
	if err := s.running.Start(); err != nil {
		t.Fatal(err)
	}
	s.news = time.Now()
}

// end stops the shipper and waits for its exit.
func (s *shipper) end(t *testing.T) {
	t.Helper()
	if s.running == nil {
		return
	}
	_ = s.running.Process.Signal(s.stop)
	err := s.running.Wait()
	s.running = nil
	s.stops++
	s.look(t, nil)
	var exit *exec.ExitError
	if killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == s.stop; err != nil && !killed {
		t.Fatalf("%s ended by itself: %v\n%s", s.name, err, s.lastSaid())
	}
}

// lastSaid returns the last of its own messages.
func (s *shipper) lastSaid() []byte {
	said, _ := os.ReadFile(s.says.Name())
	return said[max(0, len(said)-4096):]
}

// look reads what arrived.
func (s *shipper) look(t *testing.T, programs []*source) {
	t.Helper()
	s.arrived.lines(t, func(line []byte) {
		s.seen[docID(line)]++
		s.news = time.Now()
	})
	for _, p := range programs {
		for s.through[p] < len(p.ids) && s.seen[p.ids[s.through[p]]] > 0 {
			s.through[p]++
		}
	}
}

// missing returns how many records have not arrived, of the program with the most such records.
func (s *shipper) missing(programs []*source) (n int) {
	for _, p := range programs {
		n = max(n, p.written-s.through[p])
	}
	return n
}

// goesOn reports whether more may arrive.
func (s *shipper) goesOn() bool { return time.Since(s.news) < shipPatience }

// giveUp stops waiting for records that have not arrived.
func (s *shipper) giveUp(programs []*source) {
	for _, p := range programs {
		s.through[p] = len(p.ids)
	}
}

// result compares everything that arrived with what was written.
func (s *shipper) result(t *testing.T, programs []*source) shipped {
	t.Helper()
	r := shipped{shipper: s}
	records := map[string][]byte{}
	for _, p := range programs {
		for i, id := range p.ids {
			records[id] = p.records[id]
			if n := s.seen[id]; n == 0 {
				r.missing++
				r.lost = append(r.lost, fmt.Sprintf("%s %d of %d", filepath.Base(p.path), i+1, len(p.ids)))
			} else {
				r.doubled += n - 1
			}
		}
	}
	all := followed{path: s.arrived.path}
	all.lines(t, func(line []byte) {
		var want map[string]any
		_ = json.Unmarshal(records[docID(line)], &want) // nil if it was never written
		if d := cmp.Diff(want, s.record(line)); d != "" {
			r.wrong = d
		}
	})
	return r
}

// newCollector returns an OpenTelemetry Collector that runs samples/otelcol.
func newCollector(t *testing.T, dir, files string) (*shipper, error) {
	t.Helper()
	s := &shipper{name: "OpenTelemetry filelog"}
	exe, err := filepath.Abs(filepath.Join("bin", "otelcol"))
	if err != nil {
		t.Fatal(err)
	}
	version, err := exec.Command(exe, "--version").Output()
	if err != nil {
		return s, fmt.Errorf("there is no collector: %w", err)
	}
	s.version = strings.TrimSpace(strings.TrimPrefix(string(version), "otelcol version"))
	config := filepath.Join(dir, "config.yaml")
	text := fmt.Sprintf(`
extensions: { file_storage: { directory: %[1]s/state } }
receivers: { filelog/gclog: { include: [%[2]s/*.json] } }
exporters: { arrived: { path: %[1]s/arrived } }
service:
  telemetry: { metrics: { level: none } }
  pipelines: { logs: { exporters: [arrived] } }
`, dir, files)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s.command = func() *exec.Cmd {
		return exec.Command(exe, "--config", filepath.Join("samples", "otelcol", "config.yaml"), "--config", config, "--feature-gates", "stanza.synchronousLogEmitter")
	}
	s.record = func(line []byte) map[string]any {
		var l struct {
			Time, Severity string
			Body           any
			Attributes     map[string]any
		}
		_ = json.Unmarshal(line, &l)
		record := l.Attributes
		if record["elasticsearch.document_id"] != record["gclog_doc_id"] || l.Severity != record["log.level"] {
			return nil
		}
		if at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(record["@timestamp"])); err != nil || at.Format(time.RFC3339Nano) != l.Time {
			return nil
		}
		delete(record, "elasticsearch.document_id")
		record["message"] = l.Body
		return record
	}
	return s, nil
}

// newRsyslog returns an rsyslog that runs samples/rsyslog, with a file as its output.
func newRsyslog(t *testing.T, dir, files string) (*shipper, error) {
	t.Helper()
	s := &shipper{name: "rsyslog imfile"}
	exe, err := exec.LookPath("rsyslogd")
	if err != nil {
		if exe, err = exec.LookPath("/usr/sbin/rsyslogd"); err != nil {
			return s, err
		}
	}
	version, err := exec.Command(exe, "-v").Output()
	if err != nil {
		return s, err
	}
	s.version = strings.Fields(string(version))[1]
	sample, err := os.ReadFile(filepath.Join("samples", "rsyslog", "gclog.conf"))
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "rsyslog.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, "global(workDirectory=%q)\n%s", dir, sample), 0o644); err != nil {
		t.Fatal(err)
	}
	edit(t, config, `/var/log/gclog`, files)
	edit(t, config, `module\(load="omelasticsearch"\)`, ``)
	edit(t, config, `string="%msg%"`, `string="%msg%\n"`)
	edit(t, config, `(?s)action\(type="omelasticsearch".*?template`, fmt.Sprintf(`action(type="omfile" file="%s/arrived" template`, dir))
	s.command = func() *exec.Cmd { return exec.Command(exe, "-n", "-iNONE", "-f", config) }
	s.record = func(line []byte) (record map[string]any) {
		_ = json.Unmarshal(line, &record)
		return record
	}
	return s, nil
}

// edit replaces a pattern that must be in a file.
func edit(t *testing.T, path, pattern, with string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	re := regexp.MustCompile(pattern)
	if !re.Match(b) {
		t.Fatalf("%s has no %s", path, pattern)
	}
	if err := os.WriteFile(path, re.ReplaceAllLiteral(b, []byte(with)), 0o644); err != nil {
		t.Fatal(err)
	}
}
