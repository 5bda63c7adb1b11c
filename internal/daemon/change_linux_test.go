package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
)

// wroteTo counts the collections in a file that contains some of an actor's records.
func (s *stage) wroteTo(pattern string, a *actor) int {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, fmt.Sprintf(pattern, a.target.PID)))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Count(string(b), `"action":"gc"`)
}

// TestChangeLevel: a session with another level is open before the current one ends; each
// collection is recorded once.
func TestChangeLevel(t *testing.T) {
	play(t, "session: {level: light}\n", func(s *stage) {
		a := s.enter(fakeruntime.Config{Speed: 1})
		time.Sleep(time.Second)
		s.said.take()
		s.change("level: light", "level: full")
		s.expect(a, "handing-over")
		s.says(fmt.Sprintf(`"pid":%d,"service":"actor","process":"actor","runtime":"8.0.0","session_level":"full","message":"session started"`, a.target.PID),
			fmt.Sprintf(`"config":%q,"processes":`, s.file()), `"message":"configuration reloaded"`)
		time.Sleep(time.Minute)
		if got := s.shows(a); got.State != "on" || got.Level != "full" {
			t.Errorf("it is %+v", got)
		}
		if n := s.actions(a); n["gc"] != collections || n["gc-session-start"] != 2 || n["gc-session-end"] != 1 {
			t.Errorf("it tells %v", n)
		}
		// Processes that are found later start with the new level.
		if got := s.shows(s.enter(fakeruntime.Config{})); got.Level != "full" {
			t.Errorf("it is %+v", got)
		}
	})
}

// TestChangeExit: a process that exits while one session takes over from another has ended once.
func TestChangeExit(t *testing.T) {
	play(t, "session: {level: light}\nrules: [{name: a, event: exit, when: process.exit_code == 3, do: [{log: warn}]}]\n", func(s *stage) {
		a := s.enter(fakeruntime.Config{Speed: 1})
		time.Sleep(time.Second)
		s.change("level: light", "level: full")
		s.expect(a, "handing-over")
		s.said.take()
		a.exit(t, 3)
		time.Sleep(time.Minute)
		if n := s.actions(a); n["gc-session-end"] != 2 {
			t.Fatalf("it tells %v", n)
		}
		said := s.said.take()
		for _, words := range []string{"process ended", "rule a: end of the process"} {
			if strings.Count(said, words) != 1 {
				t.Errorf("it does not say %q once, but\n%s", words, said)
			}
		}
	})
}

