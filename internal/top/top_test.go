package top

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// recorded returns what a recording contains, as a source passes it on.
func recorded(t *testing.T, name string) (gclog.Process, []gclog.Record, int64) {
	t.Helper()
	var f feed
	var p gclog.Process
	b := recordings.Read(t, filepath.Join("..", "..", "testdata", "traces", name+".nettrace.gz"))
	_ = gclog.Read(bytes.NewReader(b), func(process *gclog.Process) gclog.Observer { // some are truncated
		p = *process
		return f.Observe
	})
	list, _, latest := f.take()
	if len(list) == 0 {
		t.Fatalf("%s has no records", name)
	}
	return p, list, latest
}

// explained stands for gclog explain.
func explained(width int, color bool, d *gclog.GCDetails, c analysis.Context) string {
	e := analysis.Explain(d, c)
	text := screen.Painter(color)(screen.Heading, e.Title) + "\n"
	for _, s := range append(e.What, e.Pause...) {
		text += string(screen.Wrap(nil, "  "+s.Text, width, 2)) + "\n"
	}
	return text
}

// watching returns a model of four processes: one that allocates, one with server GC, one that
// cannot be attached to, and one with a hostile name that has no collections.
func watching(t *testing.T, o Options) *Model {
	t.Helper()
	o.Explain = explained
	m := New(o)
	m.Update(Tick{Now: start})
	m.Update(Seen{
		{ID: 1, PID: 4711, Name: "orders", CommandLine: "dotnet Orders.dll --urls http://*:8080", Directory: "/srv/orders"},
		{ID: 2, PID: 815, Name: "web"},
		{ID: 3, PID: 99, Name: "secret", Trouble: "it belongs to another user: run gclog as root"},
		{ID: 4, PID: 100000, Name: "evil\x1b[2J\u202ename\n", CommandLine: "evil\x1b[2J\u202e\n", Directory: "/\x1b[2J"},
	})
	for id, name := range map[int]string{1: "net9-wks-attach", 2: "core31-svr-induced"} {
		p, list, latest := recorded(t, name)
		p.ID, p.Name, p.RuntimeVersion, p.Sync = 0, "", map[int]string{1: "9.0.5", 2: "3.1.32"}[id], start.Add(-time.Duration(latest)-2*time.Second)
		if id == 2 {
			p.Server, p.HeapCount = gclog.Yes, 4
		}
		m.Update(Started{ID: id, Process: p, From: "session"})
		m.Update(Records{ID: id, List: list})
	}
	m.Update(Started{ID: 4, Process: gclog.Process{Sync: start.Add(-time.Minute)}, From: "daemon"})
	m.Update(Tick{Now: start})
	return m
}

var start = time.Date(2026, 11, 21, 14, 3, 22, 0, time.UTC)

func keys(m *Model, list ...string) (command any) {
	for _, k := range list {
		command = m.Update(Key(k))
	}
	return command
}

// TestScreens compares every view with a golden file at two sizes.
// allocating is what is known of who allocates in the process that is chosen first.
var allocating = Profiled{
	ID: 1, Text: "38.3 MB/s, from 1557 ticks",
	Types: []Allocated{{"39.5 ± 2.8 %", "15.1 MB/s", "byte[]"}, {"20.7 ± 2.2 %", "7.9 MB/s", "Shop.CartLine[]"}, {"too few to say", "21.7 KB/s", "evil\x1b[2J\u202ename\n"}},
	Paths: []Allocated{
		{"35.2 ± 2.6 %", "13.5 MB/s", "Shop.Buffers.Fill ← Shop.Buffers.Read ← Shop.AllocMode.Work ← Shop.AllocMode.Prepare.<lambda>"},
		{"20.7 ± 2.2 %", "7.9 MB/s", "Shop.Cart.Lines ← Shop.Cart.Load ← \x1b[31mShop.AllocMode.Work"},
	},
}

