package formats_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/internal/xlog"
	"github.com/gclog/gclog/parse/clr"
)

// The tests here compare what the real programs GCViewer and GCToolKit understand of our logs with
// our own records. "make java" builds testdata/java and runs them.

// readers is the Java program that reads logs; see testdata/java.
type readers struct {
	in  io.Writer
	out *bufio.Scanner
}

func startReaders(t testing.TB) *readers {
	t.Helper()
	dir := os.Getenv("GCLOG_JAVA")
	if dir == "" {
		t.Skip("the readers of Java are not built: make java builds them and runs this")
	}
	path := filepath.Join(dir, "classes") + string(os.PathListSeparator) + filepath.Join(dir, "lib", "*")
	cmd := exec.Command("java", "-Djava.awt.headless=true", "-Xmx1g", "-cp", path, "Readers")
	in, out := child.Pipes(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	r := &readers{in: in, out: bufio.NewScanner(out)}
	r.out.Buffer(nil, 1<<20)
	return r
}

// An understood is a log as a reader understood it.
type understood struct {
	pauses  []javaPause
	phases  []javaPhase
	exports map[string][]string
}

type javaPause struct {
	kind              string  // young, full, initial, remark
	stamp, seconds    float64 // uptime
	total, young, old heap
	hasYoung          bool
}

type javaPhase struct {
	name           string
	stamp, seconds float64
}

// read makes a reader read a log. The reader must not report any problems.
func (r *readers) read(t testing.TB, reader string, paths ...string) *understood {
	t.Helper()
	u, said := r.try(t, reader, paths...)
	for _, s := range said {
		t.Errorf("%s says %s", reader, s)
	}
	return u
}

// try makes a reader read a log, and returns its messages.
func (r *readers) try(t testing.TB, reader string, paths ...string) (u *understood, said []string) {
	t.Helper()
	fmt.Fprintln(r.in, reader+"\t"+strings.Join(paths, "\t"))
	u = &understood{exports: map[string][]string{}}
	for r.out.Scan() {
		words := strings.Split(r.out.Text(), "\t")
		switch words[0] {
		case "end":
			return u, said
		case "log":
			said = append(said, strings.Join(words[1:], " "))
		case "export":
			u.exports[words[1]] = append(u.exports[words[1]], words[2])
		case "event":
			u.event(t, words[1:])
		}
	}
	t.Fatalf("%s has ended: %v", reader, r.out.Err())
	return nil, nil
}

// javaKinds are the readers' names for the pauses, and javaPhases those for the ends of phases.
var (
	javaKinds = []struct{ kind, name string }{
		{"young", `^(?:ParNew|GC \(.*\); ParNew|Pause Young .*)$`},
		{"full", `^(?:FullGC|SystemGC|Full GC .*|Pause Full .*)$`},
		{"initial", `^(?:InitialMark|GC \(CMS Initial Mark\).*|Pause Initial Mark)$`},
		{"remark", `^(?:CMSRemark|GC \(CMS Final Remark\).*|Pause Remark)$`},
	}
	javaPhases = regexp.MustCompile(`^(?:CMS-concurrent-|Concurrent ?)([A-Za-z]+)(-start)?$`)
)

func (u *understood) event(t testing.TB, words []string) {
	t.Helper()
	float := func(s string) float64 {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	pool := func(s string) (h heap, ok bool) {
		n, _ := fmt.Sscanf(s, "%d,%d,%d", &h.before, &h.after, &h.cap)
		return h, n == 3
	}
	stamp, seconds := float(words[1]), float(words[2])
	if m := javaPhases.FindStringSubmatch(words[0]); m != nil {
		if seconds > 0 && m[2] == "" { // otherwise it is the start
			u.phases = append(u.phases, javaPhase{strings.ToLower(m[1]), stamp, seconds})
		}
		return
	}
	p := javaPause{stamp: stamp, seconds: seconds}
	for _, k := range javaKinds {
		if regexp.MustCompile(k.name).MatchString(words[0]) {
			p.kind = k.kind
		}
	}
	if p.kind == "" {
		t.Errorf("an event called %q", words[0])
	}
	p.total, _ = pool(words[3]) // GCViewer considers 0K unknown
	p.young, p.hasYoung = pool(words[4])
	p.old, _ = pool(words[5])
	u.pauses = append(u.pauses, p)
}

// A flavour is one of the JDK formats, with the readers' interpretation of it.
type flavour struct {
	format     string
	check      func(t *testing.T, text []byte, c coverage) *jdkLog
	unit       float64 // of durations, in seconds
	phaseUnit  float64
	endStamps  bool // GCViewer: the stamp of a pause is its end
	remarkHeap bool // GCToolKit: a remark has the whole heap; in jdk8 GCToolKit mistakes the old generation for it
}

var flavours = []flavour{
	{format: "unified", check: checkUnified, unit: 1e-6, phaseUnit: 1e-6, endStamps: true, remarkHeap: true},
	{format: "jdk8", check: checkJDK8, unit: 1e-7, phaseUnit: 1e-3},
}

// compare compares what a reader understood with the log, which the tests of the formats have
// compared with the records.
func (f *flavour) compare(t *testing.T, reader string, got *understood, want *jdkLog) {
	t.Helper()
	if len(got.pauses) != len(want.pauses) || len(got.phases) != len(want.phases) {
		t.Errorf("%s has read %d pauses and %d phases, want %d and %d", reader, len(got.pauses), len(got.phases), len(want.pauses), len(want.phases))
		return
	}
	failures := 0
	wrong := func(i int, what string, got, want any) {
		t.Helper()
		if failures++; failures <= 5 {
			t.Errorf("%s: number %d: %s is %v, want %v", reader, i, what, got, want)
		}
	}
	near := func(a, b, most float64) bool { return math.Abs(a-b) <= most }
	for i, w := range want.pauses {
		g := &got.pauses[i]
		if kind := kindOf(w.name); g.kind != kind {
			wrong(i, "kind", g.kind, kind)
		}
		seconds := float64(w.duration) * f.unit
		if !near(g.seconds, seconds, 1e-9) {
			wrong(i, "duration", g.seconds, seconds)
		}
		stamp := float64(w.start-want.lag) / 1000
		if reader == "gcviewer" && f.endStamps {
			stamp += seconds
		}
		if !near(g.stamp, stamp, 0.00201) { // stamps are truncated, at two points
			wrong(i, "stamp", g.stamp, stamp)
		}
		if reader == "gctoolkit" && g.kind == "remark" && !f.remarkHeap {
			continue
		}
		if g.total != w.total {
			wrong(i, "heap", g.total, w.total)
		}
		if w.pools && (!g.hasYoung || g.young != w.young || g.old != w.old) {
			wrong(i, "pools", fmt.Sprint(g.young, g.old), fmt.Sprint(w.young, w.old))
		}
	}
	for i, w := range want.phases {
		g := &got.phases[i]
		stamp := w.start
		if reader == "gcviewer" {
			stamp = w.end
		}
		if g.name != w.name || !near(g.seconds, float64(w.duration)*f.phaseUnit, 1e-9) || !near(g.stamp, float64(stamp-want.lag)/1000, 0.00201) {
			wrong(i, "phase", *g, fmt.Sprintf("%s at %d ms, %d", w.name, stamp-want.lag, w.duration))
		}
	}
	if reader == "gcviewer" {
		f.compareExports(t, got, want)
	}
}

// kindOf returns the kind of a pause from its name in either format.
func kindOf(name string) string {
	switch lower := strings.ToLower(name); {
	case strings.Contains(lower, "initial"):
		return "initial"
	case strings.Contains(lower, "remark"):
		return "remark"
	case strings.Contains(lower, "full"):
		return "full"
	}
	return "young"
}

// compareExports compares the exports of GCViewer with the log. (Its percentiles are shifted by
// one, and its sums of pauses are rounded to 10 ms: neither is used.)
func (f *flavour) compareExports(t *testing.T, got *understood, want *jdkLog) {
	t.Helper()
	simple := map[string]string{"young": "YoungGC|PauseYoung", "full": "FullGC|PauseFull", "initial": "InitialMark", "remark": "Remark"}
	if n := len(got.exports["SIMPLE"]); n != len(want.pauses) {
		t.Errorf("SIMPLE has %d lines, want %d", n, len(want.pauses))
	} else {
		for i, w := range want.pauses {
			words := strings.Fields(got.exports["SIMPLE"][i])
			seconds, _ := strconv.ParseFloat(words[len(words)-1], 64)
			if !regexp.MustCompile(simple[kindOf(w.name)]).MatchString(words[0]) || math.Abs(seconds-float64(w.duration)*f.unit) > 1e-6 {
				t.Errorf("SIMPLE: number %d is %q, want %s of %d", i, words, w.name, w.duration)
				break
			}
		}
	}
	if n, m := len(got.exports["PLAIN"]), len(want.pauses)+2*len(want.phases); n != m {
		t.Errorf("PLAIN has %d lines, want %d", n, m)
	}
	full := 0
	for _, p := range want.pauses {
		if kindOf(p.name) == "full" {
			full++
		}
	}
	counts := map[string]int{"pauseCount": len(want.pauses), "gcPauseCount": len(want.pauses) - full}
	if full > 0 {
		counts["fullGcPauseCount"] = full
	}
	for key, n := range counts {
		found := false
		for _, line := range got.exports["SUMMARY"] {
			parts := strings.Split(line, "; ")
			if parts[0] == key {
				found = strings.ReplaceAll(parts[1], ",", "") == strconv.Itoa(n)
			}
		}
		if !found && n > 0 {
			t.Errorf("SUMMARY does not say that %s is %d", key, n)
		}
	}
}

// readBoth makes both readers read a log.
func (r *readers) readBoth(t *testing.T, f *flavour, text []byte) {
	t.Helper()
	want := f.check(t, text, whole)
	path := filepath.Join(t.TempDir(), "gc.log")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	f.compare(t, "gcviewer", r.read(t, "gcviewer", path), want)
	if len(want.pauses)+len(want.phases) > 1 { // GCToolKit cannot read a log with a single event
		f.compare(t, "gctoolkit", r.read(t, "gctoolkit", path), want)
	}
}

// BenchmarkJava measures how long the readers take for a file of the size at which a new file is
// started.
func BenchmarkJava(b *testing.B) {
	r := startReaders(b)
	const size = 10 << 20 // --filesize
	for _, f := range flavours {
		n := 0
		var text []byte
		for n = 30_000; len(text) < size; n *= 2 {
			text = history(1, n).outputs[f.format].text()
		}
		text = text[:bytes.LastIndexByte(text[:size], '\n')+1]
		path := filepath.Join(b.TempDir(), f.format+".log")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			b.Fatal(err)
		}
		for _, reader := range []string{"gcviewer", "gctoolkit"} {
			b.Run(f.format+"/"+reader, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					r.try(b, reader, path)
				}
			})
		}
	}
}

