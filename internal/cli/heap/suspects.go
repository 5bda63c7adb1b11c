package heap

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) suspectsCommand() *cli.Command {
	return &cli.Command{
		Name:      "suspects",
		Usage:     "find leaks: where memory accumulates, what holds it, and what to do about it",
		ArgsUsage: "FILE",
		Description: `A suspect is an object that retains at least 10 % of what is reachable, while each object
below it retains less: the array of a dictionary that only grows, not the dictionary or
what holds it. A list or tree counts as one, and so do many objects of a type that no
single object keeps alive. --min chooses another share or size; up to 100 are found.

Examples:
   gclog heap suspects app.nettrace
   gclog heap suspects app.nettrace --min 2%
   gclog heap suspects app.nettrace -f json | jq -r '.suspects[].advice'`,
		Flags:  fileFlags(),
		Action: results.Action(p.Run, results.Lists, p.suspects),
	}
}

// suspectShare is the default of --min, as Eclipse MAT has it.
const suspectShare = 0.1

func (p *commands) suspects(c *cli.Context, how string) error {
	h, d, err := p.readReachable(c, how, suspectShare)
	if err != nil {
		return err
	}
	r := suspectReport{reachableHeap: h}
	r.list = slices.DeleteFunc(d.Suspects(r.g.Paths(), r.Min),
		func(s heap.Suspect) bool { return !r.matches(r.typ(s.Type)) })
	switch all := len(r.list); r.format {
	case "json":
		r.list = lists.Cut(r.list, r.top)
		return p.PrintJSON(r.json())
	case "csv":
		r.list = lists.Cut(r.list, r.top)
		return lists.PrintCSV(p.Run, []lists.Column[heap.Suspect]{
			{CSV: "address", Value: func(s *heap.Suspect) any { return addressOf(r.g, s.Object) }},
			{CSV: "type", Value: func(s *heap.Suspect) any { return r.typ(s.Type) }},
			{CSV: "objects", Value: func(s *heap.Suspect) any { return s.Objects }},
			{CSV: "retained_bytes", Value: func(s *heap.Suspect) any { return s.Retained }},
			{CSV: "own_bytes", Value: func(s *heap.Suspect) any { return s.Own }},
			{CSV: "cause", Value: func(s *heap.Suspect) any { return s.Cause }},
			{CSV: "root", Value: func(s *heap.Suspect) any { return s.Holder.String() }},
		}, r.list)
	default:
		r.list = lists.Cut(r.list, r.top)
		width, _ := screen.Size(p.Unfiltered)
		return p.Write(func(w io.Writer) error {
			r.write(w, width, p.PageWidth(), all)
			return nil
		})
	}
}

// A suspectReport prints suspects.
type suspectReport struct {
	*reachableHeap
	list []heap.Suspect
}

// typ returns the exact name of a type.
func (r *suspectReport) typ(i int) string { return r.g.Types[i].String() }

// shown returns the name of a type in a table.
func (r *suspectReport) shown(i int) string { return r.name(r.typ(i)) }

// suspectRows is how many rows a table of a suspect has.
const suspectRows = 5

func (r *suspectReport) write(w io.Writer, width, page, all int) {
	fmt.Fprintf(w, "%s in %s are reachable",
		view.Counted(r.reachable.Objects, "object"), formats.SizeText(int64(r.reachable.Bytes)))
	if all == 0 {
		fmt.Fprintf(w, "; nothing accumulates %s or more\n", formats.SizeText(int64(r.Min)))
		return
	}
	fmt.Fprintf(w, "; %s", view.Counted(uint64(all), "suspect"))
	switch n := len(r.list); {
	case n == all:
	case n == 1:
		fmt.Fprint(w, ", the first one")
	default:
		fmt.Fprintf(w, ", the first %d", n)
	}
	fmt.Fprintln(w)
	for i := range r.list {
		s := &r.list[i]
		fmt.Fprintln(w)
		view.Hanging(w, page, 3, fmt.Sprintf("%d. ", i+1), r.what(s))
		r.writePath(w, width, s)
		r.writeBelow(w, width, s)
		view.Wrapped(w, page, 3, r.advice(s))
	}
}