// TestProfile: the key a has the process of the page watched once at a time, and says what to run if that is impossible.
func TestProfile(t *testing.T) {
	m := watching(t, Options{})
	if got := keys(m, "a"); got != nil || m.page != pageList {
		t.Errorf("in the list: %v", got)
	}
	if got := keys(m, "enter", "a"); got != (Profile{1, 4711}) || !strings.Contains(m.View(), "who allocates: opening a session") {
		t.Errorf("%v\n%s", got, m.View())
	}
	m.Update(allocating)
	if got := keys(m, "esc", "a"); got != nil || !strings.Contains(m.View(), "Shop.Buffers.Fill ← ") {
		t.Errorf("while it is watched: %v\n%s", got, m.View())
	}
	m.Update(Profiled{ID: 1, Text: "nothing; gclog alloc 4711 may do it", Done: true})
	if got := keys(m, "a"); got != (Profile{1, 4711}) {
		t.Errorf("again: %v", got)
	}
	keys(m, "esc", "esc")
	m.selected = 3
	if got := keys(m, "enter", "a"); got != nil || !strings.Contains(m.View(), "run gclog alloc 99 as its user, or as root") {
		t.Errorf("%v\n%s", got, m.View())
	}
	m = watching(t, Options{Replay: true})
	if got := keys(m, "enter", "a"); got != nil || !strings.Contains(m.View(), "gclog alloc FILE") {
		t.Errorf("%v\n%s", got, m.View())
	}
}

func TestScreens(t *testing.T) {
	views := map[string]func(*Model){
		"list":    func(*Model) {},
		"filter":  func(m *Model) { keys(m, "/", "o", "r", "d") },
		"process": func(m *Model) { keys(m, "enter") },
		"older":   func(m *Model) { keys(m, "enter", "down", "down") },
		"heaps":   func(m *Model) { keys(m, "up", "v") },
		"explain": func(m *Model) { keys(m, "enter", "enter") },
		"alloc":   func(m *Model) { keys(m, "enter", "a"); m.Update(allocating) },
		"help":    func(m *Model) { keys(m, "?") },
		"induce":  func(m *Model) { keys(m, "enter", "g") },
		"paused":  func(m *Model) { keys(m, "p") },
		"trouble": func(m *Model) { m.selected = 3; keys(m, "enter") },
		"none":    func(m *Model) { m.selected = 4; keys(m, "enter") },
		"same": func(m *Model) {
			var list Seen
			for i, queue := range []string{"orders", "invoices", "a-queue-with-a-long-name", "mail"} {
				list = append(list, Listed{ID: 10 + i, PID: 5000 + i, Name: "Worker", CommandLine: "dotnet /srv/worker/Worker.dll --queue " + queue + " --threads 2", Directory: "/srv/worker"})
			}
			for i, dir := range []string{"/srv/blue/current", "/srv/green/current"} {
				list = append(list, Listed{ID: 20 + i, PID: 6000 + i, Name: "Shop", CommandLine: "./Shop", Directory: dir})
			}
			m.Update(list)
			for _, l := range list {
				m.Update(Started{ID: l.ID, Process: gclog.Process{Sync: start, Name: l.Name}, From: "session"})
			}
			m.selected = 12
		},
		"gone": func(m *Model) {
			m.Update(Ended{ID: 1, Text: "the process was killed by the kernel, because memory ran out", Exited: true, End: &gclog.End{Reason: gclog.EndOOMKilled, At: m.find(1).now}})
			m.Update(Ended{ID: 2, Text: "the process exited with code 0", Exited: true, End: &gclog.End{Reason: gclog.EndExited, HasCode: true}})
		},
		"exited": func(m *Model) {
			m.Update(Ended{ID: 1, Text: "the process has ended: exited", Exited: true})
			keys(m, "enter")
		},
		"stale": func(m *Model) {
			m.Update(Tick{Now: start.Add(4*time.Minute + 10*time.Second)})
			keys(m, "enter")
		},
		"stall": func(m *Model) {
			now := m.find(1).now
			m.Update(Records{ID: 1, List: []gclog.Record{&gclog.Stall{Open: gclog.Open{Kind: gclog.OpenSuspension, Since: now - 1e9}, Now: now}}})
			m.Update(Tick{Now: start.Add(3 * time.Second)})
			keys(m, "enter")
		},
		"stalls": func(m *Model) {
			now := m.find(1).now
			m.Update(Records{ID: 1, List: []gclog.Record{&gclog.Stall{Open: gclog.Open{Kind: gclog.OpenGC, Since: now - 1e9}, Now: now}}})
			m.Update(Tick{Now: start.Add(3 * time.Second)})
		},
	}
	for name, act := range views {
		for _, size := range []Size{{80, 24}, {160, 50}} {
			m := watching(t, Options{})
			m.Update(size)
			act(m)
			got := m.View()
			checkFits(t, name, got, size)
			generated.File(t, filepath.Join("testdata", fmt.Sprintf("%s-%dx%d.txt", name, size.Width, size.Height)), got+"\n")
		}
	}
}

