// Package flame writes stacks with amounts of memory in the formats of tools that draw flame graphs:
// pprof, speedscope and flamegraph.pl.
package flame

import (
	"math"
	"time"
)

// A Profile says how much memory there is at the end of each stack.
type Profile struct {
	Title   string    // title of the profile
	Time    time.Time // when it was taken; zero: unknown
	Frames  []Frame   // without duplicates
	Samples []Sample

	index map[Frame]int
}

// A Frame is a level of a stack: a type, or what holds objects.
type Frame struct {
	Name string
	File string // the file that defines it; "": unknown
}

// A Sample is a stack with what is at its end. Several samples may have the same stack.
type Sample struct {
	Stack   []int // indexes in Profile.Frames, the outermost first
	Objects uint64
	Bytes   uint64
}

// Frame returns the index of a frame, and adds it if it is new.
func (p *Profile) Frame(f Frame) int {
	i, ok := p.index[f]
	if !ok {
		if p.index == nil {
			p.index = map[Frame]int{}
		}
		i = len(p.Frames)
		p.index[f] = i
		p.Frames = append(p.Frames, f)
	}
	return i
}

// signed returns an amount in formats whose amounts have a sign.
func signed(n uint64) int64 { return int64(min(n, math.MaxInt64)) }
