// Package flame writes stacks with amounts of memory, or of collections, in the formats of tools that
// draw flame graphs: pprof, speedscope and flamegraph.pl.
package flame

import (
	"math"
	"time"
)

// A Kind is what a profile counts.
type Kind uint8

// The kinds of profiles.
const (
	Retained  Kind = iota // memory that is in use
	Allocated             // memory that was allocated
	Requested             // collections that were asked for
)

// A kind has the words of a Kind in pprof, and what of a sample the other formats show.
type kind struct {
	count, amount, unit string
	period              int64 // of amount; 0: a sample is one of count
	counts              bool  // what is shown is the count
}

var kinds = [...]kind{
	Retained:  {count: "inuse_objects", amount: "inuse_space", unit: "bytes"},
	Allocated: {count: "alloc_objects", amount: "alloc_space", unit: "bytes", period: 102_400},
	Requested: {count: "gcs", amount: "pause", unit: "nanoseconds", counts: true},
}

// A Profile says how much memory there is at the end of each stack.
type Profile struct {
	Kind     Kind
	Title    string        // title of the profile
	Time     time.Time     // when it was taken; zero: unknown
	Duration time.Duration // 0: unknown
	Comments []string
	Frames   []Frame // without duplicates
	Samples  []Sample
	// Countless: the number of objects is unknown.
	Countless bool

	index map[Frame]int
}

// A Frame is a level of a stack: a type, what holds objects, or a method.
type Frame struct {
	Name string
	File string // the file that defines it; "": unknown
	Raw  string // name of a method with its signature; "": there is none
}

// A Sample is a stack with what is at its end. Several samples may have the same stack.
type Sample struct {
	Stack   []int  // indexes in Profile.Frames, the outermost first
	Objects uint64 // with Requested: collections
	Bytes   uint64 // with Requested: their pauses, in nanoseconds
	Type    string // of the objects; "": unknown
}

// shown returns what the formats show that have one number for a sample.
func (p *Profile) shown(s *Sample) uint64 {
	if kinds[p.Kind].counts {
		return s.Objects
	}
	return s.Bytes
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