// TestFits80: on a terminal of 80 columns nothing is cut that does not continue elsewhere: the first
// line, the help, the question, and why there are no records.
func TestFits80(t *testing.T) {
	m := watching(t, Options{})
	m.Update(Size{80, 60})
	p := m.find(1)
	p.Name, p.facts.Server, p.from = strings.Repeat("LongName", 5), gclog.No, "daemon"
	for _, k := range [][]string{{"enter"}, {"esc", "?"}, {"esc", "g"}, {"n", "v"}} {
		keys(m, k...)
		text := m.View()
		switch k[len(k)-1] {
		case "enter", "v":
			text, _, _ = strings.Cut(text, "\n")
			if !strings.HasSuffix(text, " 14:03:22") || !strings.Contains(text, "pid 4711") {
				t.Errorf("%v: %q", k, text)
			}
		case "g":
			text = text[strings.LastIndex(text, "\n"):]
		}
		if strings.Contains(text, "…") && k[len(k)-1] != "g" || k[len(k)-1] == "g" && !strings.HasSuffix(text, "y/N") {
			t.Errorf("%v is cut:\n%s", k, text)
		}
	}
	m = watching(t, Options{})
	keys(m, "up", "v")
	if text := m.View(); strings.Contains(text, "…") {
		t.Errorf("the heaps are cut:\n%s", text)
	}
	const why = "process 99 does not answer: it may be stopped, or too busy, or another program may be in its place, and so on"
	m.find(3).trouble = why
	keys(m, "esc")
	m.selected = 3
	keys(m, "enter")
	if text := strings.Join(strings.Fields(m.View()), " "); !strings.Contains(text, why) {
		t.Errorf("it does not say %q:\n%s", why, m.View())
	}
}

// TestMark: the process with a finding has its letter in the list, with and without colors, until it
// has exited; then only how it ended counts.
func TestMark(t *testing.T) {
	m := watching(t, Options{})
	row := func(pid string) string {
		for l := range strings.SplitSeq(m.View(), "\n") {
			if strings.Contains(l, pid+"  ") {
				return l
			}
		}
		t.Fatalf("no %s:\n%s", pid, m.View())
		return ""
	}
	if got := row("4711"); !strings.HasPrefix(got, ">X ") {
		t.Errorf("the row is %q", got)
	}
	if got := row("100000"); !strings.HasPrefix(got, "   ") {
		t.Errorf("the row is %q", got)
	}
	m.Update(Ended{ID: 1, Exited: true, End: &gclog.End{Reason: gclog.EndExited, HasCode: true}})
	if got := row("4711"); !strings.HasPrefix(got, ">  ") || strings.Contains(m.View(), "1 error") {
		t.Errorf("it has exited:\n%s", m.View())
	}
	m = watching(t, Options{})
	m.Update(Ended{ID: 1, Exited: true, End: &gclog.End{Reason: gclog.EndCrashed, Signal: 11}})
	if got := row("4711"); !strings.HasPrefix(got, ">X ") || !strings.Contains(m.View(), "1 error") {
		t.Errorf("it has crashed:\n%s", m.View())
	}
	keys(m, "enter")
	if !strings.Contains(m.View(), "X process-end") {
		t.Errorf("the page:\n%s", m.View())
	}
}

// TestResident: the list has the resident memory.
func TestResident(t *testing.T) {
	m := watching(t, Options{})
	m.Update(Size{80, 24})
	m.find(1).last.Memory.Resident = 345e6
	if !strings.Contains(m.View(), "345 MB") {
		t.Errorf("no RSS:\n%s", m.View())
	}
}