// TestJavaSamples tests the readers with the files in the folder samples.
func TestJavaSamples(t *testing.T) {
	r := startReaders(t)
	for name, format := range samples {
		for i := range flavours {
			if f := &flavours[i]; f.format == format {
				t.Run(name, func(t *testing.T) {
					text, err := os.ReadFile(filepath.Join("..", "samples", name))
					if err != nil {
						t.Fatal(err)
					}
					r.readBoth(t, f, text)
				})
			}
		}
	}
}

// TestJavaReaders: the readers meet the expectations of these tests on hand-written logs with known
// contents. Those contain a phase that ours do not have.
func TestJavaReaders(t *testing.T) {
	r := startReaders(t)
	dir := filepath.Join(recordings.Dir(t), "java-samples")
	rotated := func(names ...string) (list []string) {
		for _, name := range names {
			list = append(list, filepath.Join(dir, name))
		}
		return list
	}
	for _, test := range []struct {
		truth, reader string
		unit          float64 // of durations, in milliseconds
		paths         []string
	}{
		{"truth-A.json", "gcviewer", 1e-4, rotated("jdk8-cms.log")},
		{"truth-A.json", "gctoolkit", 1e-4, rotated("jdk8-cms.log")},
		{"truth-A.json", "gcviewer", 1e-3, rotated("unified-cms-long.log")},
		{"truth-A.json", "gctoolkit", 1e-3, rotated("unified-cms-long.log")},
		{"truth-B.json", "gcviewer", 1e-4, rotated("jdk8-cms-short.log")},
		{"truth-B.json", "gctoolkit", 1e-4, rotated("jdk8-cms-short.log")},
		{"truth-B.json", "gcviewer", 1e-3, rotated("unified-cms.log")},
		{"truth-B.json", "gctoolkit", 1e-3, rotated("unified-cms.log")},
		{"truth-A.json", "gcviewer", 1e-4, rotated("rotated-jdk8/gc.log.0", "rotated-jdk8/gc.log.1", "rotated-jdk8/gc.log.2.current")},
		{"truth-A.json", "gctoolkit-series", 1e-4, rotated("rotated-jdk8/gc.log.2.current")},
		{"truth-A.json", "gcviewer", 1e-3, rotated("rotated-unified/gc.log.0", "rotated-unified/gc.log.1", "rotated-unified/gc.log")},
	} {
		t.Run(test.reader+" "+filepath.Base(test.paths[0]), func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(dir, test.truth))
			if err != nil {
				t.Fatal(err)
			}
			var truth map[string]json.RawMessage
			if err := json.Unmarshal(b, &truth); err != nil {
				t.Fatal(err)
			}
			u := r.read(t, test.reader, test.paths...)
			count, sum := map[string]int{}, map[string]float64{}
			add := func(key string, seconds float64) {
				count[key]++
				sum[key] += 1000 * seconds
			}
			for _, p := range u.pauses {
				add("pauses", p.seconds)
				add(map[string]string{"young": "young", "full": "full", "initial": "initialMark", "remark": "remark"}[p.kind], p.seconds)
			}
			for _, p := range u.phases {
				add("concurrent."+strings.ToUpper(p.name[:1])+p.name[1:], p.seconds)
			}
			for key, raw := range truth {
				var want struct{ N, Sum float64 }
				if json.Unmarshal(raw, &want) != nil || key == "nonFull" {
					continue // a plain number, or a sum of others
				}
				unit := test.unit
				if strings.HasPrefix(key, "concurrent.") && test.unit == 1e-4 {
					unit = 1 // phases in jdk8 have whole milliseconds
				}
				if float64(count[key]) != want.N || math.Abs(sum[key]-want.Sum) > want.N*unit {
					t.Errorf("%s: %d of %.4f ms, want %v of %v", key, count[key], sum[key], want.N, want.Sum)
				}
			}
		})
	}
}

