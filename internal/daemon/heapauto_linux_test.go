package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/fakeruntime"
)

// heapAuto enables automatic snapshots.
const heapAuto = "heap: {auto: {enabled: true, collections: 2}}\n"

// watchHeap replaces the commands of gclog.
func (s *stage) watchHeap() *fakeGclog {
	f := &fakeGclog{t: s.t}
	s.snapshots.run = f.run
	return f
}

// enterCoreCLR is enter with an actor that has the debugger's pipe: without it, a program that does
// not load CoreCLR counts as NativeAOT.
func (s *stage) enterCoreCLR(cfg fakeruntime.Config) *actor {
	s.t.Helper()
	a := s.cue(cfg)
	a.target.Started = epoch
	pipe := filepath.Join(os.Getenv("TMPDIR"), fmt.Sprintf("clr-debug-pipe-%d-%d-in", a.target.InnerPID, a.target.StartKey))
	if err := os.WriteFile(pipe, nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.find(a)
	return a
}

// enterFresh is enterCoreCLR with an actor whose recorded collections do not count.
func (s *stage) enterFresh() *actor {
	s.t.Helper()
	a := s.enterCoreCLR(fakeruntime.Config{})
	s.do(func() { s.of(a).heap = heapWatch{} })
	return a
}

// playHeap is play with a temporary directory for the pipes.
func playHeap(t *testing.T, more string, f func(*stage)) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	play(t, more, f)
}

// collect has an actor report full collections that have left this many megabytes.
func (s *stage) collect(a *actor, mb ...uint64) {
	s.t.Helper()
	for _, x := range mb {
		s.do(func() { s.of(a).collected(x*1e6, x*1e6) })
	}
}

// words returns the second word of each command.
func (f *fakeGclog) words() string {
	synctest.Wait()
	var list []string
	for _, args := range f.called {
		list = append(list, args[1])
	}
	return strings.Join(list, " ")
}

// TestHeapAuto: when the heap of a process grows, a snapshot is taken, and again when the cooldown is
// over and it has grown more; then what grew is in its log and in the daemon's own, and in the status.
func TestHeapAuto(t *testing.T) {
	playHeap(t, heapAuto, func(s *stage) {
		f := s.watchHeap()
		a := s.enterFresh()
		s.says("session started")
		s.collect(a, 100, 100, 150)
		if f.words() != "" || s.shows(a).Snapshots != nil {
			t.Errorf("%s, %+v: one collection is no growth", f.words(), s.shows(a).Snapshots)
		}
		s.collect(a, 150)
		if f.words() != "snapshot" {
			t.Fatal(f.words())
		}
		s.says("full collections leave 150.0 MB, and left 100.0 MB before: taking a heap snapshot", "heap snapshot: snapshot does something")
		first := s.shows(a).Snapshots
		if first == nil || first.Taken != 1 || first.Refused != 0 || first.Why != "" || !first.Last.Equal(epoch) || filepath.Dir(first.File) != filepath.Join(s.dir, "heap") {
			t.Errorf("%+v", first)
		}
		s.collect(a, 200, 200, 200)
		time.Sleep(time.Hour - time.Second)
		s.collect(a, 200)
		if f.words() != "snapshot" {
			t.Errorf("%s: in the cooldown", f.words())
		}
		s.says()
		time.Sleep(time.Second)
		s.collect(a, 200)
		if f.words() != "snapshot snapshot diff" {
			t.Fatal(f.words())
		}
		s.says(`"action":"gc-heap-growth"`, "since the first heap snapshot Shop.Order has grown by 5.2 MB", "gclog heap suspects "+s.shows(a).Snapshots.File)
		second := s.shows(a).Snapshots
		if second.Taken != 2 || second.File == first.File {
			t.Errorf("%+v", second)
		}
		var growth map[string]any
		for _, r := range s.wrote(a) {
			if text(r, "event", "action") == "gc-heap-growth" {
				growth = r
			}
		}
		heap, _ := growth["dotnet"].(map[string]any)["heap"].(map[string]any)
		if got := fmt.Sprint(heap["snapshots"]); got != fmt.Sprintf("[map[file:%s time:2000-01-01T00:00:00.000000000Z] map[file:%s time:2000-01-01T01:00:00.000000000Z]]", first.File, second.File) {
			t.Error(got)
		}
		if got := fmt.Sprint(heap["growth"]); got != "[map[bytes:2.097152e+07 bytes_diff:5.24288e+06 grew_every_time:false objects:0 objects_diff:2 type:Shop.Order]]" {
			t.Error(got)
		}
	})
}

