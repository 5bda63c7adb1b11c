//go:build linux

package check_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/fakenode"
	"github.com/gclog/gclog/internal/testing/fakenode/check"
	"golang.org/x/sys/unix"
)

// A regression is the seed of a history that once failed, with the failure.
type regression struct {
	seed   uint64
	showed string
}

// regressions: the first three are always run, for a few seconds in the usual tests, the others by
// make soak.
var regressions = []regression{
	{3, "numbers that were missing in one run were reported in more gaps than there is room for"},
	{4, "a gap that could not be written was dropped, and what it names was nowhere"},
	{5, "a session that did not end kept from the disk what had come of it and of the next one"},
	{1, "the last records of a process fell on a full disk, and nothing told of them at its end"},
	{8, "what a full disk had torn stayed in a file that had just been moved away"},
	{16, "two gaps had one gclog_doc_id"},
	{20, "a number that a suspension had used up was in no gap when its record could not be written"},
}

// TestHistories checks what the daemon writes about processes with random faults, while faults
// happen to the daemon and its files too. GCLOG_SEED sets the seed of a single history to run
// instead, GCLOG_HISTORY how long each takes.
func TestHistories(t *testing.T) {
	seeds := regressions[:3]
	if testing.Short() {
		seeds = regressions[:1]
	}
	if s := os.Getenv("GCLOG_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds = []regression{{seed, "asked for"}}
	}
	length := duration(t, "GCLOG_HISTORY", time.Duration(extent.Pick(5, 15))*time.Second)
	for _, x := range seeds {
		t.Run(strconv.FormatUint(x.seed, 10), func(t *testing.T) {
			t.Parallel()
			t.Log(x.showed)
			extent.SaySeed(t, x.seed)
			history(t, x.seed, length)
		})
	}
}

// TestSoak runs all regressions, then histories with random seeds for the duration in GCLOG_SOAK,
// up to the first that fails.
func TestSoak(t *testing.T) {
	end := time.Now().Add(duration(t, "GCLOG_SOAK", 0))
	if time.Now().After(end) {
		t.Skip("takes hours: make soak")
	}
	length := duration(t, "GCLOG_HISTORY", 30*time.Second)
	var sum total
	defer func() { fmt.Fprintln(os.Stderr, "checked:", sum) }()
	for i := 0; time.Now().Before(end); i++ {
		seed := rand.Uint64N(1 << 32)
		if i < len(regressions) {
			seed = regressions[i].seed
		}
		fmt.Fprintf(os.Stderr, "%s seed %d\n", time.Now().UTC().Format(time.RFC3339), seed)
		if !t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { sum.add(history(t, seed, length)) }) {
			t.Fatalf("to repeat it: GCLOG_SEED=%d GCLOG_HISTORY=%v go test -count 1 -run TestHistories ./internal/testing/fakenode/check", seed, length)
		}
	}
}

// A total counts what was checked.
type total struct {
	histories, processes, sessions int
	had, delivered                 uint64 // collections
}

func (s *total) add(n *fakenode.Node) {
	s.histories++
	for _, r := range n.Runtimes() {
		l := r.Ledger()
		s.processes++
		s.sessions += len(l.Sessions)
		s.had += uint64(len(l.GCs))
		for i := range l.Sessions {
			fakenode.Each(l.Sessions[i].Read, func(uint32) { s.delivered++ })
		}
	}
}

func (s total) String() string {
	return fmt.Sprintf("%d histories, %d processes, %d sessions, %d collections, %d times one was delivered to gclog", s.histories, s.processes, s.sessions, s.had, s.delivered)
}

