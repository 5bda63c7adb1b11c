//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/internal/testing/gcload"
)

// sizes are the graphs: what the load program is told, for about so many million objects.
var sizes = []size{
	{"0.1", []string{"--scale", "1", "--deep", "50000"}},
	{"1", []string{"--scale", "16", "--deep", "50000"}},
	{"10", []string{"--scale", "160", "--deep", "500000"}},
	{"12", []string{"--scale", "200", "--deep", "500000"}},
}

type size struct {
	millions string
	args     []string
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == libraryArg {
		if err := library(os.Args[2]); err != nil {
			fail(err)
		}
		return
	}
	o := options{rounds: 5}
	if err := o.parse(os.Args[1:]); err != nil {
		fail(err)
	}
	if err := o.run(); err != nil {
		fail(err)
	}
}

type options struct {
	gclog  string
	rounds int
	sizes  []size
	dir    string // for the files
	failed []string
}

// The memory that gclog may need for up to 10 million objects, and heap stat for any number.
const (
	snapshotMemory = 450 << 20
	statMemory     = 64 << 20
)

// limit notes that a command needed too much memory.
func (o *options) limit(s size, command string, memory, limit int64) {
	if memory > limit {
		o.failed = append(o.failed, fmt.Sprintf("%s of %s million objects: %d MB of memory, more than %d", command, s.millions, memory>>20, limit>>20))
	}
}

func (o *options) parse(args []string) (err error) {
	if len(args) < 1 {
		return errors.New("usage: snapshots GCLOG [ROUNDS [MILLIONS...]]")
	}
	o.gclog = args[0]
	if len(args) > 1 {
		if o.rounds, err = strconv.Atoi(args[1]); err != nil || o.rounds < 1 {
			return fmt.Errorf("%q is no number of rounds", args[1])
		}
	}
	if len(args) < 3 {
		o.sizes = sizes
		return nil
	}
	for _, millions := range args[2:] {
		i := slices.IndexFunc(sizes, func(s size) bool { return s.millions == millions })
		if i < 0 {
			return fmt.Errorf("there is no graph of %q million objects", millions)
		}
		o.sizes = append(o.sizes, sizes[i])
	}
	return nil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "snapshots:", err)
	os.Exit(1)
}

// run measures each size and prints the tables.
func (o *options) run() error {
	runtime, err := gcload.FromRepository()
	if err != nil {
		return err
	}
	if o.dir, err = os.MkdirTemp("", "heap"); err != nil {
		return err
	}
	defer os.RemoveAll(o.dir)
	before := load()
	var live, files []string
	for _, s := range o.sizes {
		rows, err := o.live(runtime, s)
		if err != nil {
			return err
		}
		live = append(live, rows...)
		if rows, err = o.files(s); err != nil {
			return err
		}
		files = append(files, rows...)
	}
	fmt.Printf("Medians of %d; load of the machine before and after: %s and %s\n\n", o.rounds, before, load())
	fmt.Println("A raw session, and gclog heap snapshot: seconds until the program resumes, and until the file is complete")
	fmt.Printf("%10s %-5s %8s %8s %6s %8s %8s %6s %8s %8s %8s\n", "objects", "", "resumes", "gclog", "ratio", "complete", "gclog", "ratio", "paused", "gclog", "memory")
	fmt.Println(strings.Join(live, "\n"))
	fmt.Println("\nThe files: seconds, and memory")
	fmt.Printf("%10s %10s %20s %8s %8s %8s\n", "objects", "references", "", "wall", "CPU", "memory")
	fmt.Println(strings.Join(files, "\n"))
	if len(o.failed) > 0 {
		return errors.New(strings.Join(o.failed, "; "))
	}
	return nil
}

// load returns how many threads have run or waited for a CPU in the last minute, on average.
func load() string {
	b, _ := os.ReadFile("/proc/loadavg")
	text, _, _ := strings.Cut(string(b), " ")
	return text
}

// The files that a size leaves behind for the second table.
func (o *options) recording() string { return filepath.Join(o.dir, "raw.nettrace") }
func (o *options) dump() string      { return filepath.Join(o.dir, "x.gcdump") }