// TestHeapAutoOff: nothing happens by default, for processes that no rule matches, and for NativeAOT.
func TestHeapAutoOff(t *testing.T) {
	for name, more := range map[string]string{
		"default":   "",
		"other":     "heap: {auto: {enabled: true, collections: 2, only: [{service: other}]}}\n",
		"excluded":  heapAuto,
		"NativeAOT": heapAuto,
	} {
		t.Run(name, func(t *testing.T) {
			playHeap(t, more, func(s *stage) {
				f := s.watchHeap()
				var a *actor
				switch name {
				case "NativeAOT":
					a = s.enter(fakeruntime.Config{})
				default:
					a = s.enterFresh()
				}
				if name == "excluded" {
					s.exclude(true)
				}
				time.Sleep(time.Minute)
				s.collect(a, 100, 100, 150, 150)
				if f.words() != "" {
					t.Error(f.words())
				}
				if _, err := os.Stat(filepath.Join(s.dir, "heap")); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the directory: %v", err)
				}
			})
		})
	}
}

// TestHeapAutoWithoutSession: what was reported before a session ended starts no snapshot after that.
func TestHeapAutoWithoutSession(t *testing.T) {
	playHeap(t, heapAuto, func(s *stage) {
		f := s.watchHeap()
		a := s.enterCoreCLR(fakeruntime.Config{Refuse: 7})
		s.expect(a, "waiting")
		s.collect(a, 100, 100, 150, 150)
		if f.words() != "" {
			t.Error(f.words())
		}
	})
}

// TestHeapAutoFiles: a snapshot of an earlier daemon counts for the cooldown, snapshots of other
// processes that are running are not deleted, and a comparison that fails is reported.
func TestHeapAutoFiles(t *testing.T) {
	playHeap(t, strings.Replace(heapAuto, "}}", ", keep: 1}}", 1), func(s *stage) {
		f := s.watchHeap()
		a, b := s.enterFresh(), s.enterFresh()
		dir := filepath.Join(s.dir, "heap")
		if err := os.Mkdir(dir, 0o750); err != nil {
			t.Fatal(err)
		}
		name := func(pid int, after time.Duration) string {
			return fmt.Sprintf("actor-%d-%s.gcdump", pid, epoch.Add(after).Format(snapshotTime))
		}
		earlier := name(a.target.PID, time.Minute)
		kept := []string{name(b.target.PID, 2*time.Minute), name(1<<22+2, 4*time.Minute)} // larger than any pid
		for _, file := range append(kept, earlier, name(1<<22+1, 3*time.Minute)) {
			ownFile(t, makeSnapshot(t, dir, file), strconv.Itoa(os.Getuid()))
		}
		others := name(1<<22+3, 0)
		ownFile(t, makeSnapshot(t, dir, others), strconv.Itoa(os.Getuid()+1))
		kept = append(kept, others)
		time.Sleep(5 * time.Minute)
		s.collect(a, 100, 100, 150, 150)
		if f.words() != "" || s.shows(a).Snapshots != nil {
			t.Errorf("%s: in the cooldown", f.words())
		}
		s.says("no heap snapshot: the last one is from 2000-01-01T00:01:00Z, and heap.auto.cooldown is 1h0m0s")
		time.Sleep(56*time.Minute - time.Second)
		s.collect(a, 150)
		if f.words() != "" {
			t.Errorf("%s: in the cooldown", f.words())
		}
		time.Sleep(time.Second)
		f.fail = map[string]error{"diff": errors.New("is truncated")}
		s.collect(a, 150)
		if f.words() != "snapshot diff" {
			t.Fatal(f.words())
		}
		s.says("cannot be compared with the heap snapshots before it: is truncated")
		if got := s.shows(a).Snapshots; got.Taken != 1 || got.Why != "" {
			t.Errorf("%+v", got)
		}
		kept = append(kept, filepath.Base(s.shows(a).Snapshots.File))
		slices.Sort(kept)
		if got := namesIn(t, dir); !slices.Equal(got, kept) {
			t.Errorf("left are %q, want %q", got, kept)
		}
	})
}

