package top

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestProfiled: what a profile shows, while its length is unknown and after that.
func TestProfiled(t *testing.T) {
	path := filepath.Join("..", "..", "gclog", "stacks", "testdata", "net11-svr-alloc.nettrace.gz")
	p, err := stacks.Read(bytes.NewReader(recordings.Read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	for length, rate := range map[time.Duration]string{0: "-", p.Duration: "13.5 MB/s"} {
		x := profiled(p, length)
		if x.Text != "from 1557 ticks" || len(x.Types) < 8 || x.Types[0].Name != "byte[]" {
			t.Errorf("%+v", x)
		}
		if r := x.Paths[0]; r.Rate != rate || !strings.HasPrefix(r.Name, "GcLoad.Shop.Buffers.Fill ← GcLoad.Shop.Buffers.Read ← ") {
			t.Errorf("%+v", r)
		}
	}
	if x := profiled(stacks.NewBuilder().Profile(), 0); x.Text != "no allocation has been reported" || x.Types != nil {
		t.Errorf("%+v", x)
	}
}
