package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/actions"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/rules"
)

// rule returns the status of a rule.
func (s *stage) rule(name string) (status RuleStatus) {
	s.t.Helper()
	s.do(func() {
		for _, x := range s.Daemon.status().Rules {
			if x.Name == name {
				status = x
			}
		}
	})
	return status
}

// number returns a number in a record.
func number(r map[string]any, path ...string) float64 {
	for _, name := range path[:len(path)-1] {
		r, _ = r[name].(map[string]any)
	}
	n, _ := r[path[len(path)-1]].(float64)
	return n
}

// matching returns the ids of the records of gen2 collections with a pause over 2 ms in the log of an
// actor, as its rules should find them.
func (s *stage) matching(a *actor) (ids []string) {
	s.t.Helper()
	for _, r := range s.wrote(a) {
		if text(r, "event", "action") == "gc" && number(r, "dotnet", "gc", "generation") == 2 && number(r, "dotnet", "gc", "pause", "total", "ns") > 2e6 {
			ids = append(ids, text(r, "gclog_doc_id"))
		}
	}
	return ids
}

// TestRules: rules fire for the records that the log has, and their actions receive them. The end of
// a process is an event too.
func TestRules(t *testing.T) {
	got := filepath.Join(t.TempDir(), "got")
	play(t, `rules:
- name: long
  when: "pause > 2ms && generation == 2"
  do: [{log: info}, {exec: {command: [sh, -c, "cat >>`+got+`"]}}, {exec: {command: [sh, -c, "for i in $(seq 30); do echo $GCLOG_RULE $i; done; exit 7"]}}]
- {name: others, when: pause > 0, only: [{service: others}], do: [{log: info}]}
- {name: gone, event: exit, when: process.exit_code == 3, do: [{log: warn}]}
`, func(s *stage) {
		a := s.enter(fakeruntime.Config{})
		time.Sleep(time.Minute)
		want := s.matching(a)
		if len(want) < 5 {
			t.Fatalf("the recording has %d such collections", len(want))
		}
		long := s.rule("long")
		if n := int64(len(want)); long.Fired != n || long.LeftOut != 0 || long.Event != "gc" || long.When != "pause > 2ms && generation == 2" ||
			len(long.Actions) != 3 || long.Actions[0].Action != "log" || long.Actions[0].Done != n || long.Actions[1].Done != n || long.Actions[2].Failed != n {
			t.Errorf("%+v, want %d firings", long, n)
		}
		b, err := os.ReadFile(got)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for line := range bytes.Lines(b) {
			var r map[string]any
			if err := json.Unmarshal(line, &r); err != nil {
				t.Errorf("%v: %s", err, line)
			}
			ids = append(ids, text(r, "gclog_doc_id"))
		}
		if strings.Join(ids, " ") != strings.Join(want, " ") {
			t.Errorf("the command has received %q, want %q", ids, want)
		}
		if n := s.rule("others").Fired; n != 0 {
			t.Errorf("a rule for another service has fired %d times", n)
		}
		s.says(fmt.Sprintf(`"pid":%d,"process":"actor","message":"rule long: gen2 collection `, a.target.PID), ": pause ", ", generation 2",
			fmt.Sprintf(`"level":"info","message":"rule long, process %d: exec: long 1"`, a.target.PID), `"level":"warn","message":"rule long, process `, `exec: sh: exit status 7`)
		a.exit(t, 3)
		time.Sleep(time.Minute)
		if n := s.rule("gone").Fired; n != 1 {
			t.Errorf("the end has fired %d times", n)
		}
		s.says(`"level":"warn"`, "rule gone: end of the process: exited, exit code 3")
	})
}

// TestRulesReload: a reload that does not change the rules does not change what is known of them;
// otherwise the rules start over, and those that are gone do nothing more.
func TestRulesReload(t *testing.T) {
	play(t, "summary: 1h\nrules: [{name: a, when: generation == 2, cooldown: 100h, do: [{log: info}]}]\n", func(s *stage) {
		one := s.enter(fakeruntime.Config{})
		time.Sleep(time.Second)
		if n := s.rule("a").Fired; n != 1 {
			t.Fatalf("it has fired %d times", n)
		}
		s.change("summary: 1h", "summary: 2h")
		if n := s.rule("a").Fired; n != 1 {
			t.Errorf("it has fired %d times after a reload", n)
		}
		s.enter(fakeruntime.Config{}) // the cooldown is that of a process
		time.Sleep(time.Second)
		if n := s.rule("a").Fired; n != 2 {
			t.Errorf("it has fired %d times for two processes", n)
		}
		s.change("name: a, when: generation == 2, cooldown: 100h", "name: b, when: pause > 100h")
		one.become(t, func(*fakeruntime.Config) {})
		time.Sleep(2 * time.Minute) // it has another session, of the same recording
		if a, b := s.rule("a"), s.rule("b"); a.Name != "" || b.Fired != 0 {
			t.Errorf("%+v, %+v", a, b)
		}
		s.said.take()
		s.change("rules: [", "rules: [{name: c, when: pauze > 1s, do: [{log: info}]}, ")
		s.says("rules[0].when: at column 1: there is no field pauze", "keeping the current configuration")
		if s.rule("b").Name != "b" {
			t.Error("an invalid configuration has replaced the rules")
		}
	})
}

