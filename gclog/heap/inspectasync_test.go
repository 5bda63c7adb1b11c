package heap

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// chainText returns the chains of a Graph, as text.
func chainText(g *Graph) (list []string) {
	for _, d := range g.Dominators().Inspect(g.Paths(), 1) {
		if d.Detector != DetectAsync {
			continue
		}
		for _, r := range d.Rows {
			if r.Chain == nil {
				continue
			}
			names := func(types ...int) string {
				var all []string
				for _, t := range types {
					if t == NoType {
						all = append(all, "-")
					} else {
						all = append(all, g.Types[t].String())
					}
				}
				return strings.Join(all, " ")
			}
			list = append(list, fmt.Sprintf("%d calls in %d x %d, layouts %v, hold %s, await %s, for %s", r.Objects, r.Chain.Chains, r.Chain.Calls,
				names(r.Chain.Layouts...), names(r.Chain.Holds...), names(r.Chain.Awaited), names(r.Chain.Task, r.Chain.Waiter)))
			if r.Other != r.Chain.Awaited || r.Type != r.Chain.Layouts[0] {
				list = append(list, fmt.Sprintf("%+v", r))
			}
		}
	}
	return list
}

// A suspendedSketch has calls of runtime async.
type suspendedSketch struct{ *sketch }

const (
	voidTask   = "RuntimeAsyncTask<System.Threading.Tasks.VoidTaskResult>"
	stringTask = "System.Runtime.CompilerServices.AsyncHelpers+RuntimeAsyncTask<System.String>"
	plainTask  = "System.Threading.Tasks.Task<System.Threading.Tasks.VoidTaskResult>"
)

// call adds a Continuation of a layout, as long as its size: it awaits another one, if there is one.
func (s suspendedSketch) call(size int, callee ...Object) Object {
	o := s.object(fmt.Sprint(continuation, size), size, callee...)
	t := &s.g.Types[s.typ(fmt.Sprint(continuation, size))]
	t.Name, t.Exact = continuation, ""
	return o
}

// wait adds what waits for a task, then continues a call, and completes a task at the end.
func (s suspendedSketch) wait(awaited, first, task Object) Object {
	o := s.object(taskContinuation, 72, awaited, task)
	s.references[o] = []Object{first, awaited, task}
	return o
}

// suspended returns a Graph with its layouts.
func (s suspendedSketch) suspended() *Graph {
	g := s.graph()
	g.setLayouts()
	return g
}