// duration returns the duration in an environment variable, or otherwise.
func duration(t *testing.T, variable string, otherwise time.Duration) time.Duration {
	t.Helper()
	s := os.Getenv(variable)
	if s == "" {
		return otherwise
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return d
}

func history(t *testing.T, seed uint64, length time.Duration) *fakenode.Node {
	t.Helper()
	n := newNode(t, seed)
	h := newHost(t, n, seed%3 == 0)
	h.outside = newOutside(t, seed, filepath.Join(t.ArtifactDir(), "outside"))
	if err := h.level("normal"); err != nil {
		t.Fatal(err)
	}
	h.start()
	c := fakenode.Chaos{
		Seed: seed, Duration: length, Every: 100 * time.Millisecond, Processes: 8, Rate: 50, Beside: h.mischiefs(),
		Log: func(s string) { t.Logf("%s %s", time.Now().UTC().Format("05.000"), s) },
	}
	if err := c.Run(n); err != nil {
		t.Fatal(err)
	}
	h.calm()
	h.outside.wait()
	h.terminate()
	h.outside.check()
	if err := check.Node(n, h.written, h.options); err != nil {
		t.Errorf("%v\n%s", err, h.options.Said)
		keepLedgers(t, n)
	}
	return n
}

// keepLedgers writes the ledgers to the folder of the logs, where -artifacts keeps them.
func keepLedgers(t *testing.T, n *fakenode.Node) {
	t.Helper()
	for _, r := range n.Runtimes() {
		if b, err := json.Marshal(r.Ledger()); err == nil {
			_ = os.WriteFile(filepath.Join(t.ArtifactDir(), fmt.Sprintf("ledger-%d.json", r.PID())), b, 0o600)
		}
	}
}

// A site is everything but the node: the daemon, its configuration and its files.
type site struct {
	t       *testing.T
	config  string
	clock   string
	written string   // folder with everything that the daemon has written
	logs    string   // folder below it that the daemon writes to
	include string   // pattern for the command lines of the processes that the daemon logs
	size    string   // files are rotated at this size
	kills   bool     // the daemon may be killed
	outside *outside // nil: the daemon only writes logs
	d       *program
	full    func() // ends the shortage of space, if the disk is full
	count   int    // of files that were moved or copied
	options check.Options

	stopped sync.Mutex // held while the daemon is stopped
}

func newHost(t *testing.T, n *fakenode.Node, kills bool) *site {
	t.Helper()
	dir := t.ArtifactDir() // -artifacts keeps it
	h := &site{
		t: t, kills: kills, config: filepath.Join(dir, "gclog.yaml"), clock: filepath.Join(dir, "clock"), written: filepath.Join(dir, "written"), full: func() {},
		include: n.Pattern(), size: "100K", options: check.Options{Truncated: true},
	}
	h.logs = filepath.Join(h.written, "logs")
	if err := errors.Join(os.MkdirAll(h.logs, 0o700), h.level("normal"), setClock(h.clock, 0)); err != nil {
		t.Fatal(err)
	}
	return h
}

// level writes the configuration.
func (h *site) level(level string) error {
	more := "http: {listen: \"\"}\n"
	if h.outside != nil {
		more = h.outside.configuration()
	}
	return replace(h.config, fmt.Sprintf(`version: 1
discovery: {interval: 500ms, include: [{command_line: %q}]}
session: {level: %s}
outputs: [{path: "%s/%%s-%%n-%%p.json", filesize: %s, filecount: 1000}]
control: {socket: ""}
%s`, h.include, level, h.logs, h.size, more))
}

func (h *site) start() {
	h.t.Helper()
	h.d = &program{Cmd: exec.Command(os.Args[0])}
	h.d.Env = append(os.Environ(), isStepped+"="+h.config, isGclog+"="+h.clock)
	h.d.Stderr = &h.d.stderr
	_ = os.Remove(isReady(h.clock))
	if err := h.d.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = h.d.Process.Kill()
		_ = h.d.Wait()
	})
	wait(h.t, func() int {
		if _, err := os.Stat(isReady(h.clock)); err != nil {
			return 0
		}
		return 1
	}, 1)
}

// calm ends all faults that last for a time.
func (h *site) calm() { h.full() }

func (h *site) signal(s syscall.Signal) error { return h.d.Process.Signal(s) }

// mischiefs returns the faults that can happen to the host.
func (h *site) mischiefs() []fakenode.Mischief {
	list := []fakenode.Mischief{
		{Name: "another level", Do: func(x *rand.Rand) error {
			return errors.Join(h.level([]string{"light", "normal", "full"}[x.IntN(3)]), h.signal(syscall.SIGHUP))
		}},
		{Name: "a wrong configuration", Do: func(*rand.Rand) error {
			return errors.Join(replace(h.config, "version: 1\noutputs: [{pth: x}]\n"), h.signal(syscall.SIGHUP))
		}},
		{Name: "rotation", Do: func(*rand.Rand) error { return h.signal(syscall.SIGUSR1) }},
		{Name: "logrotate", Do: h.logrotate},
		{Name: "copytruncate", Do: h.copytruncate},
		{Name: "deletion", Do: h.delete},
		{Name: "disk full", Do: h.fill},
		{Name: "clock step", Do: func(x *rand.Rand) error {
			return setClock(h.clock, time.Duration(x.Int64N(int64(48*time.Hour)))-24*time.Hour)
		}},
		{Name: "daemon stopped", Do: func(x *rand.Rand) error {
			d := h.d
			time.AfterFunc(time.Duration(x.Int64N(int64(2*time.Second))), func() {
				h.stopped.Lock()
				defer h.stopped.Unlock()
				_ = d.Process.Signal(syscall.SIGCONT)
			})
			return h.signal(syscall.SIGSTOP)
		}},
	}
	if h.kills {
		list = append(list, fakenode.Mischief{Name: "daemon killed", Do: h.kill})
	}
	return list
}

