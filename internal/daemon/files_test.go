package daemon

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/config"
	"github.com/rs/zerolog"
)

// TestCheckFiles: a limit of files that is too low for the processes is told at the start.
func TestCheckFiles(t *testing.T) {
	limit := filesMost()
	if limit > math.MaxInt32 {
		t.Skip("files are not limited here")
	}
	for processes, want := range map[int]bool{int(limit): true, int(limit/14) + 1: true, int(limit / 14): false, 1: false} {
		var b bytes.Buffer
		d := New(Options{Config: &config.Loaded{Config: *config.Default()}, Log: zerolog.New(&b)})
		d.config.Discovery.MaxProcesses = processes
		d.checkFiles()
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
