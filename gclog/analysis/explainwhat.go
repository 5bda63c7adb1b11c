package analysis

import (
	"fmt"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
)

// what identifies the collection.
func (x *explainer) what() {
	d := x.d
	x.e.Title = fmt.Sprintf("%s: %s", upperFirst(nameText(d)), collectionText(d))
	if d.Known.Has(gclog.GroupReason) {
		x.e.Title += ", " + d.Reason.String()
	}
	if len(d.Pauses) > 0 {
		x.e.Title += ", paused for " + timeText(d.Pause())
	}
	if !d.Known.Has(gclog.GroupNumber) {
		x.lacks("its number", x.whyUnknown("it started before the session, and its end was not recorded"))
	}
	if !d.KindKnown() {
		x.lacks("whether it was blocking, background or foreground", x.whyUnknown("it started before the session"))
	}
	x.oddities()
	x.when()
	x.where()
	x.complete()
}

// oddities reports what was special about it.
func (x *explainer) oddities() {
	d := x.d
	if d.DemotedBGC {
		x.say(&x.e.What, "demoted", "It was started as a background collection but ran as a blocking one, as the "+
			"first one of a process often does.")
	}
	if d.InsideBGCStart {
		x.say(&x.e.What, "inside-background-start",
			"It ran in the first suspension of a background collection, before that one continued.")
	}
	if d.Provisional {
		x.say(&x.e.What, "provisional",
			"It is the full collection of provisional mode: it followed a gen1 in the same suspension.")
	}
	if d.HeapDump {
		x.say(&x.e.What, "heap-dump", "It is the collection of a heap snapshot: its pause includes a walk of the "+
			"whole heap. Findings leave it out.",
			textFact("dotnet.gc.heap_dump_by", d.HeapDumpBy.String()))
	}
}

// when reports the time: as wall-clock time, which logs have too, and as an offset, which --since
// and --until accept.
func (x *explainer) when() {
	d := x.d
	if d.Flaws&gclog.FlawNoStart != 0 && len(d.Pauses) == 0 {
		x.lacks("when it started", "it started before the session")
		if !d.Known.Has(gclog.GroupEnd) {
			return
		}
		text, facts := x.moment(d.End)
		x.say(&x.e.What, "time", "It ended"+text+".", facts...)
		return
	}
	moment, facts := x.moment(d.PauseStart())
	text := "It started" + moment
	known := d.Known.Has(gclog.GroupEnd) && d.Flaws&(gclog.FlawNoStart|gclog.FlawTime) == 0
	if known && d.End >= d.Start && d.Duration() >= 0 {
		facts = append(facts, timeFact("event.duration", d.Duration()))
		if d.Kind == gclog.KindBackground {
			text += ", and lasted " + timeText(d.Duration()) + ", mostly while the program was running"
		}
	}
	x.say(&x.e.What, "time", text+".", facts...)
}

// moment formats a time stamp, in the zone of the process's Sync.
func (x *explainer) moment(at int64) (text string, facts []Fact) {
	var parts []string
	if p := x.c.Process; p != nil && p.Dated() {
		t := p.Time(at)
		parts = append(parts, " at "+t.Format("2006-01-02 15:04:05.000000 MST"))
		facts = append(facts, textFact("@timestamp", t.Format(time.RFC3339Nano)))
	}
	if x.c.HasBegin {
		offset, side := x.offset(at), "after"
		facts = append(facts, timeFact("offset", offset))
		if offset < 0 {
			offset, side = -offset, "before"
		}
		parts = append(parts, fmt.Sprintf(" %s %s the start of the observation", durationText(offset), side))
	}
	return strings.Join(parts, ","), facts
}

// offset returns the time since the start.
func (x *explainer) offset(at int64) float64 { return float64(at) - float64(x.c.Begin) }

// where identifies the process.
func (x *explainer) where() {
	p := x.c.Process
	if p == nil {
		return
	}
	var parts []string
	var facts []Fact
	name := p.Name
	if name == "" {
		name = p.Service
	}
	if name != "" {
		facts = append(facts, textFact("process.name", name))
	}
	switch {
	case p.ID != 0:
		facts = append(facts, countFact("process.pid", p.ID))
		if name != "" {
			name = " (" + name + ")"
		}
		parts = append(parts, fmt.Sprintf("process %d%s", p.ID, name))
	case name != "":
		parts = append(parts, "process "+name)
	}
	if p.RuntimeVersion != "" {
		parts = append(parts, ".NET "+p.RuntimeVersion)
		facts = append(facts, textFact("dotnet.runtime.version", p.RuntimeVersion))
	}
	switch p.Server {
	case gclog.Yes:
		parts = append(parts, "server GC")
	case gclog.No:
		parts = append(parts, "workstation GC")
	}
	if p.Server != gclog.Unknown {
		facts = append(facts, textFact("dotnet.gc.server", p.Server.String()))
	}
	if n := x.d.HeapCount(); n > 0 {
		parts = append(parts, plural(uint64(n), "heap"))
		facts = append(facts, countFact("dotnet.gc.heap_count", n))
	}
	up := ""
	switch {
	case x.c.Log == "unified":
		x.lacks("how long the process had been up", "the uptimes in the log count from the start of the process, or "+
			"of the recording that the log was converted from")
	case p.UptimeAtSync > 0:
		uptime := p.Uptime(x.d.PauseStart()).Round(time.Second)
		up = "up for " + uptime.String()
		facts = append(facts, timeFact("process.uptime", int64(uptime)))
	}
	switch {
	case len(parts) == 0 && up != "":
		x.say(&x.e.What, "process", "The process was "+up+".", facts...)
	case len(parts) > 0:
		if up != "" {
			parts = append(parts, up)
		}
		x.say(&x.e.What, "process", upperFirst(strings.Join(parts, ", "))+".", facts...)
	}
}

// flawTexts are the flaws in words, in the order of their bits.
var flawTexts = []string{
	"it started before the session", "the start of its suspension was not recorded", "its end was not recorded",
	"its sizes were not recorded", "the end of its suspension was not recorded",
	"the runtime dropped events while it ran", "its times go backwards: the stream is damaged",
	"the histories of some heaps are missing", "the session ended before it did",
}

// complete reports whether it was seen completely.
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
		parts = append(parts, "for an unknown reason")
	}
	var facts []Fact
	if d.LostEvents > 0 {
		facts = append(facts, countFact("dotnet.gc.lost_events", d.LostEvents))
	}
	x.because(&x.e.What, "complete", "The record is incomplete: "+strings.Join(parts, "; ")+".", d.Flaws.Names(nil),
		facts...)
}