// TestHeapAutoReload: a new configuration turns snapshots on and off.
func TestHeapAutoReload(t *testing.T) {
	playHeap(t, strings.Replace(heapAuto, "true", "false", 1), func(s *stage) {
		f := s.watchHeap()
		a := s.enterFresh()
		if s.process(a).observe() != nil {
			t.Error("it observes what nobody needs")
		}
		s.change("enabled: false", "enabled: true")
		if s.process(a).observe() == nil {
			t.Error("it observes nothing")
		}
		s.collect(a, 100, 100, 150, 150)
		if f.words() != "snapshot" {
			t.Error(f.words())
		}
		s.change("enabled: true", "enabled: false")
		time.Sleep(time.Hour)
		s.collect(a, 500, 500, 500)
		if f.words() != "snapshot" {
			t.Error(f.words())
		}
		if n := s.actions(a)["gc-session-start"]; n != 1 {
			t.Errorf("%d sessions: a session is the same with and without snapshots", n)
		}
	})
}

// TestHeapAutoSizes: what full collections leave is passed on as the log has it: of background
// collections without gen0 and gen1, in which the program has allocated meanwhile.
func TestHeapAutoSizes(t *testing.T) {
	playHeap(t, "heap: {auto: {enabled: true, collections: 100}}\n", func(s *stage) {
		s.watchHeap()
		a := s.enterCoreCLR(fakeruntime.Config{})
		time.Sleep(time.Minute)
		var want []uint64
		for _, r := range s.wrote(a) {
			gc, _ := r["dotnet"].(map[string]any)["gc"].(map[string]any)
			if text(r, "event", "action") != "gc" || gc["generation"] != 2.0 {
				continue
			}
			size := 0.0
			all := []string{"gen0", "gen1", "gen2", "loh", "poh"}
			if gc["type"] == "background" {
				all = all[2:]
			}
			for _, g := range all {
				after, known := gc[g].(map[string]any)["obj_after"].(map[string]any)
				if !known {
					after, _ = gc[g].(map[string]any)["after"].(map[string]any)
				}
				size += after["bytes"].(float64)
			}
			want = append(want, uint64(size))
		}
		got := s.process(a).heap.trend.last
		if !slices.Equal(got, want) || len(want) < 10 {
			t.Errorf("%d, want %d", got, want)
		}
	})
}

