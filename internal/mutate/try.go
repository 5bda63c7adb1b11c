package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A result counts the outcomes of the changes of a package.
type result struct {
	noticed, survived int
	uncovered         int // of those that survived: no test runs them
	known             int // make no difference
	broken            int // do not compile
}

// share returns the percentage of noticed changes among those that make a difference.
func (r result) share() float64 {
	if r.noticed+r.survived == 0 {
		return 100
	}
	return 100 * float64(r.noticed) / float64(r.noticed+r.survived)
}

func (r result) String() string {
	return fmt.Sprintf("noticed %d of %d, %.1f %% (survived: %d, of them run by no test: %d; listed as no difference: %d; not compiling: %d)",
		r.noticed, r.noticed+r.survived, r.share(), r.survived, r.uncovered, r.known, r.broken)
}

// options control how thoroughly changes are tried.
type options struct {
	n        int           // changes that compile and make a difference; 0: all
	longest  time.Duration // tests that take longer are left out
	patience time.Duration // time that tests may take in addition to what they need without a change
	cpu      time.Duration // CPU time that a process may take, in whole seconds; 0: any
	known    []known       // make no difference
}

// batchSize is how many changes are compiled together.
const batchSize = 200

// A trial tries changes of a package.
type trial struct {
	out    io.Writer
	dir    string
	o      options
	suites []*suite
	blocks []block // that a test can run
	mu     sync.Mutex
	result result
}

// try tries changes until there are enough and writes those that survive.
func try(ctx context.Context, out io.Writer, s subject, changes []change, o options) (result, error) {
	// Not in the folder for temporary files: tests see only their own files there.
	dir, err := os.MkdirTemp("/var/tmp", "mutate")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		return result{}, err
	}
	t := &trial{out: out, dir: dir, o: o}
	for _, tests := range s.tests {
		suite, blocks, err := newSuite(ctx, tests, s.pkg, dir, o)
		if err != nil {
			return result{}, err
		}
		t.suites, t.blocks = append(t.suites, suite), blocks
	}
	changes = slices.DeleteFunc(changes, func(c change) bool {
		is := slices.ContainsFunc(o.known, func(k known) bool { return k.is(c) })
		if is {
			t.result.known++
		}
		return is
	})
	for len(changes) > 0 {
		size := min(batchSize, len(changes))
		if o.n > 0 {
			size = min(size, o.n-t.result.noticed-t.result.survived)
		}
		if size == 0 {
			break
		}
		if err := t.batch(ctx, changes[:size]); err != nil {
			return t.result, err
		}
		changes = changes[size:]
	}
	return t.result, nil
}

// batch tries changes that are compiled together, as far as possible.
func (t *trial) batch(ctx context.Context, changes []change) error {
	o, broken, err := together(ctx, filepath.Join(t.dir, "together"), changes)
	if err != nil {
		return err
	}
	programs := make([]string, len(t.suites))
	for i, s := range t.suites {
		if programs[i], err = o.program(ctx, s.pkg); err != nil {
			return err
		}
	}
	var wg sync.WaitGroup
	errs := make([]error, len(changes))
	free := make(chan struct{}, runtime.NumCPU())
	for i, c := range changes {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			if broken[i+1] {
				errs[i] = t.count(c, tried{}, errCompile)
				return
			}
			programs := programs
			if c.function == nil {
				programs = nil
			}
			did, err := t.try(ctx, c, i+1, programs)
			errs[i] = t.count(c, did, err)
		})
	}
	wg.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// tried is the outcome of a change.
type tried struct {
	noticed bool
	covered bool // a test runs it
}

func (t *trial) count(c change, did tried, err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case errors.Is(err, errCompile):
		t.result.broken++
	case err != nil:
		return err
	case did.noticed:
		t.result.noticed++
	default:
		t.result.survived++
		why := ""
		if !did.covered {
			t.result.uncovered++
			why = " (no test runs it)"
		}
		fmt.Fprintf(t.out, "survived: %s%s\n", c, why)
	}
	return nil
}

// try runs the tests with one change, in programs that make it under its number or, if there are
// none, in separately built ones.
func (t *trial) try(ctx context.Context, c change, number int, programs []string) (did tried, err error) {
	dir := filepath.Join(t.dir, strconv.Itoa(number))
	defer os.RemoveAll(dir)
	var o *overlay
	if programs == nil {
		if o, err = alone(ctx, dir, c); err != nil {
			return did, err
		}
	}
	inBlock := slices.ContainsFunc(t.blocks, func(b block) bool { return b.has(c) })
	for i, s := range t.suites {
		tests := s.of(c, inBlock)
		if len(tests) == 0 {
			continue
		}
		did.covered = true
		name := filepath.Join(dir, flat(s.pkg), changedName+strconv.Itoa(number))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return did, err
		}
		if o != nil {
			program, err := o.program(ctx, s.pkg)
			if err != nil {
				return did, err
			}
			name = program
		} else if err := os.Link(programs[i], name); err != nil {
			return did, err
		}
		if did.noticed, err = s.notices(ctx, name, tests, dir, t.o); did.noticed || err != nil {
			return did, err
		}
	}
	return did, nil
}