// TestJavaRecordings tests every recording that contains a collection; also with all lines that
// -Xlog:gc* selects, which must not change what the readers understand.
func TestJavaRecordings(t *testing.T) {
	r := startReaders(t)
	config, err := xlog.Parse([]string{"-Xlog:gc*,safepoint"})
	if err != nil {
		t.Fatal(err)
	}
	forEachInTurn(t, func(t *testing.T, name string, stream []byte) {
		for _, c := range convert(stream, everything, nil, "unified", "jdk8").processes {
			for i := range flavours {
				f := &flavours[i]
				if text := c.outputs[f.format].text(); text != nil {
					t.Run(fmt.Sprint(f.format, " ", c.process.ID), func(t *testing.T) { r.readBoth(t, f, text) })
				}
			}
		}
		for i, out := range unifiedOf(stream, formats.Options{Selection: &config.Outputs[0].Selection}) {
			if bytes.Contains(out.text(), []byte("][gc] GC(")) {
				t.Run(fmt.Sprint("all lines ", i), func(t *testing.T) { r.readMore(t, out.text()) })
			}
		}
	})
}

// unifiedOf converts a recording to the unified format, with one log per process.
func unifiedOf(stream []byte, o formats.Options) (outputs []*memory) {
	format, _ := formats.Find("unified")
	_, _ = read(stream, everything, gclog.NewProcesses(func(p *gclog.Process) gclog.Observer { // damaged recordings end in an error
		out := &memory{}
		outputs = append(outputs, out)
		o.Process = *p
		return formats.NewWriter(format, out, o).Observe
	}))
	return outputs
}

