package daemon

import (
	"bytes"
	"math"
	"strings"
	"testing"

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
