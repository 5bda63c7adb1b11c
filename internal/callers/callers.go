// Package callers shows who allocates and who asks for collections: profiles of gclog/stacks as rows,
// as a tree, and as profiles for other tools.
package callers

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog/stacks"
)

// A View is a profile, and how it is shown.
type View struct {
	Profile *stacks.Profile
	Raw     bool           // names with signatures as the runtime writes them, and all frames
	Large   bool           // only objects on the large object heap
	Own     bool           // paths end in the method that an allocation is put down to
	Filter  *regexp.Regexp // of rows: see Rows

	names map[int32]string // of frames
}

// A Row is what was allocated by something.
type Row struct {
	Name string
	Path []string // by path: its frames, the outermost first
	stacks.Estimate
}

// The things that allocations are counted by.
const (
	ByType   = "type"
	ByMethod = "method"
	ByPath   = "path"
	ByThread = "thread"
)

// Rows returns what was allocated by each type, method, path or thread that the filter matches, most
// bytes first. A method is the one that an allocation is put down to: see stacks.Profile.AllocatedIn.
func (v *View) Rows(by string) (rows []Row) {
	p := v.Profile
	index, byStack, paths := map[string]int{}, map[int]int{}, v.paths()
	add := func(name string, path []string, e stacks.Estimate) int {
		i, ok := index[name]
		if !ok {
			i = len(rows)
			index[name] = i
			rows = append(rows, Row{Name: name, Path: path})
		}
		rows[i].Add(e)
		return i
	}
	if by == ByThread {
		for i := range p.Threads {
			name := strconv.FormatUint(p.Threads[i].ID, 10)
			if p.Threads[i].ID == 0 {
				name = "[other threads]"
			}
			add(name, nil, p.Threads[i].Estimate)
		}
	} else {
		for i := range p.Allocations {
			a := &p.Allocations[i]
			if v.Large && !a.Large() {
				continue
			}
			switch i, ok := byStack[a.Stack]; {
			case by == ByType:
				add(v.TypeName(a.Type), nil, a.Estimate)
			case ok:
				rows[i].Add(a.Estimate)
			case by == ByMethod:
				byStack[a.Stack] = add(v.method(a.Stack), nil, a.Estimate)
			default:
				x := paths(a.Stack, v.frames(a.Stack))
				byStack[a.Stack] = add(x.text, x.names, a.Estimate)
			}
		}
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool { return !v.matches(r.Name) })
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return rows
}

func (v *View) matches(name string) bool { return v.Filter == nil || v.Filter.MatchString(name) }

// TypeName returns the name of a type.
func (v *View) TypeName(i int) string {
	if v.Raw {
		return clean(v.Profile.Types[i])
	}
	return clean(stacks.ReadableType(v.Profile.Types[i]))
}

// frame returns the name of a frame.
func (v *View) frame(i int32) string {
	name, ok := v.names[i]
	if !ok {
		if f := &v.Profile.Frames[i]; v.Raw {
			name = clean(f.Raw())
		} else {
			name = clean(f.String())
		}
		if v.names == nil {
			v.names = map[int32]string{}
		}
		v.names[i] = name
	}
	return name
}

// method returns the method that a stack's allocations are put down to.
func (v *View) method(stack int) string {
	if i := v.Profile.AllocatedIn(stack); i >= 0 {
		return v.frame(i)
	}
	return v.Path(stack)[0]
}

// Path returns the frames of a stack that are shown, the outermost first. There is at least one.
func (v *View) Path(stack int) []string {
	return v.path(stack, v.frames(stack))
}

// A path is what is shown of a stack.
type path struct {
	names []string // the outermost first
	text  string   // in one line
}

// paths returns a function that returns the path of a stack, always with the same frames. Thousands of rows may
// have the same stack, whose text is made only once.
func (v *View) paths() func(stack int, frames []int32) *path {
	known := map[int]*path{}
	return func(stack int, frames []int32) *path {
		x := known[stack]
		if x == nil {
			names := v.path(stack, frames)
			x = &path{names, strings.Join(names, ";")}
			known[stack] = x
		}
		return x
	}
}

func (v *View) path(stack int, frames []int32) (path []string) {
	switch s := &v.Profile.Stacks[stack]; {
	case s.Other:
		return []string{stacks.Other}
	case len(frames) == 0:
		return []string{stacks.NoStack}
	case s.Truncated:
		path = append(path, stacks.Truncated)
	}
	for _, f := range frames {
		path = append(path, v.frame(f))
	}
	return path
}

// clean returns text of the target in one line, without characters that act.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if formats.IsControl(r) || r == '\n' || r == '\t' {
			return '\uFFFD'
		}
		return r
	}, s)
}

// whole returns an amount as a whole number; what is unknown is 0.
func whole(v float64) uint64 {
	if math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
		return 0
	}
	return uint64(math.Round(v))
}
