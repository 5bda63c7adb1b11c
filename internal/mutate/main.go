// Mutate changes one token of the code at a time and reports the changes that no test notices.
//
//	go run ./internal/mutate [flags] [package...]
//
// No file is edited: the changed text is compiled with go build's -overlay, all changes in one
// program where possible. A change that does not compile is not counted. A change is noticed when a
// test fails or hangs.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

const module = "github.com/gclog/gclog"

// A subject is a package to change, with the packages whose tests test it, the fastest first.
type subject struct {
	pkg     string
	tests   []string // a package, or package:pattern for those of its tests that match
	percent float64  // share of the changes that must be noticed
}

// systemTests are the tests of whole programs that take seconds; the others in that package take
// minutes.
const systemTests = "internal/testing/fakenode/check:^(TestAttach|TestComingAndGoing|TestFilesTaken|TestKilledTarget|TestReusedPIDs)$"

var subjects = []subject{
	{"parse", []string{"parse"}, 95},
	{"parse/clr", []string{"parse/clr"}, 95},
	{"gclog", []string{"gclog"}, 95},
	{"gclog/analysis", []string{"gclog/analysis"}, 90},
	{"gclog/heap", []string{"gclog/heap"}, 90},
	{"formats", []string{"formats", "formats/logs"}, 90},
	{"internal/rotate", []string{"internal/rotate"}, 90},
	{"session", []string{"session"}, 90},
	{"internal/host", []string{"internal/host"}, 90},
	{"internal/attach", []string{"internal/attach", "internal/daemon", systemTests}, 90},
	{"internal/daemon", []string{"internal/daemon", systemTests}, 90},
}

func main() {
	n := flag.Int("n", 100, "changes per package; 0: all")
	seed := flag.Uint64("seed", 0, "which changes; 0: a random seed")
	match := flag.String("match", "", "only changes whose `line` of the report matches, as parse/reader.go:120")
	longest := flag.Duration("longest", time.Hour, "leave out tests that take longer: more survives, but sooner")
	list := flag.Bool("list", false, "list the changes instead of trying them")
	flag.Parse()
	if *seed == 0 {
		*seed = rand.Uint64N(1_000_000) + 1
	}
	pattern, err := regexp.Compile(*match)
	check(err)
	known, err := readKnown(knownFile)
	check(err)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	asked, err := chosen(flag.Args())
	check(err)
	fmt.Printf("seed %d\n", *seed)
	failed := false
	for _, s := range asked {
		all, err := changesOf(s.pkg)
		check(err)
		all = slices.DeleteFunc(all, func(c change) bool { return !pattern.MatchString(c.String()) })
		if *list {
			for _, c := range all {
				fmt.Println(c)
			}
			continue
		}
		random := rand.New(rand.NewPCG(*seed, 0))
		random.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		result, err := try(ctx, os.Stdout, s, all, options{n: *n, longest: *longest, patience: 20 * time.Second, known: known})
		check(err)
		fmt.Printf("%s: %s (to reach: %.0f %%)\n", s.pkg, result, s.percent)
		failed = failed || result.share() < s.percent
	}
	if failed {
		os.Exit(1)
	}
}

// chosen returns the subjects with these packages, which may be written as for the go command. No
// packages are all of them.
func chosen(packages []string) (list []subject, err error) {
	if len(packages) == 0 {
		return subjects, nil
	}
	for _, name := range packages {
		i := slices.IndexFunc(subjects, func(s subject) bool { return s.pkg == path.Clean(name) })
		if i < 0 {
			return nil, fmt.Errorf("%s is none of the packages whose tests must notice changes", name)
		}
		list = append(list, subjects[i])
	}
	return list, nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", strings.TrimSpace(err.Error()))
		os.Exit(2)
	}
}
