//go:build linux

package check_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/fakenode"
	"github.com/gclog/gclog/internal/testing/fakenode/check"
	"github.com/gclog/gclog/internal/testing/fakeshipper"
)

// Each fault alone: docs/reliability.md has a row for each of these tests.

// pids returns the part of a configuration that makes the daemon log only these processes.
func pids(runtimes ...*fakenode.Runtime) string {
	var b strings.Builder
	b.WriteString("version: 1\ndiscovery:\n interval: 300ms\n include:\n")
	for _, r := range runtimes {
		fmt.Fprintf(&b, " - pid: %d\n", r.PID())
	}
	return b.String()
}

// oversee starts gclog daemon with a configuration. If that has no outputs, outputs into a folder
// are added.
func oversee(t *testing.T, text string) (d *program, logs string) {
	t.Helper()
	dir := t.ArtifactDir()
	logs = filepath.Join(dir, "logs")
	if !strings.Contains(text, "outputs:") {
		text += fmt.Sprintf("outputs: [{path: \"%s/%%s-%%n-%%p.json\", filesize: 100K, filecount: 1000}]\n", logs)
	}
	file := filepath.Join(dir, "gclog.yaml")
	if err := errors.Join(os.MkdirAll(logs, 0o700), os.WriteFile(file, []byte(text+"http: {listen: \"\"}\ncontrol: {socket: \"\"}\nsummary: 0s\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return gclog(t, "daemon", "-c", file), logs
}

func checked(t *testing.T, n *fakenode.Node, dir string, d *program) {
	t.Helper()
	if err := check.Node(n, dir, check.Options{Said: d.stderr.String()}); err != nil {
		t.Errorf("%v\n%s", err, d.stderr.String())
		keepLedgers(t, n)
		lists, _ := check.Files(dir)
		for _, files := range lists {
			t.Logf("%s ends with\n%s", files[len(files)-1], lastOf(t, files))
		}
	}
}

// TestKilledTarget: the log of a process that is killed says so, and contains everything that it
// sent; the log of another process continues.
func TestKilledTarget(t *testing.T) {
	t.Parallel()
	n := newNode(t, 21)
	victim, other := start(t, n, fakenode.Config{Name: "victim", Rate: 100, Background: 0.1}), start(t, n, fakenode.Config{Name: "other", Rate: 100})
	d, logs := oversee(t, pids(victim, other))
	waitSent(t, victim, 50)
	victim.Kill()
	waitSent(t, other, 150)
	d.terminate(t)
	checked(t, n, logs, d)
	end := lastLine(t, logs, victim)
	if !strings.Contains(end, `"reason":"killed"`) || !strings.Contains(end, `"exit_signal":9`) {
		t.Errorf("the log of a process that was killed ends with\n%s", end)
	}
}

// lastLine returns the last line of the latest file about a process.
func lastLine(t *testing.T, logs string, r *fakenode.Runtime) string {
	t.Helper()
	lists, err := check.Files(logs)
	list := lists[r.Cookie()]
	if err != nil || len(list) == 0 {
		t.Fatalf("no files about process %d: %v", r.PID(), err)
	}
	return lastOf(t, list)
}

// lastOf returns the last line of the last file.
func lastOf(t *testing.T, list []string) string {
	t.Helper()
	b, err := os.ReadFile(list[len(list)-1])
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(b), []byte{'\n'})
	return string(lines[len(lines)-1])
}

// TestKilledWhileAsking: gclog opens a session to ask a runtime for its settings. A gclog that is
// killed while that session is open leaves none after the runtime's next collection, and neither do
// ten.
func TestKilledWhileAsking(t *testing.T) {
	t.Parallel()
	n := newNode(t, 34)
	r := start(t, n, fakenode.Config{Name: "orders"})
	r.HangStop(time.Hour)
	for i := range 10 {
		asked := r.Requests()
		d, _ := oversee(t, pids(r))
		// Process info, environment, the session, and its StopTracing, which the runtime does not
		// answer.
		wait(t, func() int { return int(r.Requests() - asked) }, 3)
		wait(t, r.Sessions, 1)
		_ = d.Process.Kill()
		_ = d.Wait()
		if i%2 == 0 {
			continue // two may be left at a time
		}
		if open := n.Settle(); len(open) > 0 {
			t.Fatalf("%d sessions are left behind daemon %d", r.Sessions(), i+1)
		}
	}
}

// TestStoppedTarget: a process that is stopped for some time keeps its session, and does not delay
// others.
func TestStoppedTarget(t *testing.T) {
	t.Parallel()
	n := newNode(t, 22)
	victim, other := start(t, n, fakenode.Config{Name: "victim", Rate: 100, Background: 0.1}), start(t, n, fakenode.Config{Name: "other", Rate: 100})
	d, logs := oversee(t, pids(victim, other))
	waitSent(t, victim, 50)
	victim.Stop()
	logged, enough := count(t, logs, other), extent.Pick(300, 1000) // in 3 or 10 s
	wait(t, func() int { return count(t, logs, other) - logged }, enough)
	victim.Continue()
	waitSent(t, victim, 150)
	d.terminate(t)
	checked(t, n, logs, d)
	if l := victim.Ledger(); len(l.Sessions) != 1 {
		t.Errorf("a process that was stopped has had %d sessions", len(l.Sessions))
	}
}

// count returns how many records of collections a log contains.
func count(t *testing.T, logs string, r *fakenode.Runtime) (n int) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(logs, fmt.Sprintf("*%d*.json", r.PID())))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range list {
		b, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		n += bytes.Count(b, []byte(`"action":"gc",`))
	}
	return n
}