// readMore makes both readers read a log with lines that they do not know, and the same log without
// these lines.
func (r *readers) readMore(t *testing.T, text []byte) {
	t.Helper()
	dir := t.TempDir()
	var known []byte
	for line := range bytes.Lines(text) {
		if regexp.MustCompile(`\]\[(gc|gc,start|gc,heap|gc,cpu)\] `).Match(line) {
			known = append(known, line...)
		}
	}
	for name, text := range map[string][]byte{"more.log": text, "known.log": known} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	phases := bytes.Count(text, []byte("[gc,phases]"))
	for _, reader := range []string{"gcviewer", "gctoolkit"} {
		more, said := r.try(t, reader, filepath.Join(dir, "more.log"))
		if reader == "gcviewer" { // of the lines of gc+phases gclog warns
			all := len(said)
			said = slices.DeleteFunc(said, func(s string) bool {
				return strings.Contains(s, "Failed to parse line number") && strings.Contains(s, "[gc,phases]")
			})
			if all-len(said) != phases {
				t.Errorf("GCViewer reports %d lines of gc+phases, not %d", all-len(said), phases)
			}
		}
		want, saidOfKnown := r.try(t, reader, filepath.Join(dir, "known.log"))
		if d := differs(more, want, true); d != "" || len(said) > len(saidOfKnown) {
			t.Errorf("%s: %s %q", reader, d, said)
		}
	}
}