// TestRuleLevel: a rule raises the level for some time, and longer if it fires again.
func TestRuleLevel(t *testing.T) {
	play(t, `rules: [{name: a, event: pause, when: pause > 5ms, do: [{level: {to: full, for: 1m}}]}]`+"\n", func(s *stage) {
		a := s.enter(fakeruntime.Config{Speed: 1})
		time.Sleep(15 * time.Second)
		s.says("rule a: the level of the session is full until 2000-01-01T00:0", `"session_level":"full"`)
		if got := s.shows(a); got.State != "on" || got.Level != "full" {
			t.Fatalf("it is %+v", got)
		}
		time.Sleep(10 * time.Minute)
		if got := s.shows(a); got.State != "on" || got.Level != "normal" {
			t.Errorf("it is %+v", got)
		}
		s.says("the level of the session is as configured again", `"session_level":"normal"`)
		if r := s.rule("a"); r.Fired == 0 || r.Actions[0].Done != r.Fired {
			t.Errorf("%+v", r)
		}
		if n := s.actions(a); n["gc"] < collections || n["gc-gap missed-gcs"]+n["gc-gap reattached"] != 0 {
			t.Errorf("it tells %v", n)
		}
	})
}

// TestRuleLevelOften: a rule that fires all the time needs no more memory for that, and nothing of it
// is left when the process has exited.
func TestRuleLevelOften(t *testing.T) {
	play(t, "", func(s *stage) {
		a := s.enter(fakeruntime.Config{})
		p := s.process(a)
		s.do(func() {
			a := &activeAction{Action: config.Action{Level: config.LevelAction{To: "normal", For: 24 * time.Hour}}}
			p.raise(a, "a")
			if n := testing.AllocsPerRun(100, func() { p.raise(a, "a") }); n != 0 {
				t.Errorf("firing again allocates %v times", n)
			}
		})
		a.exit(t, 0)
		time.Sleep(time.Minute)
		s.do(func() {
			if p.raised != (raised{}) {
				t.Errorf("%+v is left", p.raised)
			}
		})
	})
}

// TestRuleSnapshot: a rule has a heap snapshot taken, with the settings of heap.auto, which need not
// be enabled. One that must not be taken is explained.
func TestRuleSnapshot(t *testing.T) {
	playHeap(t, `rules: [{name: a, when: number == 5 || number == 140, do: [{heap_snapshot: true}]}]`+"\n", func(s *stage) {
		f := s.watchHeap()
		a := s.enterCoreCLR(fakeruntime.Config{Speed: 1})
		time.Sleep(time.Minute)
		if f.words() != "snapshot" || s.rule("a").Fired != 2 {
			t.Fatalf("%q, %+v", f.words(), s.rule("a"))
		}
		s.says("rule a has fired: taking a heap snapshot", "no heap snapshot for rule a: heap.auto.cooldown of the last one lasts until ")
		if got := s.shows(a).Snapshots; got == nil || got.Taken != 1 {
			t.Errorf("%+v", got)
		}
		if got := s.rule("a").Actions[0]; got != (ActionStatus{Action: "heap_snapshot", Done: 1, LeftOut: 1}) {
			t.Errorf("%+v", got)
		}
		b := s.cue(fakeruntime.Config{}) // without the debugger's pipe it counts as NativeAOT
		b.target.Started = epoch
		s.find(b)
		time.Sleep(time.Second)
		s.says("no heap snapshot for rule a: process ")
		c := s.cue(fakeruntime.Config{Version: "11.0.0"}) // which walks its heap
		c.target.Started = epoch
		s.find(c)
		time.Sleep(time.Second)
		s.says("rule a has fired: taking a heap snapshot")
		if f.words() != "snapshot snapshot" {
			t.Error(f.words())
		}
	})
}

// TestRulesNeverWait: when the loop has no time, and a command does not end, the log is complete; what
// was left out is counted.
func TestRulesNeverWait(t *testing.T) {
	var list []string
	for i := range 20 {
		list = append(list, fmt.Sprintf("{name: r%d, when: number >= 0, do: [{log: info}]}", i))
	}
	list = append(list, `{name: stuck, event: pause, when: pause > 0, do: [{exec: {command: [never]}}]}`)
	play(t, "rules: ["+strings.Join(list, ", ")+"]\n", func(s *stage) {
		s.do(func() { // a real command would stop the test's time
			s.rules.set.closeLater(0)
			s.rules.set.list[20].actions[0].worker = actions.Start(stuck{}, func(*actions.Call, error) {})
		})
		a := s.enter(fakeruntime.Config{Speed: 1})
		s.said.take()
		busy := make(chan struct{})
		s.events <- func() { <-busy }
		time.Sleep(time.Minute)
		close(busy)
		synctest.Wait()
		if n := s.actions(a)["gc"]; n != collections {
			t.Errorf("the log has %d collections", n)
		}
		var fired, left int64
		for i := range 20 {
			r := s.rule(fmt.Sprint("r", i))
			fired, left = fired+r.Fired, left+r.LeftOut
		}
		if fired != 20*collections || left != fired-maxFirings {
			t.Errorf("%d firings, %d left out", fired, left)
		}
		if r := s.rule("stuck"); r.Fired < collections || r.Actions[0].Done != 0 || r.Actions[0].LeftOut < 30 {
			t.Errorf("%+v", r)
		}
		time.Sleep(2 * tick)
		s.says("of its actions were left out, because those before them take too long", "rule stuck fires too often: ")
	})
}

