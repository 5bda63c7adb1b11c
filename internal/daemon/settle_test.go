package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/gclog/gclog/internal/config"
)

// TestSettleDefect: a panic while the daemon ends does not keep the rest from ending.
func TestSettleDefect(t *testing.T) {
	var said strings.Builder
	d := New(Options{Config: &config.Loaded{}, Log: zerolog.New(&said)})
	d.saving.Go(func() { d.post(func() { panic("x") }) })
	d.settle(time.Now().Add(time.Minute))
	if !strings.Contains(said.String(), "x") || d.defects != 1 {
		t.Errorf("%d defects, it says %q", d.defects, said.String())
	}
}
