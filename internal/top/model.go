// Package top shows running processes, or a recording that is replayed, on a terminal: a list of
// processes, a page for each, its heaps, and explanations of its collections.
//
// Model is pure: messages and the time go in, text comes out, so that screens are tested as text.
// Only Run knows the terminal, and only the sources know processes.
package top

import (
	"slices"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
)

// Messages for Model.Update.
type (
	// Size is the size of the terminal in characters.
	Size struct{ Width, Height int }
	// Key is a key, named as in "up", "enter", "ctrl+z" and "a".
	Key string
	// Tick reports that time has passed.
	Tick struct {
		Now time.Time
		// At has the times of processes that are replayed, in nanoseconds since their sync points.
		At map[int]int64
	}
	// Seen reports which processes there are. Those that are missing have exited.
	Seen []Listed
	// Started reports that the records of a process are about to arrive.
	Started struct {
		ID      int
		Process gclog.Process
		From    string // where from: "session", "daemon" or "replay"
		At      int64  // when they start, in nanoseconds since the sync point
	}
	// Records are the records of a process since the last ones.
	Records struct {
		ID      int
		List    []gclog.Record // which nobody changes any more
		Dropped int            // records before these that there was no room for
	}
	// Ended reports that no more records arrive; Exited that the process has exited.
	Ended struct {
		ID     int
		Text   string
		Exited bool
		End    *gclog.End // of the process; nil: it is unknown how it ended
	}
	// Profiled is what is known so far of who allocates in a process.
	Profiled struct {
		ID           int
		Text         string // how much is known, or why nothing is
		Done         bool
		Types, Paths []Allocated
	}
	// Said is a message for the user: the result of a Command.
	Said string
)

// Allocated is what was allocated of a type, or along a path of calls.
type Allocated struct{ Share, Rate, Name string }

// A Listed is a process that exists.
type Listed struct {
	ID      int // of this run of top
	PID     int
	Name    string
	Trouble string // why there can be no records; "" if there can
	// CommandLine and Directory distinguish processes of one name; "": unknown.
	CommandLine, Directory string
}

// Commands are what Update asks the caller to do; nil is nothing.
type (
	// Quit ends the program.
	Quit struct{}
	// Suspend stops the program until it is resumed, as a shell does at ^Z.
	Suspend struct{}
	// Export writes a screen to a file.
	Export struct{ Name, Text string }
	// Induce requests a collection.
	Induce struct{ ID, PID int }
	// Profile watches who allocates in a process.
	Profile struct{ ID, PID int }
)

// Options configure a Model.
type Options struct {
	Color bool
	Zone  *time.Location // of all times
	// Single opens the page of the first process at once.
	Single bool
	// Explain returns what gclog explain says about a collection.
	Explain func(width int, color bool, d *gclog.GCDetails, c analysis.Context) string
	// Replay: the processes are recordings, in which no collection can be induced.
	Replay bool
}

// A Model is the state of the program.
type Model struct {
	o             Options
	width, height int
	now           time.Time
	processes     []*process // in the order in which they appeared
	page          page
	back          []page // pages that Esc returns to
	selected      int    // id of the process with the cursor, or of the page
	opened        bool   // Single has been carried out
	sort          int
	filter        string
	filtering     bool
	confirming    bool // asks whether to induce a collection
	paused        bool
	held          []any  // messages that arrived while it is paused
	scroll        int    // first line of a text
	message       string // the last line, until the next key
}

// A page is what is shown.
type page uint8

const (
	pageList page = iota
	pageProcess
	pageHeaps
	pageExplain
	pageAllocations
	pageHelp
)

// New returns a Model.
func New(o Options) *Model {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	return &Model{o: o, width: 80, height: 24}
}

// Update handles a message.
func (m *Model) Update(message any) (command any) {
	if m.paused && m.hold(message) {
		return nil
	}
	switch x := message.(type) {
	case Size:
		m.width, m.height = max(1, x.Width), max(1, x.Height)
	case Tick:
		m.tick(x)
	case Seen:
		m.seen(x)
	case Started:
		p := m.find(x.ID)
		if p == nil {
			p = m.add(Listed{ID: x.ID, PID: int(x.Process.ID), Name: x.Process.Name})
		}
		p.start(x)
	case Records:
		if p := m.find(x.ID); p != nil {
			p.take(x)
		}
	case Ended:
		if p := m.find(x.ID); p != nil {
			p.end(x)
		}
	case Profiled:
		if p := m.find(x.ID); p != nil {
			p.profile = &x
		}
	case Said:
		m.message = string(x)
	case Key:
		return m.key(string(x))
	}
	return nil
}

// heldMost is how many records are kept while the screen is paused.
const heldMost = 4096

// hold keeps a message about processes until the screen is no longer paused. Of many records the
// oldest are dropped, and counted.
func (m *Model) hold(message any) bool {
	switch x := message.(type) {
	case Size, Key, Said, Profiled:
		return false
	case Tick, Seen: // only the last one counts
		m.held = slices.DeleteFunc(m.held, func(old any) bool {
			_, tick := message.(Tick)
			_, oldTick := old.(Tick)
			_, oldSeen := old.(Seen)
			return tick && oldTick || !tick && oldSeen
		})
	case Records:
		for i := range m.held {
			if r, ok := m.held[i].(Records); ok && r.ID == x.ID {
				r.List = append(r.List, x.List...)
				over := max(0, len(r.List)-heldMost)
				r.List, r.Dropped = r.List[over:], r.Dropped+x.Dropped+over
				m.held[i] = r
				return true
			}
		}
	}
	m.held = append(m.held, message)
	return true
}