// TestJavaHistories tests long random histories.
func TestJavaHistories(t *testing.T) {
	r := startReaders(t)
	for seed := range uint64(3) {
		c := history(seed, 3000)
		for i := range flavours {
			f := &flavours[i]
			t.Run(fmt.Sprint(f.format, " ", seed), func(t *testing.T) {
				text := c.outputs[f.format].text()
				checkJDK(t, c, f.format, f.check(t, text, whole), int64(math.Round(f.unit*1e9)))
				r.readBoth(t, f, text)
			})
		}
	}
}

// TestJavaSeries: the files of a log that was rotated many times are read as one log, with the same
// result as without rotation.
func TestJavaSeries(t *testing.T) {
	r := startReaders(t)
	for i := range flavours {
		f := &flavours[i]
		for name, naming := range map[string]rotate.Naming{"time": rotate.NameByTime, "index": rotate.NameByIndex} {
			t.Run(f.format+" by "+name, func(t *testing.T) {
				path, paths, want := f.rotated(t, naming, nil)
				f.compare(t, "gcviewer", r.read(t, "gcviewer", paths...), want)
				if f.format == "jdk8" && naming == rotate.NameByIndex {
					f.compare(t, "gctoolkit", r.read(t, "gctoolkit-series", path), want)
				}
				// It cannot read dates in a series of unified files, nor names with the time: of
				// those it reads the concatenation.
				var all []byte
				for _, path := range paths {
					b, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, b...)
				}
				one := filepath.Join(t.TempDir(), "all.log")
				if err := os.WriteFile(one, all, 0o644); err != nil {
					t.Fatal(err)
				}
				f.compare(t, "gctoolkit", r.read(t, "gctoolkit", one), want)
			})
		}
	}
	t.Run("unified without dates", func(t *testing.T) {
		f := &flavours[0]
		c, err := xlog.Parse([]string{"-Xlog:gc*:gc.log:uptime,level,tags"})
		if err != nil {
			t.Fatal(err)
		}
		path, paths, want := f.rotated(t, rotate.NameByIndex, &c.Outputs[0].Selection)
		f.compare(t, "gctoolkit", r.read(t, "gctoolkit-series", path), want)
		f.compare(t, "gcviewer", r.read(t, "gcviewer", paths...), want)
	})
}

