package attach

import (
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse"
)

// TestYear: the time of a process that does not say it, or what no clock says, is gclog's own.
func TestYear(t *testing.T) {
	began := time.Now()
	for year, own := range map[int]bool{1970: true, 1971: false, 2026: false, 9000: false} {
		says := time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)
		s := &Session{trace: &parse.Trace{SyncTime: says}, traced: make(chan struct{}), began: began}
		close(s.traced)
		want := says
		if own {
			want = began
		}
		p := s.process(&gclog.Process{HasLimits: true})
		if !p.Sync.Equal(want) {
			t.Errorf("%d: %v, want %v", year, p.Sync, want)
		}
	}
}
