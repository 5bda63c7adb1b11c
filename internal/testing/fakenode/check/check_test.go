//go:build linux

package check_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/cli"
	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/evidence"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/fakefuse"
	"github.com/gclog/gclog/internal/testing/fakenode"
	"github.com/gclog/gclog/internal/testing/fakenode/check"
)

const isGclog = "GCLOG_TEST_PROGRAM"

func TestMain(m *testing.M) {
	fakenode.Main()
	fakefuse.Main()
	if os.Getenv(isOther) != "" {
		other()
	}
	if file := os.Getenv(isStepped); file != "" {
		os.Exit(steppedDaemon(file, os.Getenv(isGclog)))
	}
	if os.Getenv(isGclog) != "" || os.Args[0] == "gclog" { // which starts itself as the supervisor of a command
		os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	// The tests mostly wait, so that more of them run at a time than there are processors.
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	child.MindHangUp()
	os.Exit(m.Run())
}

// A program is gclog in a process of its own.
type program struct {
	*exec.Cmd
	stderr said
}

// said is what a program has said so far. It may be read while the program runs.
type said struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, b...)
	return len(b), nil
}

func (s *said) String() string { return string(s.Bytes()) }

// Bytes returns a copy.
func (s *said) Bytes() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.text)
}

func gclog(t *testing.T, args ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.Command(os.Args[0], args...)}
	p.Env = append(os.Environ(), isGclog+"=1")
	p.Stderr = &p.stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	evidence.Write(t, fmt.Sprintf("gclog-%d.err", p.Process.Pid), p.stderr.String)
	t.Cleanup(func() { evidence.End(t, p.Cmd) })
	return p
}

// interrupt sends SIGINT and waits for the process to exit.
func (p *program) interrupt(t *testing.T) {
	t.Helper()
	_ = p.Process.Signal(syscall.SIGINT)
	if err := p.Wait(); err != nil {
		t.Errorf("%v\n%s", err, p.stderr.String())
	}
}

func newNode(t *testing.T, seed uint64) *fakenode.Node {
	t.Helper()
	n := fakenode.New(socketDir(t), seed)
	t.Cleanup(n.Close)
	return n
}