// TestFlood: two processes with 1000 collections per second each; fewer with the race detector,
// because the daemon could not write them all in the time it has to stop.
func TestFlood(t *testing.T) {
	t.Parallel()
	n, rate, count := newNode(t, 23), 1000.0, 3000
	if testing.Short() {
		rate, count = 300, 600
	}
	a, b := start(t, n, fakenode.Config{Name: "a", Rate: rate, Background: 0.1, Heaps: 2}), start(t, n, fakenode.Config{Name: "b", Rate: rate})
	d, logs := oversee(t, pids(a, b)+"session: {level: full}\n")
	waitSent(t, a, count)
	waitSent(t, b, count)
	d.terminate(t)
	checked(t, n, logs, d)
}

// A collection is what a record reports: one collection, or a gap of several.
type collection struct {
	from, to uint32
	reason   string // of the gap; "": it is not a gap
	lost     bool
}

// collections reads all records of a folder, in the order in which they were written.
func collections(t *testing.T, logs string) (list []collection) {
	t.Helper()
	lists, err := check.Files(logs)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range slices.Sorted(maps.Keys(lists)) {
		for _, name := range lists[cookie] {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.Lines(b) {
				list = append(list, parseCollection(t, line)...)
			}
		}
	}
	return list
}

func parseCollection(t *testing.T, line []byte) []collection {
	t.Helper()
	var r struct {
		Event  struct{ Action string }
		Dotnet struct {
			GC struct {
				Number uint32
				Gap    struct {
					From, To uint32
					Reason   string
				}
			}
		}
	}
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	switch g := &r.Dotnet.GC; {
	case r.Event.Action == "gc" && g.Number > 0:
		return []collection{{from: g.Number, to: g.Number}}
	case r.Event.Action == "gc-gap":
		return []collection{{g.Gap.From, g.Gap.To, g.Gap.Reason, g.Gap.Reason == "lost-events"}}
	}
	return nil
}

// TestComingAndGoing: many processes start and exit at random. GCLOG_SOAK makes them 200, for 60 s.
func TestComingAndGoing(t *testing.T) {
	t.Parallel()
	most, steps := extent.Pick(30, 60), extent.Pick(100, 400)
	if os.Getenv("GCLOG_SOAK") != "" {
		most, steps = 200, 3000
	}
	n, random := newNode(t, 24), rand.New(rand.NewPCG(24, 0))
	d, logs := oversee(t, fmt.Sprintf("version: 1\ndiscovery: {interval: 300ms, max_processes: 1000, include: [{command_line: %q}]}\n", n.Pattern()))
	var living []*fakenode.Runtime
	for range steps {
		time.Sleep(20 * time.Millisecond)
		if len(living) < most && random.IntN(3) > 0 {
			living = append(living, start(t, n, fakenode.Config{Name: fmt.Sprintf("p%d", random.IntN(9)), Rate: 10, Background: 0.1}))
			continue
		}
		if i := len(living); i > 0 {
			i = random.IntN(i)
			r := living[i]
			living = slices.Delete(living, i, i+1)
			if random.IntN(2) == 0 {
				r.Exit(byte(random.IntN(3)))
			} else {
				r.Kill()
			}
		}
	}
	for _, r := range living {
		waitSent(t, r, 1)
	}
	d.terminate(t)
	checked(t, n, logs, d)
	var sum total
	sum.add(n)
	fmt.Fprintln(os.Stderr, "checked, with many that come and go:", sum)
}

