package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/output"
)

// breakDisk makes every write fail, until mend is called.
func (s *stage) breakDisk() (mend func()) {
	s.t.Helper()
	away := s.dir + ".away"
	if err := os.Rename(s.dir, away); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.dir, nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return func() {
		s.t.Helper()
		if err := os.Remove(s.dir); err != nil {
			s.t.Fatal(err)
		}
		if err := os.Rename(away, s.dir); err != nil {
			s.t.Fatal(err)
		}
	}
}

// reported returns in how many records and gaps each collection of an actor is, and the gaps for what
// could not be written.
func (s *stage) reported(a *actor) (count map[uint32]int, unwritten []output.Range) {
	s.t.Helper()
	count = map[uint32]int{}
	for _, name := range namesIn(s.t, s.dir) {
		if !strings.HasPrefix(name, fmt.Sprint(a.target.PID)) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			s.t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			var r struct {
				Event  struct{ Action string }
				Dotnet struct {
					GC struct {
						Number uint32
						Gap    struct {
							output.Range
							Reason string
						}
					}
				}
			}
			parse(s.t, line, &r)
			gc := &r.Dotnet.GC
			switch {
			case r.Event.Action == "gc":
				count[gc.Number]++
			case gc.Gap.Reason == "unwritten":
				unwritten = append(unwritten, gc.Gap.Range)
				for n := gc.Gap.From; n > 0 && n <= gc.Gap.To; n++ {
					count[n]++
				}
			}
		}
	}
	return count, unwritten
}

// covered checks that each collection that the runtime of an actor reports is in one record or in one
// gap, and that there is a gap.
func (s *stage) covered(a *actor, whole map[uint32]int) {
	s.t.Helper()
	count, gaps := s.reported(a)
	if len(gaps) == 0 {
		s.t.Error("there is no gap for what could not be written")
	}
	for n := range whole {
		if count[n] != 1 {
			s.t.Errorf("collection %d is in %d records and gaps: %v", n, count[n], gaps)
		}
	}
}

// halfway is when the disk breaks: at the speed of the recording, some of its collections are over.
const halfway = 500 * time.Millisecond

// TestDiskFull: what could not be written is in the status, and in a gap as soon as there is room, also
// if the process has exited before that.
func TestDiskFull(t *testing.T) {
	var whole map[uint32]int
	play(t, "", func(s *stage) {
		a := s.enter(fakeruntime.Config{})
		time.Sleep(time.Minute)
		whole, _ = s.reported(a)
	})
	for name, exits := range map[string]bool{"while it runs": false, "after it has exited": true} {
		t.Run(name, func(t *testing.T) {
			play(t, "", func(s *stage) {
				a := s.enter(fakeruntime.Config{Speed: 1})
				time.Sleep(halfway)
				mend := s.breakDisk()
				time.Sleep(10 * halfway)
				lacks := s.shows(a).Unwritten
				if len(lacks) != 1 || lacks[0].Records == 0 || len(lacks[0].Collections) == 0 || lacks[0].Error != "not a directory" {
					t.Errorf("it lacks %+v", lacks)
				}
				if exits {
					time.Sleep(time.Minute)
					a.exit(t, 0)
					s.do(func() { s.Daemon.gone(a.key()) })
					time.Sleep(time.Hour)
					s.expect(a, "")
					var left []UnwrittenLog
					s.do(func() { left = s.Daemon.status().Unwritten })
					if len(left) != 1 || left[0].PID != a.target.PID || len(left[0].Outputs) != 1 || len(left[0].Outputs[0].Collections) != 1 {
						t.Errorf("left are %+v", left)
					}
				}
				mend()
				time.Sleep(2 * tick) // the daemon tries again
				if lacks := s.shows(a).Unwritten; lacks != nil {
					t.Errorf("it still lacks %+v", lacks)
				}
				s.covered(a, whole)
				s.do(func() {
					if n := len(s.Daemon.status().Unwritten); n != 0 {
						t.Errorf("%d logs are still open", n)
					}
				})
				s.says("records are being dropped", "is writable again")
			})
		})
	}
}

// TestDiskStaysFull: what is in no gap when the daemon ends is in its own log, with its numbers. It is
// also if too many logs wait for room.
func TestDiskStaysFull(t *testing.T) {
	play(t, "", func(s *stage) {
		a, b := s.enter(fakeruntime.Config{Speed: 1}), s.enter(fakeruntime.Config{Speed: 1})
		time.Sleep(halfway)
		mend := s.breakDisk()
		defer mend()
		time.Sleep(time.Minute)
		s.do(func() { s.limits.processes = 8 }) // one log may wait
		for _, x := range []*actor{a, b} {
			s.said.take()
			x.exit(t, 0)
			s.do(func() { s.Daemon.gone(x.key()) })
			time.Sleep(10 * time.Second)
		}
		s.says(fmt.Sprintf("%d.json cannot be written (not a directory): ", b.target.PID), "records are missing, of collections ", " no gap there says so")
		s.stop()
		<-s.ended
		s.says(fmt.Sprintf("%d.json cannot be written (not a directory): ", a.target.PID), "records are missing, of collections ", " no gap there says so")
	})
}
