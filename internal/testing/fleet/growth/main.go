// Command growth measures how large records are, in each format and at each level, and what that means
// for a number of processes: the tables of docs/growth.md.
//
//	go run ./internal/testing/fleet/growth RECORDING...
//
// A session of a lower level has fewer of the same events, so all levels are measured with the
// collections of the recordings of level full. There are few of those: the size of a record depends
// more on the program, so all recordings are measured as they are, too.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/parquet"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// interval is how often a process collects, for the table of processes.
const interval = 10 * time.Second

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

func run(paths []string) error {
	var all, recordings [][]byte // recordings are those of level full
	for _, path := range paths {
		b, err := read(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, b)
		if isFull(b) {
			recordings = append(recordings, b)
		}
	}
	if len(recordings) == 0 {
		return errors.New("give recordings of level full")
	}
	perLevel := map[string]map[string]float64{}
	fmt.Printf("bytes per collection, of %d recordings of level full\n\n", len(recordings))
	names := append(formatNames(), "parquet")
	fmt.Printf("| level | %s |\n|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for _, level := range attach.Levels {
		sizes, err := measure(recordings, level)
		if err != nil {
			return err
		}
		perLevel[level] = sizes
		fmt.Printf("| %s |", level)
		for _, name := range names {
			fmt.Printf(" %.0f |", sizes[name])
		}
		fmt.Println()
	}
	sizes, err := measure(all, "as recorded")
	if err != nil {
		return err
	}
	fmt.Printf("| all %d recordings |", len(all))
	for _, name := range names {
		fmt.Printf(" %.0f |", sizes[name])
	}
	perLevel["all"] = sizes
	fmt.Printf("\n\n%.0f collections of level full, %.0f in all recordings; a Parquet file has %.0f bytes besides its rows\n", perLevel["full"]["collections"], sizes["collections"], sizes["file"])
	perDay := float64(24 * time.Hour / interval)
	fmt.Printf("\nper day, with a collection every %v: %.0f records of a process\n\n| processes | records | records/s | level | json | parquet |\n|---|---|---|---|---|---|\n", interval, perDay)
	for _, n := range []float64{1, 100, 10_000, 1_000_000} {
		for _, level := range append(attach.Levels, "all") {
			fmt.Printf("| %.0f | %s | %s | %s | %s | %s |\n", n, count(n*perDay), count(n*perDay/86400), level, size(n*perDay*perLevel[level]["json"]), size(n*perDay*perLevel[level]["parquet"]))
		}
	}
	return nil
}

func formatNames() (names []string) {
	for _, f := range formats.All() {
		names = append(names, f.Name)
	}
	return names
}

// read reads a recording, which may be compressed.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := unpack.Reader(f, new(atomic.Int64), unpack.LimitPassed)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// isFull reports whether a recording has the events of level full.
func isFull(b []byte) bool {
	full := false
	r := parse.NewReader(bytes.NewReader(b), func(m *parse.Metadata) parse.Want {
		full = full || m.Provider == clr.RuntimeProvider && m.EventID == clr.IDGCAllocationTick
		return parse.Want{}
	})
	if _, err := r.ReadTrace(); err != nil {
		return false
	}
	for r.Scan() {
	}
	return full
}

// within reports whether a session of a level receives a kind of event.
func within(level string, m *parse.Metadata) bool {
	switch level {
	case "light":
		return m.Provider != clr.PrivateProvider && m.EventID != clr.IDGCAllocationTick && m.EventID != clr.IDPinObjectAtGCTime
	case "normal":
		return m.Provider != clr.RuntimeProvider || m.EventID != clr.IDGCAllocationTick && m.EventID != clr.IDPinObjectAtGCTime
	}
	return true
}

