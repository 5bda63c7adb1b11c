package heap

import (
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/host"
)

// TestSnapshotText: without the memory of the process, which only Linux shows, nothing is estimated.
func TestSnapshotText(t *testing.T) {
	s := &plannedSnapshot{
		target: &host.Target{Process: host.Process{PID: 4711}}, facts: gclog.Process{Name: "Shop", RuntimeVersion: "10.0.14"},
		plan: &attach.SnapshotPlan{},
	}
	const unknown = "process 4711 (Shop, .NET 10.0.14) will be paused for an unknown time (a full collection, and 0.1 to 0.2 s for each million objects); the events take 0.6 to 1.3 times the size of these objects of its memory until they are sent"
	if got := s.text(); got != unknown {
		t.Errorf("%s", got)
	}
	s.plan = &attach.SnapshotPlan{Heap: 1 << 20, Need: 2e6, Shortest: 3 * time.Millisecond, Longest: 40 * time.Millisecond}
	if got := s.text(); !strings.HasPrefix(got, "process 4711 (Shop, .NET 10.0.14) will be paused for 3 ms to 40 ms; the events take up to 2.0 MB of its memory") {
		t.Errorf("%s", got)
	}
}