// TestDistinct: processes of one name are distinguished by the words that the fewest of them have.
func TestDistinct(t *testing.T) {
	type command struct{ line, directory string }
	for _, x := range []struct {
		list []command
		want []string
	}{
		{[]command{{"dotnet W.dll --queue a", "/srv"}, {"dotnet W.dll --queue b", "/srv"}}, []string{"a", "b"}},
		{[]command{{"dotnet /srv/a/W.dll", ""}, {"dotnet /srv/b/W.dll", ""}}, []string{"a", "b"}},
		{[]command{{"./app", "/srv/blue/bin"}, {"./app", "/srv/green/bin"}}, []string{"blue", "green"}},
		{[]command{{"app", ""}, {"app --x", ""}, {"app --x 1", ""}}, []string{"", "--x", "1"}},
		{[]command{{"/x/app --rate 30", "/blue"}, {"/x/app --rate 30", "/green"}, {"/y/app --rate 20", "/y"}}, []string{"blue", "green", "y 20"}},
		{[]command{{"same words", "/a"}, {"same words", "/a"}}, []string{"", ""}},
		{[]command{{"", ""}, {"", ""}}, []string{"", ""}},
		{[]command{{"alone", "/a"}}, []string{""}},
	} {
		var list []*process
		for i, c := range x.list {
			list = append(list, newProcess(Listed{ID: i + 1, Name: "app", CommandLine: c.line, Directory: c.directory}))
		}
		got := distinct(list)
		for i := range list {
			if got[i+1] != x.want[i] {
				t.Errorf("%v: %v, want %q", x.list, got, x.want)
				break
			}
		}
	}
}

// TestDocs: the screens in the manual are those that there are.
func TestDocs(t *testing.T) {
	m := watching(t, Options{})
	m.processes = slices.DeleteFunc(m.processes, func(p *process) bool { return p.ID == 4 }) // its name is hostile
	m.Update(Size{90, 7})
	screens := map[string]string{"top-list": m.View()}
	m.Update(Size{90, 24})
	keys(m, "enter")
	screens["top-process"] = m.View()
	for name, text := range screens {
		screens[name] = "```\n" + text + "\n```\n"
	}
	generated.Sections(t, filepath.Join("..", "..", "docs", "manual.md"), screens)
}

func checkFits(t *testing.T, name, text string, size Size) {
	t.Helper()
	lines := strings.Split(text, "\n")
	if len(lines) != size.Height {
		t.Errorf("%s at %v has %d lines", name, size, len(lines))
	}
	for _, l := range lines {
		if n := screen.Width(plain(l)); n > size.Width {
			t.Errorf("%s at %v: a line of %d: %q", name, size, n, l)
		}
	}
}

// plain removes the styles.
func plain(s string) string {
	for {
		from := strings.Index(s, "\x1b[")
		if from < 0 {
			return s
		}
		s = s[:from] + s[from+strings.IndexByte(s[from:], 'm')+1:]
	}
}

// TestAllSizes: every view fits every size, in colors too, and contains nothing that a terminal acts
// on but styles.
func TestAllSizes(t *testing.T) {
	for _, color := range []bool{false, true} {
		for _, size := range []Size{{1, 1}, {20, 10}, {40, 12}, {79, 23}, {100, 30}, {200, 60}, {300, 5}} {
			m := watching(t, Options{Color: color})
			m.Update(size)
			for _, k := range []string{"down", "enter", "down", "enter", "pgdown", "esc", "v", "v", "?", "end", "esc", "esc", "/", "x", "esc", "G", "enter", "esc", "s", "home", "g"} {
				keys(m, k)
				text := m.View()
				checkFits(t, k, text, size)
				for l := range strings.SplitSeq(plain(text), "\n") {
					if strings.ContainsAny(l, "\x1b\r\u202e\x00") {
						t.Fatalf("%s: %q", k, l)
					}
				}
				if !color && strings.Contains(text, "\x1b") {
					t.Fatalf("%s: a style without colors: %q", k, text)
				}
			}
		}
	}
}

// TestRecent: the numbers of the last minute are those of a summary of that time.
func TestRecent(t *testing.T) {
	m := watching(t, Options{})
	p := m.find(1)
	_, list, _ := recorded(t, "net9-wks-attach")
	for _, after := range []time.Duration{0, 55 * time.Second, 57 * time.Second, 59 * time.Second, 2 * time.Minute} {
		m.Update(Tick{Now: start.Add(after)})
		s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Window{From: max(p.begin, p.now-aMinute), To: p.now}})
		s.Observe(&gclog.Start{At: p.begin})
		for _, r := range list {
			switch r.(type) {
			case *gclog.Pause, *gclog.GCDetails:
				s.Observe(r)
			}
		}
		s.Observe(&gclog.End{At: p.now})
		x, got := s.Summary(), p.recent()
		all := x.Classes[analysis.ClassAll].Pauses
		if math.Abs(got.share.Value-x.Share.Value) > 1e-9 || got.longest.Value != all.Max.Value || got.longest.Known() != all.Max.Known() || got.pauses != int(all.Count) || math.Abs(got.rate.Value-x.AllocationRate.Value) > 1 || got.rate.Known() != x.AllocationRate.Known() {
			t.Errorf("after %v: paused %v, %d pauses, longest %v, allocation %v, want %v, %d, %v, %v", after, got.share, got.pauses, got.longest, got.rate, x.Share, all.Count, all.Max, x.AllocationRate)
		}
	}
}

