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

// TestLimits: the files that may be open are enough for all that there may be at the same time, and
// with few of them fewer processes are logged, which is told.
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
	for processes, want := range map[int]bool{int(limit): true, 1: false} {
		var b bytes.Buffer
		d := New(Options{Config: &config.Loaded{Config: *config.Default()}, Log: zerolog.New(&b)})
		d.config.Discovery.MaxProcesses = processes
		d.limit()
		if got := strings.Contains(b.String(), "files open"); got != want {
			t.Errorf("with %d files and %d processes it says %q", limit, processes, b.String())
		}
	}
}

// TestNoLinks: the files of all outputs are kept from what others lay in their way.
func TestNoLinks(t *testing.T) {
	c := &config.Loaded{Config: *config.Default()}
	c.Outputs = append(c.Outputs, c.Outputs[0])
	c.Outputs[1].Path = "/tmp/%s-%p.csv"
	outputs := decide(c, config.Subject{}, &gclog.Process{}).outputs
	if len(outputs) != 2 {
		t.Fatalf("the outputs are %+v", outputs)
	}
	for _, o := range outputs {
		if !o.Rotate.NoLinks {
			t.Errorf("%s may be a link", o.Path)
		}
	}
}
