package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A round is a run of the tests of a package under load. Rounds differ: tests in another order each
// time, with 1, 2 and 4 processors by turns, and every fifth with the race detector.
type round struct {
	Package string
	Round   int // of this package, from 1
	Time    time.Time
	Commit  string
	CPU     int // GOMAXPROCS
	Race    bool
	Shuffle string  // the seed of the order
	Seconds float64 // how long it took
	Load    string  // of the host at its end: /proc/loadavg
	Failed  []string
	Seed    string // GCLOG_SEED, if failed tests name one
}

// together is how many packages are tested at the same time: that is more load, and most of the tests
// wait.
const together = 3

var (
	flakesDir  = filepath.Join("bin", "flakes")
	flakesFile = filepath.Join(flakesDir, "rounds.jsonl")
)

// flakes runs rounds of each package until the last ones, as many as are asked for, have no failure,
// or one has a failure. Rounds of earlier calls count, so that it can be stopped at any time.
func flakes(ctx context.Context, rounds int, patterns []string) (code int, err error) {
	packages, err := list(ctx, patterns)
	if err != nil {
		return 1, err
	}
	if err := os.MkdirAll(flakesDir, 0o755); err != nil {
		return 1, err
	}
	stop, err := disturb(flakesDir)
	if err != nil {
		return 1, err
	}
	defer stop()
	seats := make(chan struct{}, together)
	failures := make([]error, len(packages))
	var group sync.WaitGroup
	for i, p := range packages {
		seats <- struct{}{}
		group.Go(func() {
			failures[i] = p.untilClean(ctx, rounds)
			<-seats
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return 1, errors.New("stopped; the next call goes on")
	}
	if err := errors.Join(failures...); err != nil {
		return 1, err
	}
	return summarize(packages, rounds)
}

// untilClean runs rounds of a package until the last ones, as many as are asked for, have no failure.
// It stops at a failure: the cause is mended before it is worth going on.
func (p testedPackage) untilClean(ctx context.Context, rounds int) error {
	done, err := readRounds()
	if err != nil {
		return err
	}
	list := done[p.path]
	for clean(list) < rounds {
		x, err := p.round(ctx, len(list)+1)
		if err := errors.Join(ctx.Err(), err); err != nil {
			return err
		}
		if err := appendRound(x); err != nil {
			return err
		}
		if len(x.Failed) > 0 {
			return nil
		}
		list = append(list, x)
	}
	return nil
}

// clean returns how many of the last rounds have no failure.
func clean(list []round) (n int) {
	for _, x := range slices.Backward(list) {
		if len(x.Failed) > 0 {
			break
		}
		n++
	}
	return n
}

func summarize(packages []testedPackage, rounds int) (code int, err error) {
	done, err := readRounds()
	if err != nil {
		return 1, err
	}
	fmt.Printf("%-40s %7s %7s %s\n", "PACKAGE", "ROUNDS", "FAILED", "CLEAN")
	for _, p := range packages {
		failed := 0
		for _, x := range done[p.path] {
			if len(x.Failed) > 0 {
				failed++
			}
		}
		n := clean(done[p.path])
		fmt.Printf("%-40s %7d %7d %5d\n", short(p.path), len(done[p.path]), failed, n)
		if n < rounds {
			code = 1
		}
	}
	return code, nil
}

type testedPackage struct{ path, dir string }

// list returns the packages that have tests.
func list(ctx context.Context, patterns []string) (packages []testedPackage, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-f", `{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}`}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if path, dir, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			packages = append(packages, testedPackage{path, dir})
		}
	}
	return packages, nil
}

func (p testedPackage) round(ctx context.Context, n int) (round, error) {
	x := round{Package: p.path, Round: n, Time: time.Now().UTC().Truncate(time.Second), Commit: commit(), CPU: []int{1, 2, 4}[n%3], Race: n%5 == 0}
	program, err := p.compile(ctx, x.Race)
	if err != nil {
		return x, err
	}
	args := []string{"tool", "test2json", "-p", p.path, program, "-test.v=test2json", "-test.shuffle=on", "-test.timeout=20m", fmt.Sprintf("-test.cpu=%d", x.CPU)}
	if x.Race {
		args = append(args, "-test.short")
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stderr = p.dir, os.Stderr
	results, code, err := follow(cmd)
	if err != nil {
		return x, err
	}
	x.Seconds = time.Since(x.Time).Seconds()
	result := results.of(p.path)
	for _, t := range result.failed {
		x.Failed = append(x.Failed, t.name)
	}
	if code != 0 && len(x.Failed) == 0 {
		x.Failed = []string{"the program as a whole"}
	}
	x.Shuffle, x.Seed = result.shuffle, result.seed()
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		x.Load = strings.Join(strings.Fields(string(load))[:3], " ")
	}
	outcome := "ok"
	if len(x.Failed) > 0 {
		outcome = "FAILED: " + strings.Join(x.Failed, " ")
		result.printFailures(os.Stdout)
	}
	fmt.Printf("%s round %d: -cpu=%d race %v -shuffle=%s, %.1f s, load %s: %s\n", short(p.path), n, x.CPU, x.Race, x.Shuffle, x.Seconds, x.Load, outcome)
	return x, nil
}

// compile builds the tests of a package, which go does again only if anything has changed.
func (p testedPackage) compile(ctx context.Context, race bool) (string, error) {
	dir, err := filepath.Abs(flakesDir)
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, strings.ReplaceAll(short(p.path), "/", "-")+".test")
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, p.path)
	if race {
		program = filepath.Join(dir, strings.ReplaceAll(short(p.path), "/", "-")+".race.test")
		cmd = exec.CommandContext(ctx, "go", "test", "-c", "-race", "-o", program, p.path)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return program, cmd.Run()
}

func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// readRounds returns the rounds so far of each package.
func readRounds() (map[string][]round, error) {
	done := map[string][]round{}
	f, err := os.Open(flakesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var x round
		if err := json.Unmarshal(s.Bytes(), &x); err != nil {
			continue // an empty line, or one that was cut off
		}
		done[x.Package] = append(done[x.Package], x)
	}
	return done, s.Err()
}

func appendRound(x round) error {
	b, err := json.Marshal(x)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(flakesFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(slices.Concat([]byte("\n"), b, []byte("\n"))) // the line before may have been cut off
	return errors.Join(err, f.Close())
}