// measure returns the bytes per collection in each format.
func measure(recordings [][]byte, level string) (map[string]float64, error) {
	dir, err := os.MkdirTemp("", "growth")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	table := parquet.NewTable(parquet.Options{Path: filepath.Join(dir, "growth.parquet"), Version: "1.0", Stamp: time.Unix(1, 0)})
	defer table.Discard()
	sizes, collections := map[string]float64{}, 0.0
	for number, b := range recordings {
		var out []*bytes.Buffer
		err := reduce(b, level, func(p *gclog.Process) gclog.Observer {
			describe(p, number)
			all := []gclog.Observer{table.Observe(p, "", func(error) {}), (&counter{n: &collections}).Observe}
			for _, f := range formats.All() {
				buf := &bytes.Buffer{}
				out = append(out, buf)
				all = append(all, formats.NewWriter(f, formats.NewStream(buf, false), formats.Options{Process: *p, Version: "1.0", Session: "0123456789abcdef"}).Observe)
			}
			return gclog.Tee(all...)
		})
		if err != nil {
			return nil, err
		}
		for i, buf := range out {
			sizes[formats.All()[i%len(formats.All())].Name] += float64(buf.Len())
		}
	}
	files, err := table.Finish()
	if err != nil {
		return nil, err
	}
	for name := range sizes {
		sizes[name] /= collections
	}
	least, err := smallest(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		sizes["parquet"] += float64(f.Size-least) / (collections - 1)
	}
	sizes["file"], sizes["collections"] = float64(least), collections
	return sizes, nil
}

// smallest returns the size of a Parquet file of the daemon with one row: most of it does not grow.
func smallest(dir string) (int64, error) {
	table := parquet.NewTable(parquet.Options{Path: filepath.Join(dir, "one.parquet"), Version: "1.0", Stamp: time.Unix(1, 0)})
	table.Observe(&gclog.Process{ID: 1}, "", func(error) {})(&gclog.GCDetails{})
	files, err := table.Finish()
	if err != nil {
		return 0, err
	}
	return files[0].Size, nil
}

// describe adds what a live session knows of a process in Kubernetes.
func describe(p *gclog.Process, number int) {
	p.ID, p.StartKey = int64(4000+number), uint64(77000+number)
	p.Name, p.Executable, p.Service, p.ServiceVersion = "orders", "dotnet", fmt.Sprintf("orders-%d", number), "1.4.2"
	p.Cookie = fmt.Sprintf("%08x-1c2d-4e3f-8a9b-%012x", number*7919, number*104729)
	p.Host, p.Namespace, p.Pod = fmt.Sprintf("node-%d.example", number), "shop", fmt.Sprintf("orders-7d4b9c6f5-x2%d", number)
	p.PodUID, p.ContainerID, p.ContainerName = p.Cookie, strings.Repeat(fmt.Sprintf("%016x", number*31), 4), "orders"
	p.Started = p.Sync.Add(-time.Hour)
	p.UptimeAtSync = time.Hour
}

type counter struct {
	n *float64
}

// Observe takes a record.
func (c *counter) Observe(r gclog.Record) {
	if _, ok := r.(*gclog.GCDetails); ok {
		*c.n++
	}
}

// reduce reads of a recording what a session of a level would have received.
func reduce(b []byte, level string, observe func(*gclog.Process) gclog.Observer) error {
	r := parse.NewReader(bytes.NewReader(b), func(m *parse.Metadata) parse.Want {
		if !within(level, m) {
			return parse.Want{}
		}
		return gclog.Wanted(m)
	})
	trace, err := r.ReadTrace()
	if err != nil {
		return err
	}
	processes := gclog.NewProcesses(observe)
	processes.Begin(trace)
	for r.Scan() {
		processes.Take(r)
	}
	processes.Finish()
	return nil // a recording may be cut off
}

func count(n float64) string {
	for _, u := range []struct {
		n    float64
		name string
	}{{1e9, " billion"}, {1e6, " million"}, {1e4, " thousand"}} {
		if n >= u.n {
			return fmt.Sprintf("%.3g%s", n/min(u.n, 1e9)*scale(u.n), u.name)
		}
	}
	return fmt.Sprintf("%.3g", n)
}

func scale(u float64) float64 {
	if u == 1e4 {
		return 10
	}
	return 1
}

func size(n float64) string {
	for _, u := range []struct {
		n    float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}} {
		if n >= u.n {
			return fmt.Sprintf("%.3g %s", n/u.n, u.name)
		}
	}
	return fmt.Sprintf("%.3g kB", n/1e3)
}
