package callers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/parse/clr"
)

// A CallRow is how often something asked for collections, in one way.
type CallRow struct {
	Caller     string // the method that asked
	Call       string // what it called, with what is known of the arguments
	Path       []string
	Reason     clr.Reason
	Generation int // -1: unknown
	stacks.Requested
}

// Calls returns who asked for collections that the filter matches, most frequent first. byPath: paths to
// the same caller are counted separately.
func (v *View) Calls(byPath bool) (rows []CallRow) {
	type key struct{ from, call string }
	index, paths := map[key]int{}, v.paths()
	for _, inlined := range []bool{false, true} { // as the last, because they may be told by others of the same caller
		for i := range v.Profile.Calls {
			c := &v.Profile.Calls[i]
			frames, method := v.caller(c)
			if !c.Induced() || (method == stacks.Inlined) != inlined {
				continue
			}
			path := paths(c.Stack, frames)
			if !v.matches(path.text) {
				continue
			}
			caller := path.names[len(path.names)-1]
			of := key{caller, call(c, method)}
			if byPath {
				of.from = path.text
			}
			at, ok := index[of]
			if !ok && inlined {
				at, ok = index[key{of.from, call(c, "GC.Collect")}]
			}
			if !ok {
				at = len(rows)
				index[of] = at
				rows = append(rows, CallRow{
					Caller: caller, Call: of.call, Path: path.names, Reason: c.Reason, Generation: c.Generation,
				})
			}
			rows[at].Add(c.Requested)
		}
	}
	slices.SortStableFunc(rows, func(a, b CallRow) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Caller, b.Caller), cmp.Compare(a.Call, b.Call))
	})
	return rows
}

// Caller returns the path of what asked for a collection, whose last frame is the method that did, and what it called.
func (v *View) Caller(c *stacks.Call) (path []string, method string) {
	frames, method := v.caller(c)
	return v.path(c.Stack, frames), method
}

// caller returns the frames that are shown of what asked for a collection, and the method that it called.
func (v *View) caller(c *stacks.Call) (frames []int32, method string) {
	frames, method = v.Profile.Caller(c)
	if v.Raw {
		frames = v.frames(c.Stack)
	}
	return frames, method
}

// call returns what was called, with what the collection shows of the arguments.
func call(c *stacks.Call, method string) string {
	var how []string
	if c.Generation >= 0 {
		how = append(how, fmt.Sprintf("gen%d", c.Generation))
	}
	switch {
	case c.Background:
		how = append(how, "background")
	case c.Reason == clr.ReasonInducedCompacting:
		how = append(how, "compacting")
	case c.Reason == clr.ReasonInducedAggressive:
		how = append(how, "aggressive")
	case c.Reason == clr.ReasonInducedNotForced:
		how = append(how, "not forced")
	case c.Reason == clr.ReasonInducedLowMemory:
		how = append(how, "low memory")
	}
	if len(how) == 0 {
		return method
	}
	return method + ": " + strings.Join(how, ", ")
}