func compareChains(t *testing.T, g *Graph, want ...string) {
	t.Helper()
	if got := chainText(g); !slices.Equal(got, want) {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const layoutName = continuation + ", %d bytes"

// TestCallChains: calls of runtime async are followed from the innermost one on, and have the names of
// what is at their ends.
func TestCallChains(t *testing.T) {
	start := func() (s suspendedSketch, list Object) {
		s = suspendedSketch{newSketch()}
		list = s.object("System.Object[]", 80)
		s.static("running", list)
		return s, list
	}
	t.Run("alike", func(t *testing.T) {
		s, list := start()
		never := s.object(plainTask, 64, list)
		for range 5 {
			task := s.object(stringTask, 72, list)
			inner := s.call(80)
			middle := s.call(48, inner)
			outer := s.call(80, middle)
			s.object("Shop.Order", 24, inner)
			s.object("System.String", 40, middle)
			s.object("Shop.Cart", 24, outer)
			s.wait(never, inner, task)
		}
		other := s.call(80) // of a method with the same layout, which holds something else
		s.object("Shop.Invoice", 24, other)
		s.wait(never, other, s.object(stringTask, 72, list))
		ended := s.object(stringTask, 72, list)
		s.object("System.String", 24, ended)
		s.call(80) // unreachable
		compareChains(t, s.suspended(),
			fmt.Sprintf("15 calls in 5 x 3, layouts "+layoutName+" "+layoutName+", hold Shop.Order System.String Shop.Cart, await "+plainTask+", for "+stringTask+" -", 80, 48),
			fmt.Sprintf("1 calls in 1 x 1, layouts "+layoutName+", hold Shop.Invoice, await "+plainTask+", for "+stringTask+" -", 80))
	})
	t.Run("through other chains", func(t *testing.T) {
		s, list := start()
		const machine = "AsyncStateMachineBox<System.Int32, Shop.Cart+<Load>d__5>"
		never := s.object(plainTask, 64, list)
		first, second := s.object(voidTask, 72, list), s.object(stringTask, 72, list)
		s.wait(never, s.call(56), first)
		s.wait(first, s.call(64), second)
		s.object(machine, 100, second) // awaits it
		compareChains(t, s.suspended(),
			fmt.Sprintf("1 calls in 1 x 1, layouts "+layoutName+", hold , await "+plainTask+", for "+voidTask+" "+machine, 56),
			fmt.Sprintf("1 calls in 1 x 1, layouts "+layoutName+", hold , await "+plainTask+", for "+stringTask+" "+machine, 64))
	})
	t.Run("without what waits", func(t *testing.T) {
		s, list := start()
		call := s.call(40, s.object(voidTask, 72, list)) // it has yielded
		s.call(40, call)
		compareChains(t, s.suspended(), fmt.Sprintf("2 calls in 1 x 2, layouts "+layoutName+", hold , await -, for "+voidTask+" -", 40))
	})
	t.Run("for a source", func(t *testing.T) {
		s, list := start()
		for _, class := range []string{"ValueTaskSourceContinuation", sourceContinuation} {
			task, source := s.object(stringTask, 72, list), s.object("System.IO.Pipelines.Pipe+DefaultPipeReader", 64, list)
			head := s.object(class, 72, task, source)
			s.references[head] = []Object{s.call(88), source}
		}
		compareChains(t, s.suspended(), fmt.Sprintf("2 calls in 2 x 1, layouts "+layoutName+", hold , await System.IO.Pipelines.Pipe+DefaultPipeReader, for "+stringTask+" -", 88))
	})
	t.Run("of a thread", func(t *testing.T) {
		s, list := start()
		none := s.call(40, s.object("RuntimeAsyncAwaitState", 56, list)) // which is no call
		s.call(64, none)
		compareChains(t, s.suspended(), fmt.Sprintf("1 calls in 1 x 1, layouts "+layoutName+", hold , await -, for - -", 64))
	})
	t.Run("false", func(t *testing.T) {
		s, list := start()
		self := s.call(40, list)
		s.references[self] = []Object{self}
		first := s.call(48, list)
		second := s.call(56, first)
		s.references[second] = []Object{first}
		none := s.call(64, s.object("RuntimeAsyncAwaitState", 56, list))
		s.references[none] = []Object{none}
		for range 2 { // two calls that the same one awaits
			s.references[s.call(72, list)] = []Object{second}
		}
		task := s.object(voidTask, 72, list)
		s.references[task] = []Object{task, s.wait(task, self, task)}
		total := 0
		for _, row := range chainText(s.suspended()) {
			var calls int
			if _, err := fmt.Sscanf(row, "%d calls", &calls); err != nil {
				t.Error(row)
			}
			total += calls
		}
		if total != 5 {
			t.Errorf("%d calls, want 5: each Continuation once, and not that of the thread", total)
		}
	})
}

// TestLayouts: types that share the name of a Continuation are told apart by the size of their
// objects, in each kind of snapshot that has their ids.
func TestLayouts(t *testing.T) {
	s := suspendedSketch{newSketch()}
	for range 3 {
		s.root(Root{Object: s.call(80), Kind: RootStack})
	}
	s.root(Root{Object: s.call(48), Kind: RootStack})
	g := s.suspended()
	h := g.Histogram()
	names := func(types []Type) (list []string) {
		for i := range types {
			list = append(list, types[i].String())
		}
		return list
	}
	want := []string{fmt.Sprintf(layoutName, 80), fmt.Sprintf(layoutName, 48)}
	if got := names(g.Types); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	counted := &Histogram{Types: slices.Clone(g.Types), Counts: h.Counts}
	for i := range counted.Types {
		counted.Types[i].Layout = 0
	}
	counted.setLayouts()
	if got := names(counted.Types); !slices.Equal(got, want) {
		t.Errorf("counted: %q, want %q", got, want)
	}
	growths := func(a, b *Histogram) (list []string) {
		for _, x := range Compare(a, b) {
			list = append(list, fmt.Sprint(x.Name, x.Counts))
		}
		return list
	}
	if got, want := growths(h, counted), []string{want[1] + "[{1 48} {1 48}]", want[0] + "[{3 240} {3 240}]"}; !slices.Equal(got, want) {
		t.Errorf("compared: %q, want %q", got, want)
	}
	for i := range counted.Types { // a file of another tool, which does not know the layouts
		counted.Types[i].ID, counted.Types[i].Layout = 0, 0
	}
	if got, want := growths(h, counted), []string{continuation + "[{4 288} {4 288}]"}; !slices.Equal(got, want) {
		t.Errorf("compared with another tool's: %q, want %q", got, want)
	}
}

// TestSuspendedCause: what runtime async keeps is a call that has not ended, whichever of its objects
// accumulates.
func TestSuspendedCause(t *testing.T) {
	for _, class := range []string{continuation, taskContinuation, sourceContinuation, "ValueTaskSourceContinuation", voidTask, stringTask} {
		s := newSketch()
		list := s.object("Shop.Requests", 24)
		s.static("requests", list)
		for _, o := range s.objects(50, class, 80, list) {
			s.object("System.Byte[]", 1000, o)
		}
		g := s.graph()
		found := g.Dominators().Suspects(g.Paths(), 5000)
		if len(found) != 1 || found[0].Cause != CauseAsync {
			t.Errorf("%s: %+v", class, found)
		}
	}
}
