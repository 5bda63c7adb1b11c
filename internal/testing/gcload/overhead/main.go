//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
)

var (
	flavours = []string{"wks", "svr"}
	// levels are the levels compared; "" is without gclog.
	levels = []string{"", "light", "normal", "full"}
)

// work allocates on all processors, with survivors in all generations.
var work = []string{"churn", "--live", "50", "--loh", "5", "--quiet", "--exit-on-eof"}

func main() {
	o := options{rounds: 12, window: time.Second}
	if err := o.parse(os.Args[1:]); err != nil {
		fail(err)
	}
	list, err := runtimes()
	if err != nil {
		fail(err)
	}
	fmt.Printf("%-19s %24s %24s %24s %7s %9s\n", "", "throughput", "per second of CPU", "mean pause", "GCs", "gclog")
	fmt.Printf("%-19s %24s %24s %24s %7s %9s\n", "", "", "", "", "per s", "% a core")
	for _, r := range list {
		for _, flavour := range flavours {
			if err := o.compare(r, flavour); err != nil {
				fail(fmt.Errorf("%s %s: %w", r.Name, flavour, err))
			}
		}
	}
}

type options struct {
	gclog  string
	rounds int
	window time.Duration
}

func (o *options) parse(args []string) error {
	if len(args) < 1 || len(args) > 3 {
		return errors.New("usage: overhead GCLOG [ROUNDS [SECONDS]]")
	}
	o.gclog = args[0]
	for i, arg := range args[1:] {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no count", arg)
		}
		if i == 0 {
			o.rounds = n
		} else {
			o.window = time.Duration(n) * time.Second
		}
	}
	if o.rounds < minRounds {
		return fmt.Errorf("%d rounds: it takes %d", o.rounds, minRounds)
	}
	return nil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "overhead:", err)
	os.Exit(1)
}

func runtimes() ([]*gcload.Runtime, error) {
	if extent.Full() {
		if list, err := gcload.Shared(); err != nil || len(list) > 0 {
			return list, err
		}
	}
	r, err := gcload.FromRepository()
	return []*gcload.Runtime{r}, err
}

// compare measures a runtime and prints a line for each level.
func (o *options) compare(r *gcload.Runtime, flavour string) error {
	t, err := startTrial(o.gclog, r, flavour)
	if err != nil {
		return err
	}
	defer t.end()
	if _, err := t.run("normal", o.window); err != nil { // discarded: the first session differs from later ones
		return err
	}
	var rounds []map[string]window
	order := append(slices.Clone(levels), levels...)
	slices.Reverse(order[len(levels):])
	for range o.rounds {
		round := map[string]window{}
		for _, level := range order {
			w, err := t.run(level, o.window)
			if err != nil {
				return err
			}
			round[level] = round[level].plus(w)
		}
		rounds = append(rounds, round)
	}
	report(r.Name+" "+flavour, rounds)
	return nil
}

func report(name string, rounds []map[string]window) {
	var all window
	for _, round := range rounds {
		all = all.plus(round[""])
	}
	fmt.Printf("%-11s without %19.0f MB/s %22.0f MB %21.0f us %7.1f\n", name,
		all.throughput()/1e6, all.perCPU()/1e6, all.meanPause()*1e6, all.gcs/all.seconds)
	for _, level := range levels[1:] {
		all := window{}
		for _, round := range rounds {
			all = all.plus(round[level])
		}
		fmt.Printf("%19s %24s %24s %24s %7.1f %9.2f\n", level,
			change(rounds, level, window.throughput), change(rounds, level, window.perCPU), change(rounds, level, window.meanPause),
			all.gcs/all.seconds, 100*all.gclog/all.seconds)
	}
}