// pause freezes the numbers on the screen, or continues.
func (m *Model) pause() {
	m.paused = !m.paused
	if m.paused {
		return
	}
	held := m.held
	m.held = nil
	for _, x := range held {
		m.Update(x)
	}
}

func (m *Model) tick(t Tick) {
	m.now = t.Now
	for _, p := range m.processes {
		if at, ok := t.At[p.ID]; ok {
			p.advance(at)
		} else if p.started && !p.over {
			p.advance(t.Now.Sub(p.facts.Sync).Nanoseconds())
		}
	}
}

// keepExited is how long a process that has exited is listed.
const keepExited = 5 * time.Minute

func (m *Model) seen(list Seen) {
	for _, l := range list {
		p := m.find(l.ID)
		if p == nil {
			p = m.add(l)
		}
		p.trouble, p.CommandLine, p.Directory = l.Trouble, l.CommandLine, l.Directory
	}
	for _, p := range m.processes {
		if !slices.ContainsFunc(list, func(l Listed) bool { return l.ID == p.ID }) {
			p.exit(m.now)
		}
	}
	m.processes = slices.DeleteFunc(m.processes, func(p *process) bool {
		return p.exited && m.now.Sub(p.exitedAt) > keepExited && (p.ID != m.selected || m.page == pageList)
	})
}

func (m *Model) find(id int) *process {
	for _, p := range m.processes {
		if p.ID == id {
			return p
		}
	}
	return nil
}

func (m *Model) add(l Listed) *process {
	p := newProcess(l)
	m.processes = append(m.processes, p)
	if m.selected == 0 {
		m.selected = p.ID
	}
	if m.o.Single && !m.opened {
		m.opened, m.selected, m.page = true, p.ID, pageProcess
	}
	return p
}

// shown returns the processes of the list in their order.
func (m *Model) shown() []*process {
	list := slices.Clone(m.processes)
	if f := strings.ToLower(m.filter); f != "" {
		list = slices.DeleteFunc(list, func(p *process) bool { return !strings.Contains(strings.ToLower(p.text()), f) })
	}
	slices.SortStableFunc(list, sorts[m.sort].compare)
	return list
}

// current returns the process with the cursor; nil if there is none.
func (m *Model) current() *process { return m.find(m.selected) }

// Wanted returns the ids of the processes whose records are needed, the most important first: the process
// of the page, the processes on the screen, then the others.
func (m *Model) Wanted() []int {
	list := m.shown()
	from, to := m.window(len(list), m.index(list))
	var ids []int
	add := func(p *process) {
		if p.trouble == "" && !p.exited && !slices.Contains(ids, p.ID) {
			ids = append(ids, p.ID)
		}
	}
	if p := m.current(); p != nil && m.page != pageList {
		add(p)
	}
	for _, p := range list[from:to] {
		add(p)
	}
	for _, p := range m.processes {
		add(p)
	}
	return ids
}

// distinct returns what distinguishes each process from the others of the same name, by id: the words of
// its command line, and the names of folders in it and in the working directory, that the fewest of them
// have.
func distinct(list []*process) map[int]string {
	byName := map[string][]*process{}
	for _, p := range list {
		byName[p.title()] = append(byName[p.title()], p)
	}
	all := map[int]string{}
	for _, same := range byName {
		words, count := make([][]string, len(same)), map[string]int{}
		for i, p := range same {
			for w := range strings.FieldsSeq(strings.ReplaceAll(p.command()+" "+p.Directory, "/", " ")) {
				if !slices.Contains(words[i], w) {
					words[i] = append(words[i], w)
					count[w]++
				}
			}
		}
		for i, p := range same {
			fewest := len(same)
			for _, w := range words[i] {
				fewest = min(fewest, count[w])
			}
			if fewest < len(same) {
				rare := slices.DeleteFunc(words[i], func(w string) bool { return count[w] > fewest })
				all[p.ID] = view.OneLine(strings.Join(rare, " "))
			}
		}
	}
	return all
}

// index returns the place of the cursor in the list.
func (m *Model) index(list []*process) int {
	return max(0, slices.IndexFunc(list, func(p *process) bool { return p.ID == m.selected }))
}

// window returns which rows of a list of n are on the screen, with the cursor in it.
func (m *Model) window(n, cursor int) (from, to int) {
	rows := max(1, m.height-listFixed)
	from = max(0, min(cursor-rows/2, n-rows))
	return from, min(n, from+rows)
}

// View returns the screen: lines of at most the width, no more than the height.
func (m *Model) View() string {
	lines := m.lines()
	body := max(0, m.height-1)
	lines = slices.Clone(lines[:min(len(lines), body)])
	for len(lines) < body {
		lines = append(lines, "")
	}
	if m.height > 0 {
		lines = append(lines, m.footer())
	}
	return strings.Join(lines, "\n")
}

func (m *Model) lines() []string {
	p := m.current()
	switch {
	case m.page == pageHelp:
		return m.help()
	case m.page == pageList || p == nil:
		return m.list()
	case m.page == pageHeaps:
		return m.heaps(p)
	case m.page == pageAllocations:
		return m.allocations(p)
	case m.page == pageExplain:
		return m.explanation(p)
	}
	return m.processPage(p)
}
