package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A failure is a package with tests that failed, and what their run depended on.
type failure struct {
	Package string
	Tests   []string // without subtests; none: the package failed as a whole
	Flags   []string `json:",omitempty"` // of go test
	Shuffle string   `json:",omitempty"` // the seed of the order
	Seed    string   `json:",omitempty"` // GCLOG_SEED
	Env     []string `json:",omitempty"` // GCLOG_TEST and the like
}

// repeated matches the flags of go test with which a failure is repeated.
var repeated = regexp.MustCompile(`^-(race|short|(cpu|timeout|parallel|tags|skip)=.*)$`)

var failuresFile = filepath.Join("bin", "failed.json")

// failuresOf returns what failed in a run with these arguments of go test.
func failuresOf(r *results, args []string) (list []failure) {
	for _, p := range r.packages {
		if p.ended != "fail" {
			continue
		}
		f := failure{Package: p.name, Shuffle: p.shuffle, Seed: cmp.Or(os.Getenv("GCLOG_SEED"), p.seed()), Env: variables()}
		for _, t := range p.failed {
			if top, _, _ := strings.Cut(t.name, "/"); !slices.Contains(f.Tests, top) {
				f.Tests = append(f.Tests, top)
			}
		}
		for _, a := range args {
			if repeated.MatchString(a) {
				f.Flags = append(f.Flags, a)
			}
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b failure) int { return strings.Compare(a.Package, b.Package) })
	return list
}

// variables returns those that say what is tested, and with what.
func variables() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return !strings.HasPrefix(v, "GCLOG_") || strings.HasPrefix(v, "GCLOG_SEED=")
	})
}

// remember writes the failures for -again.
func remember(list []failure) error {
	b, err := json.MarshalIndent(list, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(failuresFile), 0o755); err != nil {
		return err
	}
	return os.WriteFile(failuresFile, append(b, '\n'), 0o644)
}

// again runs what failed in the last run. What passes now is no longer remembered.
func again(ctx context.Context) (code int, err error) {
	b, err := os.ReadFile(failuresFile)
	if errors.Is(err, fs.ErrNotExist) {
		return 2, errors.New("nothing to run again: no tests have run here yet")
	}
	if err != nil {
		return 1, err
	}
	var list []failure
	if err := json.Unmarshal(b, &list); err != nil {
		return 1, fmt.Errorf("%s: %w: remove it", failuresFile, err)
	}
	if len(list) == 0 {
		fmt.Println("nothing failed in the last run")
		return 0, nil
	}
	var left []failure
	for _, f := range list {
		args, env := f.command()
		fmt.Println(strings.Join(append(append(slices.Clone(env), "go", "test"), args...), " "))
		r, failed, err := test(ctx, env, args)
		if err != nil {
			return 1, err
		}
		r.printLines(os.Stdout)
		if failed != 0 {
			code = failed
			left = append(left, f)
		}
	}
	return code, remember(left)
}

// artifacts returns the folder for what failing tests leave.
func artifacts() string {
	dir, err := filepath.Abs(filepath.Join("bin", "artifacts"))
	if err != nil {
		return "bin"
	}
	return dir
}

// command returns the arguments of go test and the environment that repeat a failure.
func (f *failure) command() (args, env []string) {
	args = append([]string{"-count=1", "-artifacts", "-outputdir=" + artifacts()}, f.Flags...)
	if f.Shuffle != "" {
		args = append(args, "-shuffle="+f.Shuffle)
	}
	if len(f.Tests) > 0 {
		names := make([]string, len(f.Tests))
		for i, t := range f.Tests {
			names[i] = regexp.QuoteMeta(t)
		}
		args = append(args, "-run=^("+strings.Join(names, "|")+")$")
	}
	env = slices.Clone(f.Env)
	if f.Seed != "" {
		env = append(env, "GCLOG_SEED="+f.Seed)
	}
	if slices.Contains(f.Flags, "-race") {
		env = append(env, "CGO_ENABLED=1")
	}
	return append(args, f.Package), env
}