// A smallDisk is a daemon that logs a runtime to a small disk of its own, and to another one, whose log
// is complete.
type smallDisk struct {
	t *testing.T
	*fakenode.Runtime
	node        *fakenode.Node
	daemon      *program
	disk, whole string
}

func newSmallDisk(t *testing.T, seed uint64) *smallDisk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small disk and look at processes outside of that namespace")
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Skipf("no program to mount a small disk with: %v", err)
	}
	n := newNode(t, seed)
	r := start(t, n, fakenode.Config{Name: "orders"})
	dir := t.TempDir()
	disk, whole, file := filepath.Join(dir, "disk"), filepath.Join(dir, "whole"), filepath.Join(dir, "gclog.yaml")
	err = errors.Join(os.Mkdir(disk, 0o700), os.Mkdir(whole, 0o700), os.WriteFile(file, fmt.Appendf(nil,
		"%soutputs:\n - {path: %s/%%p.json, filesize: 100K, filecount: 100}\n - {path: %s/%%p.json}\nhttp: {listen: \"\"}\ncontrol: {socket: \"\"}\nsummary: 0s\nretention: {total: 0}\n", pids(r), disk, whole), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	d := &program{Cmd: exec.Command(unshare, "-m", "sh", "-c", `mount -t tmpfs -o size=256k,mode=755 gclog-test "$1" && exec "$0" daemon -c "$2"`, os.Args[0], disk, file)}
	d.Env = append(os.Environ(), isGclog+"=1")
	d.Stderr = &d.stderr
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.Process.Kill()
		_ = d.Wait()
	})
	for deadline := time.Now().Add(40 * time.Second); len(r.Ledger().Sessions) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) || syscall.Kill(d.Process.Pid, 0) != nil {
			_ = d.Process.Kill()
			_ = d.Wait()
			if strings.Contains(d.stderr.String(), "unshare") || strings.Contains(d.stderr.String(), "mount") {
				t.Skipf("cannot mount a small disk: %s", d.stderr.String())
			}
			t.Fatalf("no session\n%s", d.stderr.String())
		}
	}
	// As the daemon sees it.
	return &smallDisk{t, r, n, d, fmt.Sprintf("/proc/%d/root%s", d.Process.Pid, disk), whole}
}

// collect has the runtime collect, and waits until the complete log has so many collections: it is
// written after the other one.
func (s *smallDisk) collect(times, until int) {
	s.t.Helper()
	for range times {
		if !s.Collect() {
			s.t.Fatal("the process has ended")
		}
	}
	wait(s.t, func() int { return count(s.t, s.whole, s.Runtime) }, until)
}

// fill fills the disk. free makes room again.
func (s *smallDisk) fill() (free func()) {
	s.t.Helper()
	filler := filepath.Join(s.disk, "filler")
	if err := fill(filler); err != nil {
		s.t.Fatal(err)
	}
	return func() {
		s.t.Helper()
		if err := os.Remove(filler); err != nil {
			s.t.Fatal(err)
		}
	}
}

// collections returns the collections in the log on the small disk, and the gaps among them.
func (s *smallDisk) collections() (list []collection) {
	s.t.Helper()
	for _, name := range glob(s.t, filepath.Join(s.disk, "*.json")) {
		b, err := os.ReadFile(name)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(b) > 0 && b[len(b)-1] != '\n' {
			s.t.Errorf("%s ends in the middle of a line", name)
		}
		for line := range bytes.Lines(b) {
			list = append(list, parseCollection(s.t, line)...)
		}
	}
	return list
}

// covered checks that the log on the small disk has each collection from the first to the last, and a
// gap for those that could not be written.
func (s *smallDisk) covered(last uint32) {
	s.t.Helper()
	next, gaps, list := uint32(1), 0, s.collections()
	for _, c := range list {
		if c.from != next {
			s.t.Errorf("behind #%d comes #%d: %+v", next-1, c.from, list)
		}
		if c.reason != "" {
			gaps++
			if c.reason != "unwritten" {
				s.t.Errorf("the gap is %+v", c)
			}
		}
		next = c.to + 1
	}
	if next != last+1 || gaps == 0 {
		s.t.Errorf("the log ends before #%d and has %d gaps: %+v", next, gaps, list)
	}
}

// newFullDisk is newSmallDisk for a disk that was filled after 5 collections; 20 more could not be
// written. free makes room again.
func newFullDisk(t *testing.T, seed uint64) (s *smallDisk, free func()) {
	t.Helper()
	s = newSmallDisk(t, seed)
	s.collect(5, 5)
	free = s.fill()
	s.collect(20, 25)
	return s, free
}