// what says what a suspect is, and how much it retains.
func (r *suspectReport) what(s *heap.Suspect) string {
	retains := func(verb string) string {
		text := fmt.Sprintf("%s %s, %s of what is reachable",
			verb, formats.SizeText(int64(s.Retained)), r.percent(s.Retained))
		if s.Own < s.Retained {
			text += fmt.Sprintf("; %s without other suspects", formats.SizeText(int64(s.Own)))
		}
		return text
	}
	switch {
	case s.Object == heap.NoObject:
		return fmt.Sprintf("%s of type %s, which no single object keeps alive, %s",
			view.Counted(s.Objects, "object"), r.shown(s.Type), retains("retain"))
	case s.Objects > 1:
		return fmt.Sprintf("%d linked objects of type %s, the first at 0x%x, %s",
			s.Objects, r.shown(s.Type), r.g.Address(s.Object), retains("retain"))
	}
	return fmt.Sprintf("%s at 0x%x %s", r.shown(s.Type), r.g.Address(s.Object), retains("retains"))
}

func (r *suspectReport) percent(bytes uint64) string {
	return fmt.Sprintf("%.1f %%", 100*r.shareOf(bytes))
}

// held introduces the path to a suspect.
func (r *suspectReport) held(s *heap.Suspect) string {
	switch {
	case len(s.Path) == 0:
		return fmt.Sprintf("Held in several ways, %d of them by: %s", s.Via, view.Clean(s.Holder.String()))
	case s.Object == heap.NoObject && s.Via < s.Objects:
		return fmt.Sprintf("Held by, %d of them:", s.Via)
	case s.Dominated || s.Object == heap.NoObject:
		return "Held by:"
	}
	return "Held in several ways, the shortest:"
}

// steps returns the steps of the path to a suspect.
func (r *suspectReport) steps(s *heap.Suspect) []pathStep {
	return pathSteps(&r.naming, r.g, s.Holder, s.Path)
}

// writePath prints the path to a suspect.
func (r *suspectReport) writePath(w io.Writer, width int, s *heap.Suspect) {
	fmt.Fprintf(w, "   %s\n", r.held(s))
	for _, x := range r.steps(s) {
		indent := 2*x.indent + 5
		view.Hanging(w, width, indent+2, strings.Repeat(" ", indent), x.text)
	}
}

func (r *suspectReport) writeBelow(w io.Writer, width int, s *heap.Suspect) {
	if len(s.Below) == 0 {
		return
	}
	fmt.Fprintln(w, "   What accumulates:")
	t := &view.Table{Columns: []screen.Column{
		{Title: "retained", Right: true}, {Title: "objects", Right: true}, {Title: "type", Cut: true, Width: 20},
	}}
	for _, b := range s.Below[:min(len(s.Below), suspectRows)] {
		t.Add(formats.SizeText(int64(b.Retained)), strconv.FormatUint(b.Objects, 10), r.shown(b.Type))
	}
	var b strings.Builder
	t.Print(&b, max(0, width-3))
	for line := range strings.Lines(b.String()) {
		fmt.Fprint(w, "   "+line)
	}
	if more := len(s.Below) - suspectRows; more > 0 {
		fmt.Fprintf(w, "     and %s\n", view.Counted(uint64(more), "other type"))
	}
}

// advice says what a suspect means, and what to do about it.
func (r *suspectReport) advice(s *heap.Suspect) string {
	text := wording("suspect/" + string(s.Cause))
	if len(s.Path) == 0 || s.Cause == heap.CauseHandles {
		return text
	}
	return strings.TrimSpace(adviceByHolder(s.Holder, r.typ(s.Path[0].Type)) + " " + text)
}

