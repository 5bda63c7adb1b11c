package analysis

import (
	"fmt"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
)

// what says which collection it was.
func (x *explainer) what() {
	d := x.d
	x.e.Title = fmt.Sprintf("%s: %s", upperFirst(nameText(d)), collectionText(d))
	if d.HasReason {
		x.e.Title += ", " + d.Reason.String()
	}
	if len(d.Pauses) > 0 {
		x.e.Title += ", the program stood for " + timeText(d.Pause())
	}
	if !d.HasNumber {
		x.lacks("its number", x.untold("it began before the session, and its end was not seen"))
	}
	if d.Counted {
		x.lacks("its number", "the log has none: the collections in it were counted")
	}
	if d.Young {
		x.lacks("whether it was gen0 or gen1", young)
	}
	x.oddities()
	x.when()
	x.where()
	x.complete()
}

// oddities say what is special about the way it was carried out.
func (x *explainer) oddities() {
	d := x.d
	if d.DemotedBGC {
		x.say(&x.e.What, "demoted", "It was started as a background collection and then run as a blocking one, as the first of a process often is.")
	}
	if d.InsideBGCStart {
		x.say(&x.e.What, "inside-background-start", "It ran in the first suspension of a background collection, before that one went on.")
	}
	if d.Provisional {
		x.say(&x.e.What, "provisional", "It is the full collection of provisional mode: it followed a gen1 in the same suspension.")
	}
	if d.HeapDump {
		x.say(&x.e.What, "heap-dump", "Its pause holds a walk of the whole heap, for a snapshot or a profiler.")
	}
}

// when says when it was: in wall-clock time, which logs have too, and as an offset, which
// --since and --until take.
func (x *explainer) when() {
	d := x.d
	if d.Flaws&gclog.FlawNoStart != 0 && len(d.Pauses) == 0 {
		x.lacks("when it began", "it began before the session")
		if !d.HasEnd {
			return
		}
		x.say(&x.e.What, "time", "It ended"+x.moment(d.End)+".")
		return
	}
	at := d.PauseStart()
	text := "It began" + x.moment(at)
	var facts []Fact
	if x.c.HasBegin {
		facts = append(facts, Fact{"offset", x.offset(at), "ns"})
	}
	if d.HasEnd && d.Flaws&(gclog.FlawNoStart|gclog.FlawTime) == 0 && d.End >= d.Start && d.Duration() >= 0 {
		facts = append(facts, Fact{"event.duration", float64(d.Duration()), "ns"})
		if d.Kind == gclog.KindBackground {
			text += ", and lasted " + timeText(d.Duration()) + ", mostly while the program ran"
		}
	}
	x.say(&x.e.What, "time", text+".", facts...)
}

// moment is a time stamp for people, in the zone of the process's Sync.
func (x *explainer) moment(at int64) string {
	var parts []string
	if p := x.c.Process; p != nil && !p.Sync.IsZero() {
		parts = append(parts, " at "+p.Time(at).Format("2006-01-02 15:04:05.000000 MST"))
	}
	if x.c.HasBegin {
		offset, side := x.offset(at), "after"
		if offset < 0 {
			offset, side = -offset, "before"
		}
		parts = append(parts, fmt.Sprintf(" %s %s the begin of what was seen", durationText(offset), side))
	}
	return strings.Join(parts, ",")
}

// offset is how long after the begin something was.
func (x *explainer) offset(at int64) float64 { return float64(at) - float64(x.c.Begin) }

// where says of which process it was.
func (x *explainer) where() {
	p := x.c.Process
	if p == nil {
		return
	}
	var parts []string
	if p.ID != 0 {
		name := p.Name
		if name == "" {
			name = p.Service
		}
		if name != "" {
			name = " (" + name + ")"
		}
		parts = append(parts, fmt.Sprintf("process %d%s", p.ID, name))
	} else if p.Name != "" {
		parts = append(parts, "process "+p.Name)
	}
	if p.RuntimeVersion != "" {
		parts = append(parts, ".NET "+p.RuntimeVersion)
	}
	switch p.Server {
	case gclog.Yes:
		parts = append(parts, "server GC")
	case gclog.No:
		parts = append(parts, "workstation GC")
	}
	if n := x.d.HeapCount(); n > 0 {
		parts = append(parts, plural(uint64(n), "heap"))
	}
	up := ""
	switch {
	case x.c.Log == "unified" || x.c.Log == "jdk8":
		x.lacks("how long the process had been up", "the uptimes of the log count from the begin of the process, or of the recording that it was made of")
	case p.UptimeAtSync > 0:
		up = "up for " + p.Uptime(x.d.PauseStart()).Round(time.Second).String()
	}
	switch {
	case len(parts) == 0 && up != "":
		x.say(&x.e.What, "process", "The process was "+up+".")
	case len(parts) > 0:
		if up != "" {
			parts = append(parts, up)
		}
		x.say(&x.e.What, "process", "It is of "+strings.Join(parts, ", ")+".")
	}
}

// flawTexts are the flaws in words, in the order of their bits.
var flawTexts = []string{
	"it began before the session", "the begin of its suspension was not seen", "its end was not seen",
	"its sizes were not told", "the end of its suspension was not seen", "the runtime dropped events while it was under way",
	"its times go back: the stream is damaged", "not all heaps told their history",
}

// complete says whether all of it was seen.
func (x *explainer) complete() {
	d := x.d
	if d.Complete && d.Flaws == 0 {
		x.say(&x.e.What, "complete", "The record is complete.")
		return
	}
	var parts []string
	for i, text := range flawTexts {
		if d.Flaws&(1<<i) != 0 {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "why is not said")
	}
	var facts []Fact
	if d.LostEvents > 0 {
		facts = append(facts, Fact{"dotnet.gc.lost_events", float64(d.LostEvents), ""})
	}
	x.say(&x.e.What, "complete", "The record is not complete: "+strings.Join(parts, "; ")+".", facts...)
}