// rotated writes a history to many files. It returns the path of the latest file, all paths in time
// order, and the contents of the log without rotation.
func (f *flavour) rotated(t *testing.T, naming rotate.Naming, s *formats.Selection) (path string, paths []string, want *jdkLog) {
	t.Helper()
	format, err := formats.Find(f.format)
	if err != nil {
		t.Fatal(err)
	}
	var files rotate.Files
	dir := t.TempDir()
	path = filepath.Join(dir, "gc.log")
	size := int64(12 << 10) // about 50 files
	if f.format == "unified" {
		size = 40 << 10
	}
	file, err := files.Open(path, rotate.Options{Count: 1000, Size: size, Naming: naming})
	if err != nil {
		t.Fatal(err)
	}
	unrotated := history(7, 3000, func(p gclog.Process) *formats.Writer {
		return formats.NewWriter(format, file, formats.Options{Process: p, Version: "1.0", Selection: s})
	})
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	paths, err = filepath.Glob(filepath.Join(dir, "gc*"))
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d files, error %v", len(paths), err)
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(firstStamp(t, a), firstStamp(t, b)) })
	return path, paths, f.check(t, unrotated.outputs[f.format].text(), whole)
}

// TestJavaSelections tests what -Xlog selects, and its decorators. A reader understands the same
// from a log with different lines, or there is a warning.
func TestJavaSelections(t *testing.T) {
	r := startReaders(t)
	format, _ := formats.Find("unified")
	stream := recordings.Read(t, filepath.Join("..", "testdata", "traces", "net9-wks-attach.nettrace.gz"))
	logOf := func(t *testing.T, argument string) (path string, o *xlog.Output) {
		t.Helper()
		path = filepath.Join(t.TempDir(), "gc.log")
		c, err := xlog.Parse([]string{strings.Replace(argument, "@", ":"+path+":", 1)})
		if err != nil {
			t.Fatal(err)
		}
		o = &c.Outputs[0]
		out := &memory{}
		_, err = read(stream, everything, gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
			return formats.NewWriter(format, out, formats.Options{Process: *p, Host: "shop-1", Selection: &o.Selection}).Observe
		}))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, out.text(), 0o644); err != nil {
			t.Fatal(err)
		}
		return path, o
	}
	names := map[string]string{"gcviewer": "GCViewer ", "gctoolkit": "GCToolKit "}
	wants := map[string]*understood{}
	path, _ := logOf(t, "gc,gc+start,gc+heap,gc+cpu@time,uptime,level,tags")
	for reader := range names {
		wants[reader] = r.read(t, reader, path)
	}
	arguments := []string{
		"gc*@", "gc*=trace@", "all=trace@", "gc*,safepoint@", "gc,gc+start,gc+cpu@", "gc@", "gc,gc+cpu@", "gc,gc+start,gc+heap@",
		"gc*,gc+stats=off@", "gc*,gc+init=off@", "gc*,gc+phases=off@", "gc*=debug,gc+phases=off@", "gc*=debug,gc+phases=off@time,uptime,tags", "gc*@none", "gc*@level,tags", "gc*@uptime", "gc*@uptime,tags", "gc*@time,uptime,level", "gc*@time,uptime,tags",
		"gc*@time,uptime,hostname,level,tags", "gc*@time,uptime,pid,level,tags", "gc*@time,uptime,tid,level,tags",
	}
	for _, times := range []string{
		"time", "utctime", "uptime", "timemillis", "uptimemillis", "timenanos", "uptimenanos",
		"time,uptime", "utctime,uptime", "time,utctime,uptime", "time,timemillis,uptime", "uptime,uptimemillis",
	} {
		arguments = append(arguments, "gc*@"+times+",level,tags")
	}
	for _, argument := range arguments {
		t.Run(argument, func(t *testing.T) {
			path, o := logOf(t, argument)
			for reader, name := range names {
				warned := slices.ContainsFunc(o.ReaderWarnings(), func(w string) bool { return strings.HasPrefix(w, name) })
				got, said := r.try(t, reader, path)
				difference := differs(got, wants[reader], o.Selection.Levels[formats.TagHeap] >= formats.LevelInfo)
				if difference == "" && len(said) > 0 {
					difference = said[0]
				}
				l := &o.Selection.Levels
				warned = warned || reader == "gctoolkit" && (l[formats.TagStart] < formats.LevelInfo || l[formats.TagCPU] < formats.LevelInfo) // docs/formats.md
				if warned != (difference != "") {
					t.Errorf("%s: warned is %v, but the difference is %q", reader, warned, difference)
				}
			}
		})
	}
}