// TestChangeAwaitsSnapshot: while a heap snapshot is taken, a process keeps its session, however long
// that takes. The session with another level follows.
func TestChangeAwaitsSnapshot(t *testing.T) {
	play(t, "session: {level: light}\n", func(s *stage) {
		a := s.enter(fakeruntime.Config{Speed: 1})
		hold, err := (&host.Target{Process: a.target.Process}).Hold(s.t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.change("level: light", "level: full")
		time.Sleep(2 * openTime)
		if got := s.shows(a); got.State != "switching" || got.Level != "light" || a.runtime.Sessions() != 1 {
			t.Errorf("it is %+v, with %d sessions", got, a.runtime.Sessions())
		}
		hold.Release()
		time.Sleep(time.Minute)
		if got := s.shows(a); got.State != "on" || got.Level != "full" {
			t.Errorf("it is %+v", got)
		}
		if n := s.actions(a); n["gc"] != collections || n["gc-gap"] != 0 {
			t.Errorf("it tells %v", n)
		}
	})
}

// TestChangeRefused: if the runtime refuses a session with another level, the current one stays.
func TestChangeRefused(t *testing.T) {
	play(t, "", func(s *stage) {
		sessions := 0
		a := s.enter(fakeruntime.Config{Meet: func(command uint16) fakeruntime.Fault {
			if command != 0x0203 {
				return fakeruntime.Fault{}
			}
			if sessions++; sessions > 1 {
				return fakeruntime.Fault{Refuse: 7}
			}
			return fakeruntime.Fault{}
		}})
		time.Sleep(time.Minute)
		s.change("version: 1", "version: 1\nsession: {level: full}")
		time.Sleep(time.Minute)
		if got := s.shows(a); got.State != "on" || got.Level != "normal" {
			t.Errorf("it is %+v", got)
		}
		s.says(`"level":"warn"`, "the level remains normal: explained: CollectTracing")
	})
}

// TestChangeRules: a process that is excluded loses its session, and gets one when it no longer is.
func TestChangeRules(t *testing.T) {
	play(t, "", func(s *stage) {
		a := s.enter(fakeruntime.Config{})
		for range 2 {
			s.exclude(true)
			if got := s.shows(a); got.State != "excluded" || got.Why != "excluded by discovery.exclude[0] ("+s.file()+":2)" {
				t.Errorf("it is %+v", got)
			}
			if n := s.actions(a); n["gc-session-start"] != 1 || n["gc-session-end"] != 1 {
				t.Errorf("it tells %v", n)
			}
			s.exclude(false)
			s.expect(a, "on")
		}
	})
}

// TestChangeRefusal: a process that was not asked who it is, because it was refused whatever it
// would answer, is found again when a new configuration leaves that undecided.
func TestChangeRefusal(t *testing.T) {
	play(t, "", func(s *stage) {
		refused, ignored := s.cue(fakeruntime.Config{}), s.cue(fakeruntime.Config{})
		refused.target.CommandLine = []string{"another program"}
		ignored.target.CommandLine, ignored.target.Environ = []string{"another program"}, map[string]string{"GCLOG_IGNORE": "1"}
		for _, a := range []*actor{refused, ignored} {
			s.find(a)
			s.expect(a, "excluded")
		}
		s.change("interval: 1000h", "interval: 999h")
		s.expect(refused, "excluded")
		s.change(`{command_line: "actor*"}`, `{command_line: "another program"}`)
		s.expect(refused, "")
		s.expect(ignored, "excluded")
		s.find(refused)
		s.expect(refused, "on")
	})
}

// TestChangeOutputs: records continue in other files, with another name and other labels, in the
// current session.
func TestChangeOutputs(t *testing.T) {
	play(t, "services: [{match: {process: actor}, name: shop}]\nlabels: {env: test}\n", func(s *stage) {
		a := s.enter(fakeruntime.Config{})
		time.Sleep(time.Second)
		if n := s.wroteTo("%d.json", a); n != collections {
			t.Errorf("it tells %d collections", n)
		}
		s.change("%p.json", "%s-%p.json")
		s.change("name: shop", "name: store")
		s.change("env: test", "env: prod")
		got := s.shows(a)
		file := filepath.Join(s.dir, fmt.Sprintf("store-%d.json", a.target.PID))
		if got.State != "on" || got.Service != "store" || len(got.Outputs) != 1 || got.Outputs[0] != file {
			t.Errorf("it is %+v", got)
		}
		a.exit(t, 0)
		s.do(func() {})
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if last := string(b[strings.LastIndex(strings.TrimSpace(string(b)), "\n")+1:]); !strings.Contains(last, `"name":"store"`) || !strings.Contains(last, `"env":"prod"`) {
			t.Errorf("its end is told as %s", last)
		}
		for _, r := range s.wrote(a) {
			if text(r, "event", "action") == "gc-session-end" && text(r, "event", "reason") != "detached" {
				t.Errorf("the file that is no longer asked for ends with %v", r)
			}
		}
	})
}

// TestChangeFails: outputs that cannot be opened are reported, and the session continues.
func TestChangeFails(t *testing.T) {
	play(t, "", func(s *stage) {
		a := s.enter(fakeruntime.Config{})
		if err := os.WriteFile(filepath.Join(s.dir, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s.change("%p.json", "file/%p.json")
		s.says(fmt.Sprintf(`{"level":"warn","pid":%d,"process":"actor","message":"`, a.target.PID), "not a directory")
		s.expect(a, "on")
	})
}

// TestChangeWrong: an invalid configuration is reported, and changes nothing.
func TestChangeWrong(t *testing.T) {
	play(t, "", func(s *stage) {
		a := s.enter(fakeruntime.Config{})
		before := s.config
		for from, to := range map[string]string{
			"version: 1":         "version: 99",
			`control: {socket: `: fmt.Sprintf("http: {listen: %q}\ncontrol: {socket: ", "192.0.2.1:1"),
		} {
			text, err := os.ReadFile(s.file())
			if err != nil {
				t.Fatal(err)
			}
			s.change(from, to)
			s.says(`"message":"keeping the current configuration"`)
			s.expect(a, "on")
			if s.config != before || s.servers.tcp != nil {
				t.Error("it is another one")
			}
			if err := os.WriteFile(s.file(), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestChangeDaemon: settings of the daemon itself take effect when the configuration is read.
func TestChangeDaemon(t *testing.T) {
	play(t, "log: {format: json, level: info}\n", func(s *stage) {
		s.do(func() {})
		s.change("interval: 1000h", "interval: 999h, max_processes: 7")
		if s.discovery.sweeper.interval != 999*time.Hour || s.limits.processes != 7 {
			t.Errorf("the interval is %v, the limits are %+v", s.discovery.sweeper.interval, s.limits)
		}
		s.says("configuration reloaded")
		s.change("format: json", "format: console")
		s.says("log.format takes effect only at startup")
		s.change("level: info", "level: error")
		s.said.take()
		s.change("max_processes: 7", "max_processes: 8")
		if said := s.said.take(); said != "" {
			t.Errorf("with level error it says %s", said)
		}
	})
}

// TestRotate: every output starts a new file.
func TestRotate(t *testing.T) {
	play(t, "", func(s *stage) {
		a := s.enter(fakeruntime.Config{})
		time.Sleep(time.Second)
		s.rotate <- struct{}{}
		s.says(`"message":"all outputs started new files"`)
		a.exit(t, 0)
		s.do(func() {})
		if n := s.actions(a); n["gc-log-header"] != 1 || n["gc"] != 0 || n["gc-session-end"] != 1 {
			t.Errorf("the new file has %v", n)
		}
	})
}

// TestWarnings: what is allowed in a configuration but probably not intended is reported when it is
// read.
func TestWarnings(t *testing.T) {
	play(t, "", func(s *stage) {
		s.do(func() {})
		s.said.take()
		loaded, err := s.load()
		if err != nil {
			t.Fatal(err)
		}
		loaded.Warnings = []string{"that is odd"}
		s.do(func() {
			if err := s.reloaded(loaded, nil); err != nil {
				t.Error(err)
			}
		})
		s.says(`{"level":"warn","message":"that is odd"}`)
	})
}

// TestWrongProvider: a process for which no valid session can be requested is given up at once.
func TestWrongProvider(t *testing.T) {
	play(t, "", func(s *stage) {
		s.do(func() { s.config.Session.Providers = []string{"a:b:c:d"} })
		a := s.enter(fakeruntime.Config{})
		if got := s.shows(a); got.State != "given-up" || got.Attempts != 1 || got.Why == "" {
			t.Errorf("it is %+v", got)
		}
	})
}

// TestOutputsFail: the failure of an output is reported once for each output, until it fails for
// another reason.
func TestOutputsFail(t *testing.T) {
	play(t, "", func(s *stage) {
		s.do(func() {})
		s.said.take()
		for range 2 {
			for _, text := range []string{"writing /a/b.json: no space", "writing /a/c.json: no space", "/a/c.json; works again"} {
				s.opener.Warn(text)
			}
		}
		s.opener.Warn("/a/c.json, works again")
		s.do(func() {})
		if got, want := strings.Count(s.said.take(), `"level":"warn"`), 6; got != want {
			t.Errorf("%d are told, want %d", got, want)
		}
	})
}

// TestOwnFiles: gclog distinguishes its own files from others with such names, which it does not
// delete.
func TestOwnFiles(t *testing.T) {
	d := newDaemon(t, Options{})
	if ours := d.opener.Files.IsOurs; ours == nil || !ours([]byte(`{"gclog_file_id":"0123456789abcdef"`)) || ours([]byte("{}")) {
		t.Error("it does not")
	}
}
