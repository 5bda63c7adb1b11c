package callers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/internal/flame"
)

// Flame returns the allocations as a profile for other tools. With types, there is one sample for each path
// and type of object, and methods with different signatures are different frames; without, one for each path.
func (v *View) Flame(title string, types bool) *flame.Profile {
	f, paths := v.newFlame(flame.Allocated, title, types), v.paths()
	for i := range v.Profile.Allocations {
		a := &v.Profile.Allocations[i]
		typ := v.TypeName(a.Type)
		frames := v.frames(a.Stack)
		path := paths(a.Stack, frames)
		if v.Large && !a.Large() || !v.matches(path.text) && !v.matches(typ) {
			continue
		}
		if math.IsNaN(a.Objects) || math.IsInf(a.Objects, 0) {
			f.p.Countless = true
		}
		f.add(path, frames, typ, a.Objects, a.Bytes)
	}
	return f.profile()
}

// CallFlame returns the collections that were asked for as a profile for other tools.
func (v *View) CallFlame(title string, raw bool) *flame.Profile {
	f, paths := v.newFlame(flame.Requested, title, raw), v.paths()
	for i := range v.Profile.Calls {
		c := &v.Profile.Calls[i]
		frames, _ := v.caller(c)
		if path := paths(c.Stack, frames); c.Induced() && v.matches(path.text) {
			f.add(path, frames, "", float64(c.Count), float64(c.Paused))
		}
	}
	return f.profile()
}

// frames returns the frames of a stack that are shown.
func (v *View) frames(stack int) []int32 {
	if v.Raw {
		return v.Profile.Stacks[stack].Frames
	}
	path := v.Profile.Path(stack)
	if v.Own {
		path = path[:1+slices.Index(path, v.Profile.AllocatedIn(stack))]
	}
	return path
}

// A flameBuilder adds samples up by their path.
type flameBuilder struct {
	v     *View
	p     *flame.Profile
	full  bool // with types and signatures
	known map[*path]*flameStack
	index map[flameKey]int // of sums
	sums  []flameSum
}

// A flameStack is a path as frames of the profile.
type flameStack struct {
	text string
	list []int
	key  string // the same for the same frames
}

type flameKey struct{ stack, typ string }

type flameSum struct {
	stack          *flameStack
	typ            string
	objects, bytes float64
}

func (v *View) newFlame(kind flame.Kind, title string, full bool) *flameBuilder {
	p := v.Profile
	return &flameBuilder{v: v, full: full, known: map[*path]*flameStack{}, index: map[flameKey]int{}, p: &flame.Profile{
		Kind: kind, Title: title, Time: p.Start, Duration: p.Duration, Comments: []string{
			fmt.Sprintf(".NET %s, process %d", clean(cmp.Or(p.Process.RuntimeVersion, "?")), p.Process.ID),
			fmt.Sprintf("estimated from %d %v", p.Total.Events, p.Source),
			fmt.Sprintf("%d events lost, %d of %d frames without a name", p.Lost, p.Names.Unnamed, p.Names.Frames),
		},
	}}
}

func (f *flameBuilder) add(path *path, frames []int32, typ string, objects, bytes float64) {
	of := f.known[path]
	if of == nil {
		of = f.stack(path, frames)
		f.known[path] = of
	}
	if !f.full {
		typ = ""
	}
	key := flameKey{of.key, typ}
	at, ok := f.index[key]
	if !ok {
		at = len(f.sums)
		f.index[key] = at
		f.sums = append(f.sums, flameSum{stack: of, typ: typ})
	}
	f.sums[at].objects += objects
	f.sums[at].bytes += bytes
}

// stack adds the frames of a path to the profile.
func (f *flameBuilder) stack(path *path, frames []int32) *flameStack {
	special := len(path.names) - len(frames) // what stands in front of the frames, or for them
	list := make([]int, len(path.names))
	for i, name := range path.names {
		x := flame.Frame{Name: name}
		if f.full && i >= special {
			of := &f.v.Profile.Frames[frames[i-special]]
			x.File = clean(module(of))
			if name != stacks.Native {
				x.Raw = clean(of.Raw())
			}
		}
		list[i] = f.p.Frame(x)
	}
	return &flameStack{text: path.text, list: list, key: fmt.Sprint(list)}
}

// profile returns the samples in the order of their names. Amounts are rounded once.
func (f *flameBuilder) profile() *flame.Profile {
	slices.SortStableFunc(f.sums, func(a, b flameSum) int {
		return cmp.Or(cmp.Compare(a.stack.text, b.stack.text), cmp.Compare(a.typ, b.typ))
	})
	for _, s := range f.sums {
		x := flame.Sample{Stack: s.stack.list, Objects: whole(s.objects), Bytes: whole(s.bytes), Type: s.typ}
		if x.Objects > 0 || x.Bytes > 0 {
			f.p.Samples = append(f.p.Samples, x)
		}
	}
	return f.p
}

// module returns the file name of what contains a method.
func module(f *stacks.Frame) string { return f.Module[strings.LastIndexAny(f.Module, `/\`)+1:] }
