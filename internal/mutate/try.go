package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A result counts what became of the changes of a package.
type result struct {
	noticed, survived int
	uncovered         int // of those that survived: no test runs them
	known             int // make no difference
	broken            int // do not compile
}

// share returns how many percent of the changes that make a difference were noticed.
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

// The file that tells the go command which text a file has instead of its own, and that text.
const (
	overlayName = "overlay.json"
	changedName = "changed.go"
)

// options say how thoroughly changes are tried.
type options struct {
	n        int           // changes that compile and make a difference; 0: all
	longest  time.Duration // tests that take longer are left out
	patience time.Duration // how long tests may take beyond what they need without a change
	known    []known       // make no difference
}

// try makes one change after the other and writes those that survive.
func try(ctx context.Context, out io.Writer, s subject, changes []change, o options) (result, error) {
	var r result
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		return r, err
	}
	var suites []*suite
	var blocks []block
	for _, pkg := range s.tests {
		suite, all, err := newSuite(ctx, pkg, s.pkg, dir, o)
		if err != nil {
			return r, err
		}
		suites, blocks = append(suites, suite), all
	}
	for _, c := range changes {
		if o.n > 0 && r.noticed+r.survived >= o.n || ctx.Err() != nil {
			break
		}
		if slices.ContainsFunc(o.known, func(k known) bool { return k.is(c) }) {
			r.known++
			continue
		}
		noticed, covered, err := tryOne(ctx, c, suites, slices.ContainsFunc(blocks, func(b block) bool { return b.has(c) }), dir, o.patience)
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, errCompile):
			r.broken++
		case err != nil:
			return r, err
		case noticed:
			r.noticed++
		default:
			r.survived++
			why := ""
			if !covered {
				r.uncovered++
				why = " (no test runs it)"
			}
			fmt.Fprintf(out, "survived: %s%s\n", c, why)
		}
	}
	return r, nil
}

// tryOne makes one change. It reports whether a test noticed it, and whether any runs it.
func tryOne(ctx context.Context, c change, suites []*suite, inBlock bool, dir string, patience time.Duration) (noticed, covered bool, err error) {
	content, err := os.ReadFile(c.file)
	if err != nil {
		return false, false, err
	}
	changed := filepath.Join(dir, changedName)
	if err := os.WriteFile(changed, c.apply(content), 0o600); err != nil {
		return false, false, err
	}
	file, err := filepath.Abs(c.file)
	if err != nil {
		return false, false, err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	if err != nil {
		return false, false, err
	}
	if err := os.WriteFile(filepath.Join(dir, overlayName), overlay, 0o600); err != nil {
		return false, false, err
	}
	for _, s := range suites {
		tests := s.of(c, inBlock)
		covered = covered || len(tests) > 0
		if noticed, err = s.notices(ctx, c, tests, dir, patience); noticed || err != nil {
			return noticed, covered, err
		}
	}
	return false, covered, nil
}
