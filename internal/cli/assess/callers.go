package assess

import (
	"cmp"
	"errors"
	"slices"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/internal/callers"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/view"
)

// Who asked for collections. Only recordings show that, which are read a second time for their call stacks.

// Stacks returns what the call stacks in the recordings of a history show, nil if that is unknown.
func (a *Assessment) Stacks(p *program.Run, h *history.History) *stacks.Profile {
	if !a.stacksRead {
		a.stacks, _ = readStacks(p, h)
		a.stacksRead = true
	}
	return a.stacks
}

// readStacks reads them, or returns why it is unknown.
func readStacks(p *program.Run, h *history.History) (x *stacks.Profile, why string) {
	switch {
	case h.Format != "":
		return nil, "logs have no call stacks: gclog record PID --stacks makes a recording that has them"
	case slices.Contains(h.Names, subject.InputName("-")):
		return nil, "call stacks are read from files only, not from standard input"
	}
	b := stacks.NewBuilder()
	for _, name := range h.Names {
		if err := subject.ReadStacks(p, b, name); errors.Is(err, stacks.ErrOtherProcess) {
			return nil, "the recordings are of several processes: give those of one"
		} // other errors have been reported when the history was read
	}
	switch x = b.Profile(); {
	case len(h.Names) == 0 || !x.HasStacks():
		return nil, "there are no call stacks: gclog record PID --stacks makes a recording that has them"
	case x.Process.ID != h.Process.ID:
		return nil, "only those of the first process in a recording are read"
	}
	return x, ""
}

// RequestOf returns who asked for a collection that the program induced, or why that is unknown.
func RequestOf(p *program.Run, h *history.History, d *gclog.GCDetails) (r *analysis.Request, why string) {
	if !analysis.Induced(d) {
		return nil, ""
	}
	x, why := readStacks(p, h)
	if x == nil {
		return nil, why
	}
	c := x.CallOf(d.Number)
	if c == nil || !d.Known.Has(gclog.GroupNumber) {
		return nil, "its request was not recorded (GCTriggered)"
	}
	v := &callers.View{Profile: x}
	path, call := v.Caller(c)
	switch path[len(path)-1] {
	case stacks.NoStack:
		return nil, "its request has no call stack: native code asked for it, or a diagnostic tool"
	case stacks.Native:
		return nil, "its methods have no names in the recording: gclog record PID --stacks makes one that has them"
	}
	for i := range path {
		path[i] = nameText(path[i])
	}
	return &analysis.Request{Call: call, Path: path}, ""
}

// nameCallers tells the findings who asked for collections, if they say that the program did, and the recordings show
// who.
func (a *Assessment) nameCallers(p *program.Run, h *history.History) {
	induced := slices.ContainsFunc(a.Findings.List(), func(f analysis.Finding) bool {
		return f.Rule.ID == "induced-gcs"
	})
	if !induced || h.Window != analysis.Always() { // the stacks are those of the whole time
		return
	}
	x := a.Stacks(p, h)
	if x == nil {
		return
	}
	var list []analysis.Caller
	v := &callers.View{Profile: x}
	named := false
	for _, r := range v.Calls(false) {
		named = named || r.Caller != stacks.Native && r.Caller != stacks.NoStack
		i := slices.IndexFunc(list, func(c analysis.Caller) bool { return c.Name == nameText(r.Caller) })
		if i < 0 {
			i = len(list)
			list = append(list, analysis.Caller{Name: nameText(r.Caller)})
		}
		list[i].Count += r.Count
		list[i].Paused += r.Paused
	}
	slices.SortStableFunc(list, func(a, b analysis.Caller) int {
		return cmp.Or(cmp.Compare(b.Paused, a.Paused), cmp.Compare(b.Count, a.Count))
	})
	if !named {
		return
	}
	a.Findings.Called(list, "gclog induced "+view.ShellWords(h.Names))
}

// nameText is the name of a frame in a sentence.
func nameText(name string) string { return view.Shorten(name, longestName) }

const longestName = 200