// TestRecentOfMany: the last minute has all of its pauses, however many collections there were.
func TestRecentOfMany(t *testing.T) {
	m := New(Options{})
	m.Update(Started{ID: 1, Process: gclog.Process{Sync: start}, From: "session"})
	const n, every = 10 * keepGCs, int64(25 * time.Millisecond)
	for i := range int64(n) {
		part := gclog.PausePart{Start: i * every, Duration: 1e6}
		if i == 10 {
			part.Duration = 5e6
		}
		d := &gclog.GCDetails{Index: i, Pauses: []gclog.PausePart{part}, Start: part.Start, End: part.Start + part.Duration}
		m.Update(Records{ID: 1, List: []gclog.Record{&gclog.Pause{PausePart: part}, d}})
	}
	m.Update(Tick{Now: start.Add(time.Duration(n * every))})
	got := m.find(1).recent()
	if got.pauses != n || got.longest.Value != 5e6 {
		t.Errorf("%d pauses, at most %v, want %d, 5 ms", got.pauses, got.longest, n)
	}
	if want := 100 * (n*1e6 + 4e6) / float64(n*every); math.Abs(got.share.Value-want) > 0.01 {
		t.Errorf("paused %v, want %v %%", got.share, want)
	}
}

// TestKeys: what keys ask for, and what they do not.
func TestKeys(t *testing.T) {
	m := watching(t, Options{})
	if c := keys(m, "q"); c != (Quit{}) {
		t.Errorf("q: %v", c)
	}
	if c := keys(m, "/", "q", "g", "e", "enter"); c != nil || m.filter != "qge" {
		t.Errorf("a filter: %v, %q", c, m.filter)
	}
	keys(m, "esc")
	if m.filter != "" {
		t.Errorf("the filter remains: %q", m.filter)
	}
	if c := keys(m, "g", "n"); c != nil || m.confirming {
		t.Errorf("not confirmed: %v", c)
	}
	if c := keys(m, "g", "y"); c != (Induce{1, 4711}) {
		t.Errorf("confirmed: %v", c)
	}
	if c := keys(m, "ctrl+z"); c != (Suspend{}) {
		t.Errorf("^Z: %v", c)
	}
	e, ok := keys(m, "e").(Export)
	if !ok || e.Name != "gclog-top-20261121-140322.txt" || !strings.Contains(e.Text, "orders") || strings.Contains(e.Text, "\x1b") || strings.Contains(e.Text, "q quit") {
		t.Errorf("export: %+v", e)
	}
	m = watching(t, Options{Replay: true})
	if c := keys(m, "g", "y"); c != nil {
		t.Errorf("a replay: %v", c)
	}
}

// TestPause: a paused screen does not change, keys still work, and then everything follows.
func TestPause(t *testing.T) {
	m := watching(t, Options{})
	keys(m, "enter", "p")
	before := m.View()
	_, list, latest := recorded(t, "net10-datas-bgc")
	m.Update(Records{ID: 1, List: list[:2]})
	m.Update(Records{ID: 1, List: list[2:]})
	m.Update(Seen{})
	m.Update(Tick{Now: start.Add(time.Duration(latest))})
	m.Update(Tick{Now: start.Add(time.Hour)})
	if m.View() != before {
		t.Errorf("it changed:\n%s", m.View())
	}
	if keys(m, "down"); m.View() == before {
		t.Error("the cursor does not move")
	}
	n := len(m.find(1).pauses)
	keys(m, "p")
	p := m.find(1)
	if added := len(p.pauses) - n; added < 10 || !p.exited || !m.now.Equal(start.Add(time.Hour)) {
		t.Errorf("%d pauses followed, exited %v, at %v", added, p.exited, m.now)
	}
}