func start(t *testing.T, n *fakenode.Node, cfg fakenode.Config) *fakenode.Runtime {
	t.Helper()
	r, err := n.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// waitSent waits until the sessions of a runtime have sent count collections.
func waitSent(t *testing.T, r *fakenode.Runtime, count int) {
	t.Helper()
	wait(t, func() (n int) {
		for _, s := range r.Ledger().Sessions {
			fakenode.Each(s.Sent, func(uint32) { n++ })
		}
		return n
	}, count)
}

// waitSession waits until a session of a runtime, or a later one, has sent count collections; the first
// session is 0. Later ones count because somebody else on the host may have had a session in between:
// another gclog that asked for the settings, for example.
func waitSession(t *testing.T, r *fakenode.Runtime, session, count int) {
	t.Helper()
	wait(t, func() (most int) {
		l := r.Ledger()
		for i := min(session, len(l.Sessions)); i < len(l.Sessions); i++ {
			n := 0
			fakenode.Each(l.Sessions[i].Sent, func(uint32) { n++ })
			most = max(most, n)
		}
		return most
	}, count)
}

// wait gives up when nothing has been sent for a long time: a loaded machine is not a failure.
func wait(t *testing.T, sent func() int, count int) {
	t.Helper()
	waitEvery(t, 20*time.Millisecond, sent, count)
}

// waitEvery polls with a pause in between.
func waitEvery(t *testing.T, pause time.Duration, sent func() int, count int) {
	t.Helper()
	last, deadline := math.MinInt, time.Time{} // what is to be 0 may be negative
	for n := sent(); n < count; n = sent() {
		switch now := time.Now(); {
		case n > last: // as slowly as a busy host does it
			last, deadline = n, now.Add(2*time.Minute)
		case now.After(deadline):
			t.Fatalf("waited for %d, and there are %d", count, n)
		}
		time.Sleep(pause)
	}
}

func attach(t *testing.T, dir string, r *fakenode.Runtime) *program {
	t.Helper()
	return gclog(t, "attach", strconv.Itoa(r.PID()), "-o", filepath.Join(dir, strconv.Itoa(r.PID())+".json"), "--filesize", "100K", "--filecount", "1000")
}

// TestAttach checks what gclog attach writes about one runtime, and about several at once.
func TestAttach(t *testing.T) {
	for _, count := range []int{1, extent.Pick(8, 20)} {
		t.Run(strconv.Itoa(count), func(t *testing.T) {
			t.Parallel()
			n, dir := newNode(t, uint64(count)), t.TempDir()
			var group sync.WaitGroup
			for i := range count {
				r := start(t, n, fakenode.Config{Name: fmt.Sprintf("orders%d", i), Rate: 100, Background: 0.1, Heaps: 1 + i%2})
				p := attach(t, dir, r)
				group.Go(func() {
					waitSent(t, r, 200)
					p.interrupt(t)
				})
			}
			group.Wait()
			if err := check.Node(n, dir, check.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAttachFaults checks what gclog attach writes when something goes wrong.
func TestAttachFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*fakenode.Runtime)
		over bool // the fault ends the session
	}{
		{"drop", func(r *fakenode.Runtime) { r.Drop(33) }, false},
		{"stall", func(r *fakenode.Runtime) { r.Stall(700 * time.Millisecond) }, false},
		{"stop", func(r *fakenode.Runtime) {
			r.Stop()
			time.AfterFunc(500*time.Millisecond, r.Continue)
		}, false},
		{"flood", func(r *fakenode.Runtime) { r.SetRate(1000) }, false},
		{"break", (*fakenode.Runtime).Break, true},
		{"huge", (*fakenode.Runtime).Huge, true},
		{"kill", (*fakenode.Runtime).Kill, true},
		{"exit", func(r *fakenode.Runtime) { r.Exit(3) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n, dir := newNode(t, 7), t.TempDir()
			r := start(t, n, fakenode.Config{Name: "orders", Rate: 100, Background: 0.1})
			p := attach(t, dir, r)
			waitSent(t, r, 50)
			c.do(r)
			if c.over {
				_ = p.Wait()
			} else {
				waitSent(t, r, 250)
				p.interrupt(t)
			}
			if err := check.Node(n, dir, check.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDoctored: each rule detects its violation, and no other problem is reported.
func TestDoctored(t *testing.T) {
	n, dir := newNode(t, 9), t.TempDir()
	r := start(t, n, fakenode.Config{Name: "orders", Rate: 200, Background: 0.1})
	p := attach(t, dir, r)
	waitSent(t, r, 30)
	r.Drop(25)
	waitSent(t, r, 150)
	p.interrupt(t)
	lists, err := check.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, files := r.Ledger(), lists[r.Cookie()]
	if len(files) < 3 {
		t.Fatalf("only %d files", len(files))
	}
	if err := check.Output(l, files, check.Options{}); err != nil {
		t.Fatal(err)
	}
	original := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		original[f] = string(b)
	}
	// Two complete blocking collections, one after the other, in the second file.
	lines := strings.SplitAfter(original[files[1]], "\n")
	at := 0
	for i := range lines[:len(lines)-2] {
		if whole.MatchString(lines[i]) && whole.MatchString(lines[i+1]) {
			at = i
			break
		}
	}
	if at == 0 {
		t.Fatal("no two complete collections in a row")
	}
	number := func(line string) string { return whole.FindStringSubmatch(line)[1] }
	a, b := number(lines[at]), number(lines[at+1])
	last := files[len(files)-1]

	for _, c := range []struct {
		name   string
		file   string
		doctor func(s string) string
		o      check.Options
		want   string // a regular expression; "": no problem
	}{
		{"a line is torn", last, func(s string) string { return s[:len(s)-10] }, check.Options{}, `the line is torn`},
		{"a line is torn inside", files[1], func(s string) string { return strings.Replace(s, lines[at], lines[at][:99]+"\n", 1) }, check.Options{}, `unexpected end of JSON`},
		{"no header", files[1], func(s string) string { return s[strings.IndexByte(s, '\n')+1:] }, check.Options{}, `without a header`},
		{"a short header", files[1], func(s string) string { return longHeader.ReplaceAllString(s, "$1}") }, check.Options{}, `the header has \d+ bytes`},
		{"the id is too late", files[1], func(s string) string {
			return strings.Replace(s, "{", `{"x":"`+strings.Repeat("x", 60)+`",`, 1)
		}, check.Options{}, `not in its first 64 bytes`},
		{"one id twice", files[1], func(s string) string {
			id := regexp.MustCompile(`"gclog_file_id":"[^"]*"`)
			return strings.Replace(s, id.FindString(s), id.FindString(original[files[0]]), 1)
		}, check.Options{}, `the id of the file is that of`},
		{"a collection is missing", files[1], func(s string) string { return strings.Replace(s, lines[at], "", 1) }, check.Options{}, `#` + a + ` is in no record`},
		{"a collection is there twice", files[1], func(s string) string {
			return strings.Replace(s, lines[at], lines[at]+strings.Replace(lines[at], `"gclog_doc_id":"`, `"gclog_doc_id":"x`, 1), 1)
		}, check.Options{}, `#` + a + ` has two records`},
		{"a document is there twice", files[1], func(s string) string {
			return strings.Replace(s, documentOf(lines[at+1]), documentOf(lines[at]), 1)
		}, check.Options{}, `the gclog_doc_id is that of`},
		{"no document", files[1], func(s string) string { return strings.Replace(s, documentOf(lines[at]), "", 1) }, check.Options{}, `without gclog_doc_id`},
		{"out of order", files[1], func(s string) string {
			return strings.Replace(s, lines[at]+lines[at+1], lines[at+1]+lines[at], 1)
		}, check.Options{}, `#` + a + ` ended before #` + b},
		{"not in the ledger", files[1], func(s string) string {
			return strings.Replace(s, lines[at], strings.Replace(lines[at], `"number":`+a, `"number":99999`, 1), 1)
		}, check.Options{}, `#99999 is not in the ledger`},
		{"another duration", files[1], func(s string) string {
			return strings.Replace(s, lines[at], strings.Replace(lines[at], `"duration":`, `"duration":1`, 1), 1)
		}, check.Options{}, `#` + a + ` is gen`},
		{"in a record and a gap", files[1], func(s string) string {
			return strings.Replace(s, lines[at], lines[at]+aGap(lines[at], a, a, "1"), 1)
		}, check.Options{}, `#` + a + ` is in a record .* and in a gap`},
		{"in two gaps", files[1], func(s string) string {
			return strings.Replace(s, lines[at], aGap(lines[at], a, a, "1")+aGap(lines[at], a, a, "2"), 1)
		}, check.Options{}, `#` + a + ` is in two gaps`},
		{"in a gap", files[1], func(s string) string { return strings.Replace(s, lines[at], aGap(lines[at], a, a, "1"), 1) }, check.Options{}, ``},
		{"a gap of the future", files[1], func(s string) string {
			return strings.Replace(s, lines[at], lines[at]+aGap(lines[at], "99998", "99999", "1"), 1)
		}, check.Options{}, `a gap from #99998`},
		{"another process", files[1], func(s string) string {
			return strings.Replace(s, lines[at], strings.Replace(lines[at], `"entity_id":"0`, `"entity_id":"1`, 1), 1)
		}, check.Options{}, `a record of process`},
		{"no end", last, func(s string) string {
			return strings.Join(slicesDelete(strings.SplitAfter(s, "\n"), "gc-session-end"), "")
		}, check.Options{}, `has no end`},
		{"no begin", files[0], func(s string) string {
			return strings.Join(slicesDelete(strings.SplitAfter(s, "\n"), "gc-session-start"), "")
		}, check.Options{}, `was not begun`},
		{"the last are missing", last, func(s string) string {
			all := strings.SplitAfter(s, "\n")
			return all[0] + all[len(all)-2]
		}, check.Options{}, `is in no record`},
		{"killed", last, func(s string) string { return s[:len(s)-10] }, check.Options{Kills: []int64{monotonic()}}, ``},
		{"truncated", files[0], func(string) string { return "" }, check.Options{Truncated: true}, `was not begun`},
	} {
		t.Run(c.name, func(t *testing.T) {
			doctored := c.doctor(original[c.file])
			if doctored == original[c.file] {
				t.Fatal("nothing was changed")
			}
			if err := os.WriteFile(c.file, []byte(doctored), 0o644); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = os.WriteFile(c.file, []byte(original[c.file]), 0o644) }()
			err := check.Output(l, files, c.o)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !regexp.MustCompile(c.want).MatchString(err.Error()) {
				t.Errorf("wrong is: %v, want %s", err, c.want)
			}
		})
	}
}

// whole matches the record of a complete blocking collection.
// longHeader is the header of a file, and its id.
var longHeader = regexp.MustCompile(`^(\{"gclog_file_id":"[^"]*").*`)

var whole = regexp.MustCompile(`"gc":\{"number":(\d+),"generation":[012],"type":"blocking".*"complete":true`)

func documentOf(line string) string {
	return regexp.MustCompile(`"gclog_doc_id":"[^"]*",`).FindString(line)
}

// aGap turns a record of a collection into a gap.
func aGap(line, from, to, id string) string {
	line = strings.Replace(line, `"gclog_doc_id":"`, `"gclog_doc_id":"`+id, 1)
	line = strings.Replace(line, `"action":"gc"`, `"action":"gc-gap"`, 1)
	return strings.Replace(line, `"gc":{`, `"gc":{"gap":{"from":`+from+`,"to":`+to+`,"reason":"missed-gcs"},`, 1)
}

func slicesDelete(lines []string, with string) (rest []string) {
	for _, l := range lines {
		if !strings.Contains(l, with) {
			rest = append(rest, l)
		}
	}
	return rest
}

// startDaemon starts gclog daemon for the processes of this test.
func startDaemon(t *testing.T, n *fakenode.Node, dir string) *program {
	t.Helper()
	config := filepath.Join(dir, "gclog.yaml")
	err := os.WriteFile(config, fmt.Appendf(nil, `version: 1
discovery: {interval: 500ms, include: [{command_line: %q}]}
outputs: [{path: "%s/logs/%%s-%%n-%%p.json", filesize: 100K, filecount: 1000}]
http: {listen: ""}
control: {socket: ""}
`, n.Pattern(), dir), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	return gclog(t, "daemon", "-c", config)
}

// terminate sends SIGTERM to a daemon and waits for it to exit.
func (p *program) terminate(t *testing.T) {
	t.Helper()
	_ = p.Process.Signal(syscall.SIGTERM)
	if err := p.Wait(); err != nil {
		t.Errorf("%v\n%s", err, p.stderr.String())
	}
}

// TestKilledDaemon: a daemon that is killed repeatedly tears at most the last line of a file, and
// the next daemon continues.
func TestKilledDaemon(t *testing.T) {
	t.Parallel()
	n, dir := newNode(t, 1), t.TempDir()
	var runtimes []*fakenode.Runtime
	for i := range 3 {
		runtimes = append(runtimes, start(t, n, fakenode.Config{Name: fmt.Sprintf("orders%d", i), Rate: 60, Background: 0.1}))
	}
	var kills []int64
	said := ""
	for i := range 4 {
		d := startDaemon(t, n, dir)
		for _, r := range runtimes {
			waitSession(t, r, i, 100)
		}
		if i == 3 {
			d.terminate(t)
			said = d.stderr.String()
			break
		}
		_ = d.Process.Kill()
		_ = d.Wait()
		kills = append(kills, monotonic())
	}
	if err := check.Node(n, filepath.Join(dir, "logs"), check.Options{Kills: kills, Said: said}); err != nil {
		t.Error(err)
	}
}

// TestRestartsInBackground: daemons end, in one way or the other, while background collections are in
// progress. What each has seen of them has an id of its own, and one record is that of the collection.
func TestRestartsInBackground(t *testing.T) {
	t.Parallel()
	n, dir := newNode(t, extent.Seed(t)), t.TempDir()
	var runtimes []*fakenode.Runtime
	for i := range 4 {
		runtimes = append(runtimes, start(t, n, fakenode.Config{Name: fmt.Sprintf("orders%d", i), Rate: 4, Background: 0.9}))
	}
	logs := filepath.Join(dir, "logs")
	parts := func() int { return strings.Count(contents(t, logs), `"cut-off"`) }
	var kills []int64
	said := ""
	end := func(d *program) {
		d.terminate(t)
		said += d.stderr.String()
	}
	session := 0
	serve := func() *program {
		d := startDaemon(t, n, dir)
		for _, r := range runtimes {
			waitSession(t, r, session, 1)
		}
		session++
		return d
	}
	for i := 0; i < extent.Pick(2, 10) || parts() == 0; i++ {
		end(serve())
		d := serve()
		_ = d.Process.Kill()
		_ = d.Wait()
		kills = append(kills, monotonic())
		end(serve())
	}
	if err := check.Node(n, logs, check.Options{Kills: kills, Said: said}); err != nil {
		t.Error(err)
	}
	t.Logf("%d records, %d of them parts", strings.Count(contents(t, logs), `"action":"gc"`), parts())
}

// contents returns the contents of all files in a folder.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var all []byte
	for _, name := range glob(t, filepath.Join(dir, "*")) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return string(all)
}