// TestHeapAutoRefused: why no snapshot was taken is in the status and in the daemon's own log, and
// the cooldown counts from then.
func TestHeapAutoRefused(t *testing.T) {
	for name, c := range map[string]struct{ more, why string }{
		"by the command": {heapAuto, "refused: the events may need 1.0 GB"},
		"too large":      {strings.Replace(heapAuto, "}}", ", max_heap: 140000000}}", 1), "the heap of 150.0 MB is larger than heap.auto.max_heap = 140.0 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			playHeap(t, c.more, func(s *stage) {
				f := s.watchHeap()
				f.fail = map[string]error{"snapshot": errors.New(c.why)}
				a := s.enterFresh()
				s.collect(a, 100, 100, 150, 150)
				s.says("no heap snapshot, and none before 2000-01-01T01:00:00Z (heap.auto.cooldown): " + c.why)
				if got := s.shows(a).Snapshots; got == nil || got.Refused != 1 || got.Taken != 0 || got.Why != c.why || !got.Last.Equal(epoch) {
					t.Errorf("%+v", got)
				}
				s.collect(a, 130, 130)
				time.Sleep(time.Hour)
				f.fail = nil
				s.collect(a, 130)
				if got := s.shows(a).Snapshots; got.Taken != 1 || got.Refused != 1 || got.Why != "" {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

// TestHeapAutoTurns: snapshots of a user's processes are taken one after the other, and nobody waits for
// those of another user. One whose process exits meanwhile is no problem.
func TestHeapAutoTurns(t *testing.T) {
	playHeap(t, heapAuto, func(s *stage) {
		f := s.watchHeap()
		f.during = func(context.Context) { time.Sleep(10 * time.Second) }
		enter := func(uid int) *actor {
			a := s.enterFresh()
			s.do(func() { s.of(a).target.UID = uid })
			return a
		}
		a, b, c, other := enter(1000), enter(1000), enter(1000), enter(1001)
		for _, x := range []*actor{a, b, c} {
			s.collect(x, 100, 100, 150, 150)
		}
		if f.words() != "snapshot" {
			t.Error(f.words())
		}
		if got := s.shows(b).Snapshots; got == nil || got.State != "waiting" {
			t.Errorf("%+v", got)
		}
		s.says("a heap snapshot waits until those of other processes of ")
		s.collect(other, 100, 100, 150, 150)
		if got := s.shows(other).Snapshots; f.words() != "snapshot snapshot" || got == nil || got.State != "running" {
			t.Errorf("%s, %+v", f.words(), got)
		}
		s.collect(b, 150) // it waits already
		a.exit(t, 0)
		c.exit(t, 0)
		time.Sleep(5 * time.Second)
		s.expect(a, "")
		s.says("left 100.0 MB before: it has exited")
		time.Sleep(10 * time.Second)
		if f.words() != "snapshot snapshot snapshot" {
			t.Error(f.words())
		}
		s.says("taking a heap snapshot, 10s later because of others")
		time.Sleep(10 * time.Second)
		if got := s.shows(b).Snapshots; got == nil || got.Taken != 1 || got.Took != (10*time.Second).Nanoseconds() || got.State != "" {
			t.Errorf("%+v", got)
		}
	})
}

// TestHeapAutoStop: a snapshot that is being taken when the daemon ends is interrupted and waited
// for, but not forever.
func TestHeapAutoStop(t *testing.T) {
	for name, c := range map[string]struct {
		ends  time.Duration // the command, after it was interrupted
		takes time.Duration
	}{
		"in time":     {3 * time.Second, 3 * time.Second},
		"not in time": {time.Minute, leaveTime},
	} {
		t.Run(name, func(t *testing.T) {
			playHeap(t, heapAuto, func(s *stage) {
				f := s.watchHeap()
				f.fail = map[string]error{"snapshot": errors.New("interrupted")}
				f.during = func(ctx context.Context) {
					<-ctx.Done()
					time.Sleep(c.ends)
				}
				a := s.enterFresh()
				s.collect(a, 100, 100, 150, 150)
				began := time.Now()
				s.stop()
				<-s.ended
				if took := time.Since(began); took != c.takes {
					t.Errorf("it took %v, want %v", took, c.takes)
				}
				want := "gclog daemon stopped: no sessions left"
				if c.ends > stopTime {
					want = "not all heap snapshots ended in time: the kernel ends them with gclog"
				}
				s.says(want)
			})
		})
	}
}

// TestHeapAutoDefect: a defect in the task is reported, and the next snapshot is possible.
func TestHeapAutoDefect(t *testing.T) {
	playHeap(t, heapAuto, func(s *stage) {
		f := s.watchHeap()
		f.during = func(context.Context) { panic("a defect") }
		s.traps++
		a := s.enterFresh()
		s.collect(a, 100, 100, 150, 150)
		s.says("a defect")
		s.expect(a, "on")
		f.during = nil
		time.Sleep(time.Hour)
		s.collect(a, 150)
		if got := s.shows(a).Snapshots; got == nil || got.Taken != 1 || got.Refused != 1 || got.Why != "" {
			t.Errorf("%+v", got)
		}
	})
}