// TestDiskFull: while a disk is full its log lacks records, and afterwards reports exactly which. A
// log on another disk is not affected.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	s, free := newFullDisk(t, 25)
	free()
	s.collect(5, 30)
	s.covered(30)
	s.daemon.terminate(t)
	if said := s.daemon.stderr.String(); !strings.Contains(said, "no space left on device") || !strings.Contains(said, "is writable again") {
		t.Errorf("the daemon says\n%s", said)
	}
	checked(t, s.node, s.whole, s.daemon)
}

// TestDiskFullUntilLater: if the disk is full when a process exits, its log gets the gap when there is
// room.
func TestDiskFullUntilLater(t *testing.T) {
	t.Parallel()
	s, free := newFullDisk(t, 26)
	s.Kill()
	wait(t, func() int { return strings.Count(s.daemon.stderr.String(), `"message":"process ended"`) }, 1)
	free()
	wait(t, func() int { return strings.Count(s.daemon.stderr.String(), "is writable again") }, 1)
	s.covered(25)
	s.daemon.terminate(t)
	checked(t, s.node, s.whole, s.daemon)
}

// TestDiskFullUntilTheEnd: if the disk is still full when the daemon ends, the daemon's own log has the
// numbers of what is in no gap.
func TestDiskFullUntilTheEnd(t *testing.T) {
	t.Parallel()
	s, _ := newFullDisk(t, 27)
	written := s.collections()
	last := written[len(written)-1].to
	s.daemon.terminate(t)
	if said, want := s.daemon.stderr.String(), fmt.Sprintf("of collections %d to 25; no gap there says so", last+1); !strings.Contains(said, want) {
		t.Errorf("the daemon does not say %q, but\n%s", want, said)
	}
	checked(t, s.node, s.whole, s.daemon)
}

// fill creates a file that uses up a disk.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for page := make([]byte, 4096); ; {
		if _, err := f.Write(page); errors.Is(err, syscall.ENOSPC) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestFilesTaken: other processes repeatedly move files away, truncate them or delete their folder.
// Together, what they took and what remains contain every collection once.
func TestFilesTaken(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*site) error
	}{
		{"logrotate", func(h *site) error { return h.logrotate(nil) }},
		{"copytruncate", func(h *site) error { return h.copytruncate(rand.New(rand.NewPCG(1, 1))) }},
		{"deletion", func(h *site) error { return h.delete(nil) }},
		{"SIGUSR1", func(h *site) error { return h.signal(syscall.SIGUSR1) }},
		{"another level", func(h *site) error {
			h.count++
			return errors.Join(h.level([]string{"light", "normal", "full"}[h.count%3]), h.signal(syscall.SIGHUP))
		}},
		{"a wrong configuration", func(h *site) error {
			return errors.Join(replace(h.config, "version: 1\noutputs: [{pth: x}]\n"), h.signal(syscall.SIGHUP))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t, 26)
			h := newHost(t, n, false)
			r := start(t, n, fakenode.Config{Name: "orders", Rate: 200, Background: 0.1})
			h.size = "10M" // the daemon has no reason of its own to start another file
			if err := h.level("normal"); err != nil {
				t.Fatal(err)
			}
			h.start()
			for i := range 5 {
				waitSent(t, r, 150*(i+1))
				if err := c.do(h); err != nil {
					t.Fatal(err)
				}
			}
			waitSent(t, r, 1000)
			h.terminate()
			if err := check.Node(n, h.written, h.options); err != nil {
				t.Errorf("%v\n%s", err, h.d.stderr.String())
			}
			// The log has its end at the path that was requested.
			b, err := os.ReadFile(filepath.Join(h.logs, fmt.Sprintf("orders-orders-%d.json", r.PID())))
			if err != nil || !bytes.Contains(b, []byte(`"action":"gc-session-end"`)) {
				t.Errorf("%d bytes without an end are where the log should be: %v", len(b), err)
			}
			if changes := c.name == "another level"; changes != (len(r.Ledger().Sessions) > 1) {
				t.Errorf("there were %d sessions", len(r.Ledger().Sessions))
			}
		})
	}
}

