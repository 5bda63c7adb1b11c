package heap

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/view"
)

// The calls of runtime async in heap inspect: their methods have no name in a heap dump.

// pendingCalls is the finding about calls that have not ended.
func pendingCalls(r *inspectReport, d *heap.Detection) string {
	text := retained("pending async call", "")(r, d)
	unnamed := uint64(0)
	for i := range d.Rows {
		if d.Rows[i].Chain != nil {
			unnamed += d.Rows[i].Objects
		}
	}
	switch {
	case unnamed == 0:
		return text
	case unnamed == d.Total.Objects:
		text += " They are"
	default:
		text += fmt.Sprintf(" %d of them are", unnamed)
	}
	return text + " of runtime async: a heap dump does not contain the names of their methods, only what they await, " +
		"what awaits them, and what they refer to."
}

// methodColumn names the method of a call, or what a call without a name awaits.
func methodColumn() inspectColumn {
	return wordsColumn("method", "", "", nil, func(x *inspectRow) string {
		switch {
		case x.Chain == nil:
			return x.r.name(x.r.typ(x.Type))
		case x.Chain.Awaited == heap.NoType:
			return "without a name"
		}
		return "without a name, awaits " + x.r.name(x.r.typ(x.Chain.Awaited))
	})
}

// writeChains describes the calls without a name that a table lists.
func (r *inspectReport) writeChains(w io.Writer, page int, rows []heap.Detail) {
	for i := range rows {
		if c := rows[i].Chain; c != nil {
			view.Wrapped(w, page, 4, r.describe(c))
		}
	}
}

// describe says what is known of a kind of chain.
func (r *inspectReport) describe(c *heap.CallChain) string {
	text := view.Counted(c.Chains, "chain") + " of " + view.Counted(c.Calls, "call")
	if c.Calls == 1 {
		text = view.Counted(c.Chains, "call")
	}
	awaited := "something that the types do not show"
	if c.Awaited != heap.NoType {
		awaited = r.name(r.typ(c.Awaited))
	}
	verb := " await "
	if c.Chains == 1 {
		verb = " awaits "
	}
	text += verb + awaited
	if c.Waiter != heap.NoType {
		text += ", for " + r.name(r.typ(c.Waiter))
	}
	if c.Task != heap.NoType {
		text += ", as " + r.name(r.typ(c.Task))
	}
	var layouts []string
	for _, t := range c.Layouts {
		layouts = append(layouts, fmt.Sprint(r.g.Types[t].Layout))
	}
	if !slices.Contains(layouts, "0") {
		text += ", in Continuations of " + strings.Join(layouts, ", ") + " bytes"
	}
	if len(c.Holds) > 0 {
		var names []string
		for _, t := range c.Holds {
			names = append(names, r.name(r.typ(t)))
		}
		text += " that refer to " + strings.Join(names, ", ")
	}
	return text + "."
}

// keepsChain reports whether something that is known of a chain matches --filter.
func (r *inspectReport) keepsChain(c *heap.CallChain) bool {
	return slices.ContainsFunc(slices.Concat(c.Layouts, c.Holds, []int{c.Awaited, c.Task, c.Waiter}), func(t int) bool {
		return t != heap.NoType && r.matches(r.typ(t))
	})
}

// chainJSON is a heap.CallChain. What is unknown is left out.
type chainJSON struct {
	Chains  uint64   `json:"chains"`
	Calls   uint64   `json:"calls"` // in each
	Layouts []string `json:"layouts"`
	Holds   []string `json:"holds"`
	Awaited string   `json:"awaited,omitempty"`
	Task    string   `json:"task,omitempty"`
	Waiter  string   `json:"waiter,omitempty"`
}

func (r *inspectReport) chainJSON(c *heap.CallChain) *chainJSON {
	if c == nil {
		return nil
	}
	x := &chainJSON{
		Chains: c.Chains, Calls: c.Calls, Layouts: []string{}, Holds: []string{}, Awaited: r.typ(c.Awaited),
		Task: r.typ(c.Task), Waiter: r.typ(c.Waiter),
	}
	for _, t := range c.Layouts {
		x.Layouts = append(x.Layouts, r.typ(t))
	}
	for _, t := range c.Holds {
		x.Holds = append(x.Holds, r.typ(t))
	}
	return x
}
