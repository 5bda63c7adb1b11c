package attach

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/host"
)

// TestMemoryOfAMoment: records that arrive together share one reading of the memory, later ones get
// another.
func TestMemoryOfAMoment(t *testing.T) {
	p := new(host.Host).Inspect(os.Getpid()).Process
	synctest.Test(t, func(t *testing.T) {
		s := &Session{memory: p.OpenMemory(), cpu: newShortages(p.OpenCPU()), began: time.Now()}
		defer s.memory.Close()
		defer s.cpu.close()
		time.Sleep(time.Second)
		first, threads := s.readMemory()
		if threads == 0 || first.Resident == 0 || first.At != int64(time.Second) {
			t.Errorf("first %+v, want the memory at %d", first, time.Second)
		}
		time.Sleep(10 * time.Millisecond)
		if m, _ := s.readMemory(); m != first {
			t.Errorf("in the same moment %+v, want %+v", m, first)
		}
		time.Sleep(time.Nanosecond)
		if m, _ := s.readMemory(); m.At != int64(time.Second+10*time.Millisecond+1) {
			t.Errorf("later: %+v", m)
		}
	})
}
