package daemon

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/output"
	"github.com/rs/zerolog"
)

// TestLimits: the files that may be open suffice for everything that may be open at the same time;
// with fewer files fewer processes are logged, which is reported.
func TestLimits(t *testing.T) {
	for _, files := range []uint64{64, 256, 1024, 4096, 16384, 1 << 20, math.MaxUint64} {
		for _, ports := range []int{0, 1, 3} {
			c := &config.Loaded{Config: *config.Default()}
			c.Discovery.Listen = make([]string, ports)
			l := newLimits(c, files)
			each := attach.SessionFiles + output.FilesOpen*len(c.Outputs)
			if used := l.processes*each + l.connections*ports + 2*l.requests; l.processes > 1 && uint64(used) > files-files/16 {
				t.Errorf("%d files, %d ports: %+v are %d", files, ports, l, used)
			}
			if l.processes < 1 || l.requests < 1 || (l.connections < 2) != (ports == 0) {
				t.Errorf("%d files, %d ports: %+v", files, ports, l)
			}
			if files >= 16384 && l.processes < c.Discovery.MaxProcesses {
				t.Errorf("%d files are not enough for %d processes: %+v", files, c.Discovery.MaxProcesses, l)
			}
		}
	}
	limit := filesMost()
	if limit > math.MaxInt32 {
		t.Skip("files are not limited here")
	}
	most := newLimits(&config.Loaded{Config: config.Config{Discovery: config.Discovery{MaxProcesses: math.MaxInt32}, Outputs: config.Default().Outputs}}, limit).processes
	for processes, want := range map[int]bool{most + 1: true, most: false, 1: false} {
		var b bytes.Buffer
		d := New(Options{Config: &config.Loaded{Config: *config.Default()}, Log: zerolog.New(&b)})
		d.config.Discovery.MaxProcesses = processes
		d.limit()
		if got := strings.Contains(b.String(), "files open"); got != want {
			t.Errorf("with %d files and %d processes it says %q", limit, processes, b.String())
		}
	}
}

// TestLimitsShares: how a number of files is divided: a quarter for connections at ports, an eighth
// for the HTTP servers, an eighth and at most 256 for gclog itself.
func TestLimitsShares(t *testing.T) {
	for _, c := range []struct {
		files          uint64
		ports, outputs int
		most           int // maximum number of processes
		want           limits
	}{
		{1024, 0, 1, 1000, limits{processes: (1024 - 128 - 2*64) / each(1), requests: 64}},
		{1024, 0, 3, 1000, limits{processes: (1024 - 128 - 2*64) / each(3), requests: 64}},
		{1024, 1, 1, 1000, limits{processes: (1024 - 128 - 2*64 - 256) / each(1), requests: 64, connections: 256}},
		{1024, 2, 1, 1000, limits{processes: (1024 - 128 - 2*64 - 256) / each(1), requests: 64, connections: 128}},
		{800, 1, 1, 1000, limits{processes: (800 - 100 - 2*50 - 200) / each(1), requests: 50, connections: 200}},
		{4000, 0, 1, 100000, limits{processes: (4000 - 256 - 2*64) / each(1), requests: 64}},
		{2064, 0, 1, 100000, limits{processes: (2064 - 256 - 2*64) / each(1), requests: 64}},
		{100_000, 1, 1, 500, limits{processes: 500, requests: 64, connections: 20_000}},
		{1 << 20, 0, 1, 1 << 30, limits{processes: (1<<20 - 256 - 2*64) / each(1), requests: 64}},
		{math.MaxUint64, 0, 1, 1 << 30, limits{processes: (1<<20 - 256 - 2*64) / each(1), requests: 64}},
		{16, 0, 1, 500, limits{processes: 1, requests: 1}},
	} {
		cfg := &config.Loaded{Config: *config.Default()}
		cfg.Discovery.Listen, cfg.Discovery.MaxProcesses = make([]string, c.ports), c.most
		cfg.Outputs = make([]config.Output, c.outputs)
		if got := newLimits(cfg, c.files); got != c.want {
			t.Errorf("%d files, %d ports, %d outputs: %+v, want %+v", c.files, c.ports, c.outputs, got, c.want)
		}
	}
}

// each returns how many files a process needs.
func each(outputs int) int { return attach.SessionFiles + output.FilesOpen*outputs }

// TestNoLinks: no output follows links that other users may have placed in its path.
func TestNoLinks(t *testing.T) {
	c := &config.Loaded{Config: *config.Default()}
	c.Outputs = append(c.Outputs, c.Outputs[0])
	c.Outputs[1].Path = "/tmp/%s-%p.csv"
	outputs := decide(c, config.Subject{}, &gclog.Process{}).outputs
	if len(outputs) != 2 {
		t.Fatalf("the outputs are %+v", outputs)
	}
	for _, o := range outputs {
		if !o.Rotate.NoLinks || !o.Rotate.MakeDirs {
			t.Errorf("%s may be a link, or is in no folder", o.Path)
		}
	}
}