func adviceByHolder(h heap.Holder, held string) string {
	switch {
	case h.Static != nil || h.Table:
		return "A static field keeps its value as long as the process runs."
	case h.Root.Kind == heap.RootStack && held == heap.ObjectArray:
		return "Either a running method uses it, or these are static fields of a thread, which live as long as " +
			"the thread."
	case h.Root.Kind == heap.RootStack:
		return "A local variable or parameter keeps its value until the method no longer uses it."
	case h.Root.Kind == heap.RootHandle && h.Root.Flags&heap.RootRefCounted != 0:
		return "Native code keeps it through COM, until all references are released."
	case h.Root.Kind == heap.RootHandle && h.Root.Flags&heap.RootPinned != 0:
		return "A pinned handle keeps it, and keeps the GC from moving it, until the handle is freed."
	case h.Root.Kind == heap.RootHandle:
		return "A GC handle keeps it until the handle is freed."
	}
	return ""
}

type suspectsJSON struct {
	Complete  bool          `json:"complete"`
	Reachable countJSON     `json:"reachable"`
	Least     uint64        `json:"least_bytes"`
	Suspects  []suspectJSON `json:"suspects"`
}

type suspectJSON struct {
	Address     string            `json:"address,omitempty"` // of the object, or the first one of a structure
	Name        string            `json:"name"`
	Objects     uint64            `json:"objects"`
	Retained    uint64            `json:"retained_bytes"`
	Own         uint64            `json:"own_bytes"` // without other suspects
	Share       float64           `json:"share"`     // of the reachable bytes, 0 to 1
	Cause       heap.Cause        `json:"cause"`
	Root        string            `json:"root"`
	Dominated   bool              `json:"dominated"`    // all paths begin as this one does
	Via         uint64            `json:"path_objects"` // how many of the objects the path leads to
	Path        []stepJSON        `json:"path"`
	Omitted     int               `json:"path_omitted"` // steps in the middle
	Accumulated []accumulatedJSON `json:"accumulated"`
	Advice      string            `json:"advice"`
}

type stepJSON struct {
	Address  string `json:"address,omitempty"`
	Name     string `json:"name"`
	Repeated int    `json:"repeated"`
	Event    string `json:"event,omitempty"` // for which the step before refers to this one
}

type accumulatedJSON struct {
	Name     string `json:"name"`
	Objects  uint64 `json:"objects"`
	Retained uint64 `json:"retained_bytes"`
}

func (r *suspectReport) json() *suspectsJSON {
	x := &suspectsJSON{
		Complete:  r.g.Walk.Complete(),
		Reachable: countJSON(r.reachable),
		Least:     r.Min,
		Suspects:  []suspectJSON{},
	}
	for i := range r.list {
		s := &r.list[i]
		row := suspectJSON{
			Address: addressOf(r.g, s.Object), Name: r.typ(s.Type), Objects: s.Objects, Retained: s.Retained,
			Own: s.Own, Share: r.shareOf(s.Retained), Cause: s.Cause, Root: s.Holder.String(), Dominated: s.Dominated,
			Via: s.Via, Path: []stepJSON{}, Accumulated: []accumulatedJSON{}, Advice: r.advice(s),
		}
		for _, step := range s.Path {
			row.Path = append(row.Path, stepJSON{addressOf(r.g, step.Object), r.typ(step.Type), step.Repeated, ""})
		}
		addEvents(r.g, row.Path, s.Path)
		if first, omitted, last := middle(row.Path); omitted > 0 {
			row.Path, row.Omitted = slices.Concat(first, last), omitted
		}
		for _, b := range s.Below {
			row.Accumulated = append(row.Accumulated, accumulatedJSON{r.typ(b.Type), b.Objects, b.Retained})
		}
		x.Suspects = append(x.Suspects, row)
	}
	return x
}
