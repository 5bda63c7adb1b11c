package analysis

import (
	"fmt"
	"slices"

	"github.com/gclog/gclog/gclog"
)

// An Explanation says why a collection happened, why it was what it was, what its pause
// was spent on and what it achieved: in sentences for people, with the numbers beside
// them for programs. It is plain data and belongs to the caller. Names that it holds come
// from the process: escape them before a terminal.
type Explanation struct {
	Title string `json:"title"` // one line without full stop

	What       []Statement `json:"what"`       // which collection it was, and whether all of it was seen
	Trigger    []Statement `json:"trigger"`    // who asked for it and why
	Generation []Statement `json:"generation"` // why this generation, and why blocking or in the background
	Pause      []Statement `json:"pause"`      // how long the program was paused
	Parts      []Part      `json:"parts"`      // of the pause, without those within others. The known ones add up to it
	Phases     []Part      `json:"phases"`     // of a background collection, while the program ran
	Roots      []Root      `json:"roots"`      // what was marked from, in the order of clr.MarkType
	Result     []Statement `json:"result"`     // what it achieved
	Sizes      []Size      `json:"sizes"`      // by generation
	Comparison []Statement `json:"comparison"` // with others of its kind
	Unknown    []Unknown   `json:"unknown"`    // what the sentences and tables lack
}

// A Statement is a sentence, or few that belong together. Text is for people and may be
// worded otherwise tomorrow; all that it claims is in the other fields too.
type Statement struct {
	ID     string   `json:"id"` // what it is about: part of what gclog promises
	Text   string   `json:"text"`
	Causes []string `json:"causes,omitempty"` // the reasons that it gives, by name: the runtime's own, else gclog's (docs/explain.md)
	Facts  Facts    `json:"facts,omitempty"`  // the numbers in it, each name once
}

// Facts are encoded by their names.
type Facts []Fact

// A Fact is a number of a Statement or a Finding, or what stands for one. Its name is that of the
// field in a JSON record, where there is one.
type Fact struct {
	Name  string
	Value float64
	Unit  string // as of a Number
	Text  string // instead of Value: a version, a time stamp, a name
}

// textFact is a Fact that is no number.
func textFact(name, text string) Fact { return Fact{Name: name, Text: text} }

type number interface {
	int | int32 | int64 | uint16 | uint32 | uint64 | float64
}

func bytesFact[N number](name string, bytes N) Fact {
	return Fact{Name: name, Value: float64(bytes), Unit: "bytes"}
}

func timeFact[N number](name string, ns N) Fact {
	return Fact{Name: name, Value: float64(ns), Unit: "ns"}
}

func percentFact[N number](name string, percent N) Fact {
	return Fact{Name: name, Value: float64(percent), Unit: "%"}
}

func countFact[N number](name string, n N) Fact {
	return Fact{Name: name, Value: float64(n)}
}

// Unknown is what is not known for one reason.
type Unknown struct {
	What []string `json:"what"`
	Why  string   `json:"why"` // without full stop
}

// A Context is what an Explanation needs beside the record. All of it may be unknown.
type Context struct {
	Process *gclog.Process // nil: unknown
	// Begin is when the recording or session began, in nanoseconds since the sync point.
	Begin    int64
	HasBegin bool
	// Log is the format of the log that the record was read from, "" for a stream.
	Log string
	// Peers has the other collections; nil: there are none to compare with.
	Peers *Peers
}

// Explain explains a collection.
func Explain(d *gclog.GCDetails, c Context) Explanation {
	x := &explainer{d: d, c: c, e: Explanation{
		What: []Statement{}, Trigger: []Statement{}, Generation: []Statement{}, Pause: []Statement{}, Parts: []Part{}, Phases: []Part{},
		Roots: []Root{}, Result: []Statement{}, Sizes: []Size{}, Comparison: []Statement{}, Unknown: []Unknown{},
	}}
	x.what()
	x.trigger()
	x.generation()
	x.pause()
	x.result()
	x.comparison()
	return x.e
}

// Causes that the runtime has no name for.
const (
	byYoung        = "young"                 // gen0 and gen1 always block
	byBackground   = "background-collection" // one was running, or about to
	byDefault      = "default"               // nothing spoke against what is usual
	byProvisional  = "provisional-mode"
	byDemoted      = "demoted" // a background collection could not be begun
	byBatch        = "batch"   // of GCSettings.LatencyMode, as the next two
	byLowLatency   = "low-latency"
	bySustained    = "sustained-low-latency"
	byNoConcurrent = "concurrent-off"
	byElevation    = "Elevation" // the mechanism of this name
	byDATAS        = "datas"
)

type explainer struct {
	d *gclog.GCDetails
	c Context
	e Explanation
}

// say adds a statement to a section.
func (x *explainer) say(section *[]Statement, id, text string, facts ...Fact) {
	x.because(section, id, text, nil, facts...)
}

// because adds a statement that gives causes.
func (x *explainer) because(section *[]Statement, id, text string, causes []string, facts ...Fact) {
	*section = append(*section, Statement{id, text, causes, facts})
}

// lacks notes that something is not known. A reason is told once.
func (x *explainer) lacks(what, why string) {
	i := slices.IndexFunc(x.e.Unknown, func(u Unknown) bool { return u.Why == why })
	if i < 0 {
		i = len(x.e.Unknown)
		x.e.Unknown = append(x.e.Unknown, Unknown{Why: why})
	}
	if u := &x.e.Unknown[i]; !slices.Contains(u.What, what) {
		u.What = append(u.What, what)
	}
}

// untold is why something is not known that a runtime tells for the reason given at most:
// of what was read from a log, the log is the reason.
func (x *explainer) untold(why string) string {
	if x.d.FromLog {
		return "the log does not hold it (format " + x.c.Log + ")"
	}
	return why
}

// unheard is why what the histories of the heaps tell is not known.
func (x *explainer) unheard() string {
	if x.d.Flaws&gclog.FlawNoHeaps != 0 {
		return x.untold("not all heaps told their history (GCPerHeapHistory): the stream was cut, or lost events")
	}
	return x.untold("no history of the heaps was seen (GCGlobalHeapHistory and GCPerHeapHistory)")
}

// collectionText names a collection by generation and kind, as far as that was seen.
func collectionText(d *gclog.GCDetails) string {
	text := d.GenerationName() + " collection"
	if d.KindKnown() {
		text = d.Kind.String() + " " + text
	}
	return text
}

// nameText is what a collection is called in sentences.
func nameText(d *gclog.GCDetails) string {
	if !d.HasNumber {
		return "a collection without a number"
	}
	return fmt.Sprintf("collection %d", d.Number)
}