// differs returns how a reader's understanding of two logs of the same collections differs. Without
// an uptime, stamps count from the first one.
func differs(a, b *understood, pools bool) string {
	if len(a.pauses) != len(b.pauses) || len(a.phases) != len(b.phases) {
		return fmt.Sprintf("%d pauses and %d phases, not %d and %d", len(a.pauses), len(a.phases), len(b.pauses), len(b.phases))
	}
	for i := range a.pauses {
		x, y := a.pauses[i], b.pauses[i]
		x.stamp -= a.pauses[0].stamp
		y.stamp -= b.pauses[0].stamp
		if !pools {
			y.young, y.old, y.hasYoung = x.young, x.old, x.hasYoung
		}
		if math.IsNaN(x.stamp) || math.Abs(x.stamp-y.stamp) > 0.00201 {
			return fmt.Sprintf("pause %d is at %v, not %v", i, x.stamp, y.stamp)
		}
		if x.stamp = y.stamp; x != y {
			return fmt.Sprintf("pause %d is %+v, not %+v", i, x, y)
		}
	}
	return ""
}

var uptimes = regexp.MustCompile(`(\d+\.\d{3})(?:s\]|: )`)

// firstStamp returns the uptime of the first line that has one.
func firstStamp(t *testing.T, path string) float64 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := uptimes.FindSubmatch(b)
	if m == nil {
		t.Fatalf("%s has no uptime", path)
	}
	at, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// history writes n random collections of a process to both JDK formats, and to the writers in more.
func history(seed uint64, n int, more ...func(gclog.Process) *formats.Writer) *converted {
	h := &historian{rnd: rand.New(rand.NewPCG(seed, 1)), now: 1e9}
	h.c = &converted{outputs: map[string]*memory{}, process: gclog.Process{
		ID: 4711, Name: "MyApp", Sync: time.Date(2026, 3, 28, 23, 59, 58, 123_456_789, time.UTC), UptimeAtSync: 5 * time.Second,
	}}
	for _, f := range flavours {
		format, _ := formats.Find(f.format)
		out := &memory{}
		h.c.outputs[f.format] = out
		h.c.writers = append(h.c.writers, formats.NewWriter(format, out, formats.Options{Process: h.c.process, Version: "1.0"}))
	}
	for _, f := range more {
		h.c.writers = append(h.c.writers, f(h.c.process))
	}
	for int(h.number) < n {
		switch r := h.rnd.IntN(10); {
		case r < 8:
			h.blocking(h.rnd.IntN(2))
		case r < 9:
			h.blocking(gclog.Gen2)
		default:
			h.background()
		}
	}
	h.c.each(func(w *formats.Writer) { w.Observe(&gclog.End{At: h.now}) })
	return h.c
}

