package analysis

import (
	"fmt"
	"slices"

	"github.com/gclog/gclog/gclog"
)

// An Explanation describes why a collection happened, why it was of this generation and kind, where
// its pause went and what it achieved: in sentences for people, and in facts for programs. It is
// plain data and belongs to the caller. Its texts contain names from the process: escape them
// before printing to a terminal.
type Explanation struct {
	Title string `json:"title"` // one line without full stop

	What       []Statement `json:"what"`       // which collection it was, and whether it was seen completely
	Trigger    []Statement `json:"trigger"`    // what triggered it
	Generation []Statement `json:"generation"` // why this generation, and why blocking or in the background
	Pause      []Statement `json:"pause"`      // how long the program was paused
	Parts      []Part      `json:"parts"`      // parts of the pause. The known ones add up to it
	Phases     []Part      `json:"phases"`     // phases of a background collection while the program ran
	Roots      []Root      `json:"roots"`      // roots of marking, in the order of clr.MarkType
	Result     []Statement `json:"result"`     // what it achieved
	Sizes      []Size      `json:"sizes"`      // by generation
	Comparison []Statement `json:"comparison"` // comparison with others of its kind
	Unknown    []Unknown   `json:"unknown"`    // what the sentences and tables lack
}

// A Statement is a sentence, or a few that belong together. Text is for people and its wording may
// change; its claims are also in the other fields.
type Statement struct {
	ID     string   `json:"id"` // its subject: part of gclog's compatibility promise
	Text   string   `json:"text"`
	Causes []string `json:"causes,omitempty"` // its reasons by name: the runtime's, or else gclog's (docs/explain.md)
	Facts  Facts    `json:"facts,omitempty"`  // its numbers, each name once
}

// Facts are encoded by name.
type Facts []Fact

// A Fact is a number in a Statement or a Finding, or a text in place of one. Its name is that of
// the field in a JSON record, where such a field exists.
type Fact struct {
	Name  string
	Value float64
	Unit  string // as in a Number
	Text  string // instead of Value: a version, a time stamp, a name
}

// textFact returns a Fact with a text.
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

// Unknown contains what is unknown for one reason.
type Unknown struct {
	What []string `json:"what"`
	Why  string   `json:"why"` // without full stop
}

// A Context contains what an Explanation uses besides the record. All of it may be unknown.
type Context struct {
	Process *gclog.Process // nil: unknown
	// Begin is when the recording or session began, in nanoseconds since the sync point.
	Begin    int64
	HasBegin bool
	// Log is the format of the log that the record was read from, "" for a stream.
	Log string
	// Peers contains the other collections; nil: there are none to compare with.
	Peers *Peers
	// Request is what asked for an induced collection, nil if that is unknown, for the reason NoRequest.
	Request   *Request
	NoRequest string // without full stop
}

// A Request is what asked for a collection, as a recording with call stacks shows it.
type Request struct {
	Call string   // what was called: "GC.Collect"
	Path []string // the methods that led to it, the outermost first
}

// Explain explains a collection.
func Explain(d *gclog.GCDetails, c Context) Explanation {
	x := &explainer{d: d, c: c, e: Explanation{
		What: []Statement{}, Trigger: []Statement{}, Generation: []Statement{}, Pause: []Statement{}, Parts: []Part{},
		Phases: []Part{}, Roots: []Root{}, Result: []Statement{}, Sizes: []Size{}, Comparison: []Statement{},
		Unknown: []Unknown{},
	}}
	x.what()
	x.trigger()
	x.generation()
	x.pause()
	x.result()
	x.comparison()
	return x.e
}

// Causes for which the runtime has no name.
const (
	byYoung        = "young"                 // gen0 and gen1 always block
	byBackground   = "background-collection" // one was running, or about to start
	byDefault      = "default"               // no reason against the default
	byProvisional  = "provisional-mode"
	byDemoted      = "demoted" // a background collection could not be started
	byBatch        = "batch"   // a GCSettings.LatencyMode, like the next two
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

// because adds a statement with causes.
func (x *explainer) because(section *[]Statement, id, text string, causes []string, facts ...Fact) {
	*section = append(*section, Statement{id, text, causes, facts})
}

// lacks records that something is unknown. Each reason is listed once.
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

// whyUnknown returns why something is unknown that the runtime reports: for the given reason, or
// because the log does not contain it.
func (x *explainer) whyUnknown(why string) string {
	if x.d.FromLog {
		return "the log does not contain it (format " + x.c.Log + ")"
	}
	return why
}

// unheard returns why the histories of the heaps are unknown.
func (x *explainer) unheard() string {
	if x.d.Flaws&gclog.FlawNoHeaps != 0 {
		return x.whyUnknown(
			"the histories of some heaps are missing (GCPerHeapHistory): the stream was truncated, or events were lost")
	}
	return x.whyUnknown("no heap histories were recorded (GCGlobalHeapHistory and GCPerHeapHistory)")
}

// collectionText names a collection by generation and kind, as far as these are known.
func collectionText(d *gclog.GCDetails) string {
	text := d.GenerationName() + " collection"
	if d.KindKnown() {
		text = d.Kind.String() + " " + text
	}
	return text
}

// nameText names a collection in sentences.
func nameText(d *gclog.GCDetails) string {
	if !d.Known.Has(gclog.GroupNumber) {
		return "a collection without a number"
	}
	return fmt.Sprintf("collection %d", d.Number)
}
