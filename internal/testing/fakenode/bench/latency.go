//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/gclog/gclog/internal/testing/fakenode"
	"golang.org/x/sys/unix"
)

// maxWatched is how many files are watched: enough for the quantiles, and few enough not to keep
// the machine busy.
const (
	maxWatched = 25
	lookEvery  = 5 * time.Millisecond
)

// A watcher notes when records appear in files.
type watcher struct {
	files []*watched
	from  int // collections of all runtimes at the start
	ask   chan struct{}
	done  chan struct{}
}

// A watched file is the log of a runtime.
type watched struct {
	f      *os.File
	of     *fakenode.Runtime
	offset int64
	rest   []byte // the start of a line that is not complete yet
	seen   map[uint32]int64
}

func watchFiles(n *fakenode.Node, dir string) *watcher {
	w := &watcher{ask: make(chan struct{}), done: make(chan struct{}), from: collections(n)}
	runtimes := n.Runtimes()
	for i, r := range runtimes {
		if i%max(1, len(runtimes)/maxWatched) != 0 {
			continue
		}
		names, _ := filepath.Glob(filepath.Join(dir, "*-"+strconv.Itoa(r.PID())+".json"))
		if len(names) != 1 {
			continue
		}
		f, err := os.Open(names[0])
		if err != nil {
			continue
		}
		info, err := f.Stat()
		if err != nil {
			continue
		}
		w.files = append(w.files, &watched{f: f, of: r, offset: info.Size(), seen: map[uint32]int64{}})
	}
	go func() {
		defer close(w.done)
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		buf := make([]byte, 64<<10)
		for {
			select {
			case <-ticker.C:
			case <-w.ask:
				return
			}
			for _, x := range w.files {
				x.look(buf)
			}
		}
	}()
	return w
}

var sequence = regexp.MustCompile(`"action":"gc",.*"sequence":(\d+)`)

func (x *watched) look(buf []byte) {
	n, _ := x.f.ReadAt(buf, x.offset)
	if n == 0 {
		return
	}
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // cannot fail
	x.offset += int64(n)
	x.rest = append(x.rest, buf[:n]...)
	for {
		line, rest, whole := bytes.Cut(x.rest, []byte{'\n'})
		if !whole {
			return
		}
		if m := sequence.FindSubmatch(line); m != nil {
			number, _ := strconv.ParseUint(string(m[1]), 10, 32)
			x.seen[uint32(number)] = now.Nano()
		}
		x.rest = rest
	}
}

// stop returns the latencies of the records, from the end of the collection until they were seen in
// the file, in ascending order.
func (w *watcher) stop() (late []time.Duration) {
	close(w.ask)
	<-w.done
	for _, x := range w.files {
		_ = x.f.Close()
		l := x.of.Ledger()
		for number, at := range x.seen {
			if int(number) <= len(l.GCs) && number > 0 {
				late = append(late, time.Duration(at-l.GCs[number-1].End))
			}
		}
	}
	slices.Sort(late)
	return late
}

// rate returns the collections per second of all runtimes.
func (w *watcher) rate(n *fakenode.Node, seconds float64) float64 {
	return float64(collections(n)-w.from) / seconds
}

func collections(n *fakenode.Node) (sum int) {
	for _, r := range n.Runtimes() {
		sum += len(r.Ledger().GCs)
	}
	return sum
}

// millis formats a quantile of sorted durations.
func millis(sorted []time.Duration, q float64) string {
	if len(sorted) == 0 {
		return "-"
	}
	d := sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
	return fmt.Sprintf("%.0f", float64(d.Microseconds())/1000)
}
