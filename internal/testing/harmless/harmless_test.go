//go:build linux

package harmless

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/cli"
	"github.com/gclog/gclog/internal/testing/gcload"
)

const (
	isGclog = "GCLOG_TEST_PROGRAM" // makes this program gclog

	// Parameters of TestHarmless.
	binaryVariable = "GCLOG_BINARY"   // this gclog instead of the present code
	extentVariable = "GCLOG_HARMLESS" // see extents
	cellVariable   = "GCLOG_CELL"     // only this cell
	seedVariable   = "GCLOG_SEED"     // of the array and of all random times

	// together is how many cells run at the same time: they spend most of their time waiting.
	together = 4
)

// extents are the durations within which cells of the array are started. The complete array takes
// minutes.
func extents() map[string]time.Duration {
	return map[string]time.Duration{"": 3 * time.Second, "part": time.Minute, "all": 24 * time.Hour}
}

func TestMain(m *testing.M) {
	if os.Getenv(isGclog) != "" {
		os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// gclogCommand returns a gclog command that uses dir for temporary files.
func gclogCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(cleanEnvironment(), isGclog+"=1", "TMPDIR="+dir)
	if binary := os.Getenv(binaryVariable); binary != "" {
		cmd.Path, cmd.Args[0] = binary, binary
	}
	return cmd
}

// cleanEnvironment returns the test's environment without the variables of gclog and .NET.
func cleanEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "GCLOG_") || strings.HasPrefix(e, "DOTNET_") || strings.HasPrefix(e, "COMPlus_") || strings.HasPrefix(e, "TMPDIR=")
	})
}

// TestHarmless runs cells of the matrix: some that differ from run to run, or all.
func TestHarmless(t *testing.T) {
	extent, known := extents()[os.Getenv(extentVariable)]
	if !known {
		t.Fatalf("%s is %q: it can be part, all, or nothing", extentVariable, os.Getenv(extentVariable))
	}
	runtimes := runtimes(t)
	seed := seed(t)
	fmt.Fprintf(os.Stderr, "harmless: seed %d\n", seed)
	m := newMatrix(slices.Sorted(maps.Keys(runtimes)))
	cells := m.cells(seed)
	if name := os.Getenv(cellVariable); name != "" {
		cells = []cell{named(t, name, runtimes)}
	}
	if err := adopt(); err != nil {
		t.Fatal(err)
	}
	s := summary{began: time.Now(), tolerated: map[string]int{}}
	next := make(chan cell)
	var workers sync.WaitGroup
	for range together {
		workers.Go(func() {
			for c := range next {
				t.Run(c.String(), func(t *testing.T) { s.add(c, try(t, c, runtimes[c.runtime], seed)) })
			}
		})
	}
	for _, c := range cells {
		if time.Since(s.began) < extent {
			next <- c
		}
	}
	close(next)
	workers.Wait()
	s.print(os.Stderr, m, cells)
}

// named returns the cell with a name.
func named(t *testing.T, name string, runtimes map[string]*gcload.Runtime) cell {
	t.Helper()
	c, err := parseCell(name)
	if err != nil {
		t.Fatal(err)
	}
	if runtimes[c.runtime] == nil {
		t.Skipf("no runtime %s: it is in the folder of shared recordings, set GCLOG_SHARED to its path", c.runtime)
	}
	return c
}

// runtimes returns the runtimes of the shared folder, or else the repository's, by name.
func runtimes(t *testing.T) map[string]*gcload.Runtime {
	t.Helper()
	list, err := gcload.Shared()
	if err == nil && len(list) == 0 {
		var r *gcload.Runtime
		if r, err = gcload.FromRepository(); err == nil {
			list = append(list, r)
		}
	}
	if err != nil {
		t.Skipf("no .NET runtime: %v", err)
	}
	byName := map[string]*gcload.Runtime{}
	for _, r := range list {
		byName[r.Name] = r
	}
	return byName
}

// seed returns the requested seed, or a new one each time.
func seed(t *testing.T) uint64 {
	t.Helper()
	s := os.Getenv(seedVariable)
	if s == "" {
		return rand.Uint64N(1 << 32)
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// try runs a cell, and returns the runtime defects that appeared.
func try(t *testing.T, c cell, r *gcload.Runtime, seed uint64) (tolerated []string) {
	t.Helper()
	x, err := newTrial(c, r, seed, gclogCommand)
	if err != nil {
		t.Fatal(err)
	}
	defer x.end()
	err = x.run()
	if err == nil {
		return x.excuses
	}
	if reason := x.tolerated(); reason != "" && !errors.Is(err, errCrashed) {
		t.Logf("tolerated: %v: %s\n%s", err, reason, x.evidence())
		return append(x.excuses, reason)
	}
	t.Errorf("%v\n%s\nto run it again: %s=%d %s='%s' go test -count 1 -v -run TestHarmless ./internal/testing/harmless", err, x.evidence(), seedVariable, seed, cellVariable, c)
	return x.excuses
}

// evidence returns what helps to find the cause of a failure.
func (x *trial) evidence() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var b bytes.Buffer
	const most = 4000 // bytes of each: gclog ps lists all processes
	section := func(title, text string) {
		if text != "" {
			text = text[max(0, len(text)-most):]
			fmt.Fprintf(&b, "--- %s\n%s\n", title, strings.TrimRight(text, "\n"))
		}
	}
	section("what happened, in seconds", strings.Join(x.notes, "\n"))
	if x.target != nil {
		section("the program", x.target.describe())
	}
	section("its standard error", x.targetStderr())
	for _, p := range x.programs() {
		section("standard output of gclog "+p.command, p.stdout())
		section("standard error of gclog "+p.command, p.stderr())
	}
	return b.String()
}

// describe returns the last lines of the program, and its state or how it has ended.
func (t *target) describe() string {
	lines, torn := t.output()
	var b strings.Builder
	const last = 12
	for _, l := range lines[max(0, len(lines)-last):] {
		fmt.Fprintln(&b, l.text[:min(len(l.text), 300)])
	}
	b.WriteString(torn)
	if t.hasEnded() {
		fmt.Fprintf(&b, "it has ended: exited %v with %d, signal %d\n", t.status.Exited(), t.status.ExitStatus(), t.status.Signal())
		return b.String()
	}
	fmt.Fprintf(&b, "process %d runs; its threads:\n", t.pid())
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", t.pid()))
	for _, dir := range threads {
		fmt.Fprintf(&b, "%s %s\n", strings.TrimSpace(read(dir+"/comm")), read(dir+"/wchan"))
	}
	return b.String()
}

// A summary counts the results of the cells.
type summary struct {
	began time.Time

	mu        sync.Mutex
	cells     []cell // those that were run
	tolerated map[string]int
}

func (s *summary) add(c cell, tolerated []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cells = append(s.cells, c)
	for _, reason := range tolerated {
		s.tolerated[reason]++
	}
}

// print prints what was run. It prints to standard error, which is shown for passing tests too.
func (s *summary) print(to io.Writer, m *matrix, array []cell) {
	fmt.Fprintf(to, "harmless: %d of %d cells, %d of %d triples, in %v\n", len(s.cells), len(array), m.triples(s.cells), m.triples(array), time.Since(s.began).Round(time.Second))
	for _, d := range defects() {
		if n := s.tolerated[d.reason]; n > 0 {
			fmt.Fprintf(to, "harmless: tolerated in %d cells: %s\n", n, d.reason)
		}
	}
}