// recordingsIn returns the numbers of the collections in the recordings in a directory, and the file
// names.
func recordingsIn(t *testing.T, dir string) (numbers [][]uint32, names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var list complete
		if err := gclog.Read(bytes.NewReader(b), func(*gclog.Process) gclog.Observer { return list.Observe }); err != nil {
			t.Errorf("%s: %v", e.Name(), err)
		}
		numbers, names = append(numbers, list.numbers), append(names, e.Name())
	}
	return numbers, names
}

// complete keeps the numbers of complete collections.
type complete struct {
	numbers []uint32
}

// Observe takes a record.
func (c *complete) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		if d.Complete {
			c.numbers = append(c.numbers, d.Number)
		}
	}
}

// TestRuleRecord: a rule records the time around a collection. A new configuration begins and ends
// that, and old recordings are deleted.
func TestRuleRecord(t *testing.T) {
	const record = `rules: [{name: a, when: number == 60, do: [{record: {before: 10s, after: 1s}}]}]`
	play(t, record+"\nrecorder: {keep: 2}\n", func(s *stage) {
		dir := filepath.Join(s.dir, "recordings")
		enter := func() *actor {
			a := s.cue(fakeruntime.Config{Speed: 0.1})
			a.target.Started = epoch // of the clock of the test
			s.find(a)
			return a
		}
		a := enter()
		time.Sleep(time.Minute)
		numbers, names := recordingsIn(t, dir)
		if len(names) != 1 || !strings.HasPrefix(names[0], fmt.Sprintf("actor-%d-2000-01-01T00-00-0", a.target.PID)) {
			t.Fatalf("%q", names)
		}
		var logged []uint32 // that the log has, and the recording must have
		for _, r := range s.wrote(a) {
			if n := number(r, "dotnet", "gc", "number"); text(r, "event", "action") == "gc" && n > 2 && n <= 60 {
				logged = append(logged, uint32(n))
			}
		}
		have := numbers[0]
		for _, n := range logged {
			if !slices.Contains(have, n) {
				t.Errorf("collection %d is not in the recording of %v", n, have)
			}
		}
		if n := s.rule("a"); n.Fired != 1 || n.Actions[0].Done != 1 {
			t.Errorf("%+v", n)
		}
		s.says("rule a, process ", ": gen", " collection 60: number 60: recorded ", filepath.Join(dir, names[0]))

		s.change(record, "rules: []")
		time.Sleep(time.Minute)
		s.do(func() {
			if s.of(a).recorder != nil {
				t.Error("it is recorded although no rule asks for it")
			}
		})
		for range 3 {
			enter()
		}
		s.change("rules: []", record)
		time.Sleep(time.Minute)
		if _, names = recordingsIn(t, dir); len(names) != 4 {
			t.Errorf("%q: of running processes", names)
		}
		if s.actions(a)["gc-gap reattached"]+s.actions(a)["gc-gap missed-gcs"] > 0 {
			t.Errorf("%v", s.actions(a))
		}
	})
}

// TestRuleRecordExcluded: after a process was excluded for a time, its rules have the new recorder.
func TestRuleRecordExcluded(t *testing.T) {
	p := &process{d: newDaemon(t, Options{}), target: &host.Target{}}
	p.rules = []*activeRule{{Rule: &rules.Rule{}}}
	p.keep(time.Second)
	before := p.ruleEngine()
	if p.ruleEngine() != before {
		t.Error("the rules have forgotten when they fired")
	}
	p.keep(0)
	p.keep(time.Second)
	if p.ruleEngine() == before {
		t.Error("the rules have the recorder that was closed")
	}
	p.keep(0)
}

// TestRuleRecordFails: a recording that cannot be written is reported, and the log is complete.
func TestRuleRecordFails(t *testing.T) {
	play(t, `rules: [{name: a, when: number == 60, do: [{record: {before: 10s}}]}]`+"\n", func(s *stage) {
		if err := os.WriteFile(filepath.Join(s.dir, "recordings"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		a := s.enter(fakeruntime.Config{Speed: 1})
		time.Sleep(time.Minute)
		s.says("rule a, process ", "not recorded: ", filepath.Join(s.dir, "recordings"), "not a directory")
		if n := s.actions(a)["gc"]; n != collections {
			t.Errorf("the log has %d collections", n)
		}
		if n := s.rule("a"); n.Actions[0].Failed != 1 {
			t.Errorf("%+v", n)
		}
	})
}