// TestBounds: the model keeps a bounded number of records.
func TestBounds(t *testing.T) {
	m := watching(t, Options{})
	_, list, _ := recorded(t, "net9-wks-attach")
	keys(m, "p")
	for range 100 {
		m.Update(Records{ID: 1, List: list})
	}
	if n := len(m.held[0].(Records).List); n > heldMost {
		t.Errorf("%d records are held", n)
	}
	keys(m, "p")
	for range 100 {
		m.Update(Records{ID: 1, List: list})
	}
	p := m.find(1)
	if len(p.gcs) > keepGCs || len(p.pauses) > keepPauses || p.missing == 0 {
		t.Errorf("%d collections, %d pauses, %d missing", len(p.gcs), len(p.pauses), p.missing)
	}
	var f feed
	for range feedMost + 5 {
		f.Observe(&gclog.Pause{})
	}
	if list, dropped, _ := f.take(); len(list) != feedMost || dropped != 5 {
		t.Errorf("%d in the feed, %d dropped", len(list), dropped)
	}
}

// TestWanted: the process of the page comes first, then those on the screen; those without records
// are left out.
func TestWanted(t *testing.T) {
	m := New(Options{})
	var seen Seen
	for id := range 100 {
		seen = append(seen, Listed{ID: id + 1, PID: 1000 + id, Name: "x"})
	}
	seen[1].Trouble = "no"
	m.Update(Size{80, 24})
	m.Update(seen)
	got := m.Wanted()
	if len(got) != 99 || got[0] != 1 || got[1] != 3 {
		t.Errorf("%v", got)
	}
	keys(m, "end", "enter")
	if got := m.Wanted(); got[0] != 100 || got[1] != 81 {
		t.Errorf("%v", got)
	}
	m.Update(seen[:50])
	if p := m.find(100); p == nil || !p.exited {
		t.Error("the process of the page is still there, as exited")
	}
	if got := m.Wanted(); len(got) != 49 {
		t.Errorf("%d are wanted", len(got))
	}
}

// TestFailure: why there are no records of a process stays on the screen, and it is tried again.
func TestFailure(t *testing.T) {
	m := New(Options{})
	list := Seen{{ID: 1, PID: 4711, Name: "orders"}}
	m.Update(list)
	m.Update(Ended{ID: 1, Text: "process 4711 does not answer"})
	m.Update(list)
	if got := m.View(); !strings.Contains(got, "! process 4711 does not answer") || !slices.Equal(m.Wanted(), []int{1}) {
		t.Errorf("%v are wanted:\n%s", m.Wanted(), got)
	}
	m.Update(Started{ID: 1, Process: gclog.Process{Sync: start}, From: "session"})
	if got := m.View(); strings.Contains(got, "does not answer") {
		t.Errorf("it answers now:\n%s", got)
	}
}

// TestExitedGo: processes that have exited stay in the list for a while.
func TestExitedGo(t *testing.T) {
	m := watching(t, Options{})
	m.Update(Seen{{ID: 2, PID: 815, Name: "web"}})
	if len(m.processes) != 4 {
		t.Errorf("%d processes", len(m.processes))
	}
	m.Update(Tick{Now: start.Add(keepExited + time.Second)})
	m.Update(Seen{{ID: 2, PID: 815, Name: "web"}})
	if len(m.processes) != 1 {
		t.Errorf("%d processes", len(m.processes))
	}
}

// BenchmarkSecond is what a second of 20 processes costs on a screen of 160x50, without sessions:
// two collections each, one tick and one screen.
func BenchmarkSecond(b *testing.B) {
	m := New(Options{Color: true})
	m.Update(Size{160, 50})
	var f feed
	_ = gclog.Read(bytes.NewReader(recordings.Read(b, filepath.Join("..", "..", "testdata", "traces", "net9-wks-attach.nettrace.gz"))), func(*gclog.Process) gclog.Observer { return f.Observe })
	list, _, latest := f.take()
	var seen Seen
	for id := range 20 {
		seen = append(seen, Listed{ID: id + 1, PID: 1000 + id, Name: "service"})
	}
	m.Update(seen)
	for id := range 20 {
		m.Update(Started{ID: id + 1, Process: gclog.Process{Sync: start}, From: "session"})
		m.Update(Records{ID: id + 1, List: list})
	}
	now := start.Add(time.Duration(latest))
	for b.Loop() {
		for id := range 20 {
			m.Update(Records{ID: id + 1, List: list[len(list)-4:]})
		}
		now = now.Add(10 * time.Millisecond) // so that the records stay recent
		m.Update(Tick{Now: now})
		_ = m.View()
	}
}