// terminate ends the daemon.
func (h *site) terminate() {
	h.t.Helper()
	h.d.terminate(h.t)
	h.options.Said += h.d.stderr.String()
}

// kill kills the daemon and starts another one.
func (h *site) kill(*rand.Rand) error {
	h.full()
	if err := h.d.Process.Kill(); err != nil {
		return err
	}
	_ = h.d.Wait()
	h.options.Kills = append(h.options.Kills, monotonic())
	h.options.Said += h.d.stderr.String()
	if err := h.level("normal"); err != nil {
		return err
	}
	h.start()
	return nil
}

// files returns the files that the daemon may be writing.
func (h *site) files() []string {
	list, _ := filepath.Glob(filepath.Join(h.logs, "*.json"))
	return list
}

// aside returns a new folder for files that are taken from the daemon.
func (h *site) aside() (string, error) {
	h.count++
	dir := filepath.Join(h.written, fmt.Sprintf("aside%06d", h.count))
	return dir, os.Mkdir(dir, 0o700)
}

// logrotate moves the files away and signals the daemon.
func (h *site) logrotate(*rand.Rand) error {
	h.count++
	for _, name := range h.files() {
		if err := os.Rename(name, fmt.Sprintf("%s.%06d", name, h.count)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return h.signal(syscall.SIGHUP)
}

// copytruncate copies a file and truncates it to nothing. The daemon is stopped meanwhile:
// therefore exactly what was copied is truncated, and nothing has to be excused.
func (h *site) copytruncate(x *rand.Rand) error {
	list := h.files()
	if len(list) == 0 {
		return nil
	}
	dir, err := h.aside()
	if err != nil {
		return err
	}
	name := list[x.IntN(len(list))]
	return h.still(func() error {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.Base(name))
		return errors.Join(os.WriteFile(to, b, 0o600), os.Chtimes(to, info.ModTime(), info.ModTime()), os.Truncate(name, 0))
	})
}

// still stops the daemon while f runs.
func (h *site) still(f func() error) error {
	h.stopped.Lock()
	defer h.stopped.Unlock()
	if err := h.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for {
		if stopped, err := stands(h.d.Process.Pid); err != nil {
			return err
		} else if stopped {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return errors.Join(f(), h.signal(syscall.SIGCONT))
}

// stands reports whether all threads of a process are stopped.
func stands(pid int) (bool, error) {
	list, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return false, err
	}
	for _, name := range list {
		switch b, err := os.ReadFile(name); {
		case err == nil && strings.Contains(string(b), ") Z "):
			return false, errors.New("the daemon has ended by itself")
		case err == nil && !strings.Contains(string(b), ") T "):
			return false, nil
		}
	}
	return true, nil
}

// delete deletes the folder of the logs. The files in it, also what is written to them afterwards,
// remain visible under other names.
func (h *site) delete(*rand.Rand) error {
	dir, err := h.aside()
	if err != nil {
		return err
	}
	return h.still(func() error {
		list, err := os.ReadDir(h.logs)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range list {
			if err := os.Link(filepath.Join(h.logs, e.Name()), filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
		return os.RemoveAll(h.logs)
	})
}

// fill simulates a full disk for a time: the daemon cannot write beyond a random position of up to
// 100 KiB in any file.
func (h *site) fill(x *rand.Rand) error {
	h.full()
	most := uint64(0)
	if x.IntN(2) == 0 {
		most = x.Uint64N(100 << 10)
	}
	pid := h.d.Process.Pid
	limit := func(n uint64) error {
		return unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: n, Max: unix.RLIM_INFINITY}, nil)
	}
	i := len(h.options.Full)
	h.options.Full = append(h.options.Full, check.Period{From: monotonic()})
	timer := time.NewTimer(time.Duration(x.Int64N(int64(3 * time.Second))))
	freed, free := make(chan struct{}), make(chan struct{})
	var to int64
	go func() {
		defer close(freed)
		select {
		case <-timer.C:
		case <-free:
		}
		_ = limit(unix.RLIM_INFINITY)
		to = monotonic()
	}()
	h.full = func() {
		close(free)
		<-freed
		h.options.Full[i].To = to
		h.full = func() {}
	}
	return limit(most)
}

func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // cannot fail
	return t.Nano()
}
