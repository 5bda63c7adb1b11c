package flame

import (
	"io"

	"github.com/google/pprof/profile"
)

// WritePprof writes the profile for pprof: compressed, with the sample types inuse_objects and
// inuse_space, as heap profiles of Go have. So flat is what is at the end of a stack, and cum
// includes all that is below a frame.
func (p *Profile) WritePprof(w io.Writer) error {
	objects := &profile.ValueType{Type: "inuse_objects", Unit: "count"}
	space := &profile.ValueType{Type: "inuse_space", Unit: "bytes"}
	x := &profile.Profile{SampleType: []*profile.ValueType{objects, space}, DefaultSampleType: space.Type}
	if !p.Time.IsZero() {
		x.TimeNanos = p.Time.UnixNano()
	}
	program := &profile.Mapping{ID: 1, File: p.Title, HasFunctions: true, HasFilenames: true}
	x.Mapping = []*profile.Mapping{program}
	for i, f := range p.Frames {
		// Without a SystemName, pprof does not take generic arguments for those of C++, which it removes.
		at := &profile.Function{ID: uint64(i + 1), Name: f.Name, Filename: f.File}
		x.Function = append(x.Function, at)
		x.Location = append(x.Location,
			&profile.Location{ID: at.ID, Mapping: program, Line: []profile.Line{{Function: at}}})
	}
	for _, s := range p.Samples {
		stack := make([]*profile.Location, len(s.Stack))
		for i, f := range s.Stack {
			stack[len(stack)-1-i] = x.Location[f]
		}
		x.Sample = append(x.Sample,
			&profile.Sample{Location: stack, Value: []int64{signed(s.Objects), signed(s.Bytes)}})
	}
	return x.Write(w)
}