// TestClockStep: when the host's clock is set, later records contain the new time, and nothing is
// lost.
func TestClockStep(t *testing.T) {
	t.Parallel()
	n := newNode(t, 27)
	h := newHost(t, n, false)
	r := start(t, n, fakenode.Config{Name: "orders", Rate: 50})
	h.start()
	waitSent(t, r, 20)
	const step = -3 * time.Hour
	if err := setClock(h.clock, step); err != nil {
		t.Fatal(err)
	}
	// The daemon checks its clock every 10 s.
	ahead := func() (list []time.Duration) {
		began := time.Now().Add(-time.Duration(monotonic())) // start of the ledger's clock
		lists, err := check.Files(h.logs)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a file was just renamed
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range lists[r.Cookie()] {
			b, err := os.ReadFile(name)
			if err != nil {
				return nil // likewise
			}
			l := r.Ledger() // newer than what is in the file
			for line := range bytes.Lines(b) {
				var x struct {
					Time   time.Time `json:"@timestamp"`
					Event  struct{ Action string }
					Dotnet struct{ GC struct{ Number int } }
				}
				if err := json.Unmarshal(line, &x); err != nil || x.Event.Action != "gc" {
					continue
				}
				g := l.GCs[x.Dotnet.GC.Number-1]
				list = append(list, x.Time.Sub(began.Add(time.Duration(g.First))).Round(time.Minute))
			}
		}
		return list
	}
	waitEvery(t, 250*time.Millisecond, func() int { // it reads all files
		list := ahead()
		if at := slices.Index(list, step); at >= 0 {
			return len(list) - at
		}
		return 0
	}, 20)
	h.terminate()
	list := ahead()
	at := slices.Index(list, step)
	if at <= 0 || slices.ContainsFunc(list[:at], func(d time.Duration) bool { return d != 0 }) || slices.ContainsFunc(list[at:], func(d time.Duration) bool { return d != step }) {
		t.Errorf("records are ahead by %v", list)
	}
	if err := check.Node(n, h.written, h.options); err != nil {
		t.Error(err)
	}
}

// TestThousandRotations: a reader that uses Filebeat's rules follows files through many rotations, in
// make check 1000, is restarted meanwhile, and gets every record. What it gets twice has the same
// document id, and the same contents.
func TestThousandRotations(t *testing.T) {
	t.Parallel()
	rotations, rate := extent.Pick(300, 1000), 1000.
	if testing.Short() {
		rotations, rate = 200, 300
	}
	n := newNode(t, 28)
	r := start(t, n, fakenode.Config{Name: "orders", Rate: rate})
	dir := t.TempDir()
	logs := filepath.Join(dir, "logs")
	d, _ := oversee(t, pids(r)+fmt.Sprintf("outputs: [{path: \"%s/%%p.json\", filesize: 16K, filecount: 1000}]\n", logs))
	s := fakeshipper.New(filepath.Join(logs, "*.json"))
	times, ids, heads, files, torn := map[uint32]int{}, map[string]string{}, map[string]bool{}, 0, 0
	differ := 0
	id := regexp.MustCompile(`"gclog_doc_id":"([0-9a-f]+)"`)
	scan := func() {
		err := s.Scan(func(line []byte) {
			switch m := id.FindSubmatch(line); {
			case bytes.HasPrefix(line, []byte(`{"gclog_file_id"`)):
				if !heads[string(line)] {
					heads[string(line)] = true
					files++
				}
			case m == nil || !json.Valid(line):
				torn++
			case ids[string(m[1])] != "":
				if ids[string(m[1])] != string(line) {
					differ++
				}
			default:
				ids[string(m[1])] = string(line)
				for _, c := range parseCollection(t, line) {
					for i := c.from; i <= c.to; i++ {
						times[i]++
					}
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for began := time.Now(); files < rotations; time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > 4*time.Minute {
			t.Fatalf("%d files in 4 minutes", files)
		}
		scan()
		if files%7 == 0 {
			s.Restart()
		}
	}
	missing, doubled := 0, 0
	count := func() {
		scan()
		missing, doubled = 0, 0
		for _, x := range r.Ledger().Sessions {
			fakenode.Each(x.Sent, func(number uint32) {
				switch n := times[number]; {
				case n == 0:
					missing++
				case n > 1:
					doubled++
				}
			})
		}
	}
	// A daemon has 5 seconds to stop, and on a slow machine more left to write. What came last it may
	// hold back until more comes.
	r.SetRate(0)
	const few = 300
	wait(t, func() int {
		r.Collect()
		count()
		return few - missing
	}, 0)
	d.terminate(t)
	count()
	if missing+doubled+differ+torn > 0 {
		t.Errorf("%d missing, %d doubled, %d differ, %d torn", missing, doubled, differ, torn)
	}
	t.Logf("%d files, %d records", files, len(ids))
}

// peakMemory returns the peak resident memory of a process, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(b)
	if m == nil {
		t.Fatalf("no VmHWM: %s", b)
	}
	kb, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}
