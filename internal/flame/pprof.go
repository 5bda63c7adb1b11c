package flame

import (
	"io"

	"github.com/google/pprof/profile"
)

// WritePprof writes the profile for pprof: compressed, with the sample types that profiles of Go have,
// such as inuse_objects and inuse_space. So flat is what is at the end of a stack, and cum includes all that
// is below a frame.
func (p *Profile) WritePprof(w io.Writer) error {
	k := kinds[p.Kind]
	count, amount := &profile.ValueType{Type: k.count, Unit: "count"}, &profile.ValueType{Type: k.amount, Unit: k.unit}
	x := &profile.Profile{
		SampleType: []*profile.ValueType{count, amount}, DefaultSampleType: amount.Type,
		DurationNanos: p.Duration.Nanoseconds(), Comments: p.Comments,
	}
	if p.Countless {
		x.SampleType = x.SampleType[1:]
	}
	switch {
	case k.counts:
		x.DefaultSampleType, x.PeriodType, x.Period = count.Type, count, 1
	case k.period > 0:
		x.PeriodType, x.Period = &profile.ValueType{Type: "space", Unit: k.unit}, k.period
	}
	if !p.Time.IsZero() {
		x.TimeNanos = p.Time.UnixNano()
	}
	program := &profile.Mapping{ID: 1, File: p.Title, HasFunctions: true, HasFilenames: true}
	x.Mapping = []*profile.Mapping{program}
	for i, f := range p.Frames {
		// Without a SystemName, pprof does not take generic arguments for those of C++, which it removes.
		at := &profile.Function{ID: uint64(i + 1), Name: f.Name, SystemName: f.Raw, Filename: f.File}
		x.Function = append(x.Function, at)
		x.Location = append(x.Location,
			&profile.Location{ID: at.ID, Mapping: program, Line: []profile.Line{{Function: at}}})
	}
	for _, s := range p.Samples {
		stack := make([]*profile.Location, len(s.Stack))
		for i, f := range s.Stack {
			stack[len(stack)-1-i] = x.Location[f]
		}
		values := []int64{signed(s.Objects), signed(s.Bytes)}
		at := &profile.Sample{Location: stack, Value: values[len(values)-len(x.SampleType):]}
		if s.Type != "" {
			at.Label = map[string][]string{"type": {s.Type}}
		}
		x.Sample = append(x.Sample, at)
	}
	return x.Write(w)
}