// A historian generates random collections.
type historian struct {
	c      *converted
	rnd    *rand.Rand
	now    int64
	number uint32
	sizes  [gclog.Generations]uint64
}

// wait advances the time, usually by some milliseconds.
func (h *historian) wait(most time.Duration) int64 {
	h.now += 1000 + h.rnd.Int64N(int64(most))
	return h.now
}

// details returns a new collection, including what the program allocated before it.
func (h *historian) details(gen int) *gclog.GCDetails {
	h.number++
	d := &gclog.GCDetails{
		Number: h.number, Known: gclog.GroupNumber | gclog.GroupReason | gclog.GroupBefore | gclog.GroupAfter | gclog.GroupCommittedAfter | gclog.GroupPinned | gclog.GroupHandles | gclog.GroupSyncBlocks | gclog.GroupFinalizationCount | gclog.GroupFinalizationSize, Generation: gen, Reason: clr.Reason(h.rnd.IntN(8)), Complete: true,
	}
	h.sizes[gclog.Gen0] += h.rnd.Uint64N(40 << 20)
	for _, g := range []int{gclog.LOH, gclog.POH} {
		h.sizes[g] += h.rnd.Uint64N(1 << 20)
	}
	for g := range d.Generations {
		d.Generations[g].Before = h.sizes[g]
	}
	return d
}

// collect keeps what survives, and reports the sizes.
func (h *historian) collect(d *gclog.GCDetails) {
	for g := d.Generation; g >= 0; g-- {
		survived := h.rnd.Uint64N(h.sizes[g] + 1)
		h.sizes[g] = 0
		h.sizes[min(g+1, gclog.Gen2)] += survived
	}
	total := uint64(0)
	for g := range d.Generations {
		d.Generations[g].After = h.sizes[g]
		total += max(h.sizes[g], d.Generations[g].Before)
	}
	d.CommittedAfter = total + h.rnd.Uint64N(10<<20)
}

// pause adds a pause to d that lasts from less than a microsecond to several seconds.
func (h *historian) pause(d *gclog.GCDetails, kind gclog.PauseKind) {
	p := gclog.PausePart{Kind: kind, Start: h.wait(20 * time.Millisecond), Duration: 400 + int64(math.Exp(h.rnd.Float64()*21))}
	p.Suspend, p.HasSuspend = h.rnd.Int64N(p.Duration), true
	h.now += p.Duration
	d.Pauses = append(d.Pauses, p)
	h.c.Observe(&gclog.Pause{PausePart: p, GC: d})
}

func (h *historian) blocking(gen int) {
	h.wait(time.Second)
	d := h.details(gen)
	h.collect(d)
	h.pause(d, gclog.PauseBlocking)
	h.c.Observe(d)
}

func (h *historian) background() {
	h.wait(time.Second)
	d := h.details(gclog.Gen2)
	d.Kind, d.Type, d.Background = gclog.KindBackground, clr.TypeBackground, &gclog.BackgroundDetails{}
	h.pause(d, gclog.PauseInitial)
	phase := func(kind gclog.PhaseKind) {
		begin := h.now
		h.c.Observe(&gclog.Phase{Kind: kind, Time: begin, Start: begin, GC: d})
		for range h.rnd.IntN(6) {
			h.blocking(h.rnd.IntN(2))
		}
		h.wait(time.Second)
		h.c.Observe(&gclog.Phase{Kind: kind, End: true, Time: h.now, Start: begin, GC: d})
	}
	phase(gclog.PhaseMark)
	h.pause(d, gclog.PauseFinal)
	phase(gclog.PhaseSweep)
	for g := range d.Generations {
		d.Generations[g].After = h.sizes[g]
	}
	h.c.Observe(d)
}
