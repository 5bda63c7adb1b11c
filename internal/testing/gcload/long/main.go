// Command long is the first part of "make calibrate": it records real .NET runtimes under steady
// load for so long that the halves of a recording have more than 500 pauses.
package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gclog/gclog/internal/testing/gcload"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: long PATH-OF-GCLOG DIRECTORY DURATION")
		os.Exit(3)
	}
	if _, err := time.ParseDuration(os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "long:", err)
		os.Exit(3)
	}
	if err := record(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "long:", err)
		os.Exit(1)
	}
}

// warmUp is how long a program works before it is recorded: until then its heap grows, and its code is
// compiled once more. So its first seconds are no sample of what follows, as docs/compare.md says.
const warmUp = 30 * time.Second

// work allocates so little that the machine is mostly idle, and the knobs limit the gen0 budget so
// that there are some 20 to 40 collections per second nevertheless.
var (
	work  = []string{"churn", "--rate", "80", "--live", "10", "--loh", "2", "--threads", "1", "--quiet", "--exit-on-eof"}
	knobs = []string{"GCgen0size=200000", "GCGen0MaxBudget=200000"}
)

func record(gclog, dir, duration string) error {
	list, err := gcload.Shared()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		r, err := gcload.FromRepository()
		if err != nil {
			return err
		}
		list = append(list, r)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, r := range list {
		for _, flavour := range []string{"wks", "wks-nc", "svr"} {
			if r.Major < 5 || !r.Has(flavour) {
				continue
			}
			name := filepath.Join(dir, r.Name+"-"+flavour+".nettrace.gz")
			if err := recordSteady(gclog, name, duration, r, flavour); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// recordSteady records one runtime, again and again until the machine was as fast from the start to the
// end.
func recordSteady(gclog, name, duration string, r *gcload.Runtime, flavour string) error {
	p := newProbe()
	for range attempts {
		drift, err := recordOne(gclog, name, duration, r, flavour, p)
		if err != nil {
			return err
		}
		fmt.Printf("%s: the slowest quarter of the time took %.0f %% longer than the fastest\n", name, 100*(drift-1))
		if drift <= mostDrift {
			return nil
		}
	}
	return fmt.Errorf("the speed of the machine changed by more than %.0f %% during each of %d recordings, which says nothing about gclog: something else uses it", 100*(mostDrift-1), attempts)
}

// attempts is how often a recording is made, at most.
const attempts = 3

// recordOne records one runtime, and returns the drift that the probe has found meanwhile.
func recordOne(gclog, name, duration string, r *gcload.Runtime, flavour string, speed *probe) (drift float64, err error) {
	p, err := r.Start("", flavour, knobs, work...)
	if err != nil {
		return 0, err
	}
	defer p.Kill()
	time.Sleep(warmUp)
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	cmd := exec.Command(gclog, "record", strconv.Itoa(p.PID), "--level", "light", "--for", duration, "-o", "-")
	cmd.Stderr = os.Stderr
	stream, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	speed.start()
	_, err = io.Copy(z, stream)
	drift = speed.end()
	if err != nil {
		return 0, err
	}
	if err := cmd.Wait(); err != nil {
		return 0, err
	}
	if err := z.Close(); err != nil {
		return 0, err
	}
	return drift, p.Exit(0)
}
