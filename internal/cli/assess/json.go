package assess

import (
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/view"
)

// What the commands that analyse histories print in JSON. Names are those of the records in JSON
// logs; they are part of gclog's compatibility promise.

// JSON describes the subject of a result.
type JSON struct {
	Event   Event      `json:"event"`
	Files   []string   `json:"files,omitempty"` // none if the process was watched
	Process Process    `json:"process"`
	Dotnet  dotnetJSON `json:"dotnet"`
	Gclog   Version    `json:"gclog"`
	// Verdict is that of a summary or a check, or of all that pauses --at has read.
	Verdict *analysis.Verdict `json:"verdict,omitempty"`
}

// An Event is what a result is about: what was done, and the time that it covers.
type Event struct {
	Action   string `json:"action"`
	Start    string `json:"start"`
	End      string `json:"end"`
	Duration int64  `json:"duration"` // nanoseconds
}

// A Process is the process that a result is about.
type Process struct {
	PID         int64  `json:"pid"`
	EntityID    string `json:"entity_id,omitempty"`
	Name        string `json:"name,omitempty"`
	Executable  string `json:"executable,omitempty"`
	CommandLine string `json:"command_line,omitempty"`
	End
}

// End is how a process ended, if that is known.
type End struct {
	End        string `json:"end,omitempty"`
	EndReason  string `json:"end_reason,omitempty"` // as event.reason in records
	ExitCode   *int   `json:"exit_code,omitempty"`
	ExitSignal int    `json:"exit_signal,omitempty"`
}

// NewEnd returns how the process of a history ended.
func NewEnd(h *history.History) (j End) {
	if e := h.Ended; e != nil {
		j = End{End: Time(h.Process.Time(e.At)), EndReason: e.Reason.String(), ExitSignal: e.Signal}
		if e.HasCode {
			j.ExitCode = &e.ExitCode
		}
	}
	return j
}

// A Version is that of gclog, and that of its JSON.
type Version struct {
	Version string `json:"version"`
	Schema  string `json:"schema"`
}

// NewVersion returns the version of gclog, and that of its JSON.
func NewVersion(p *program.Run) Version { return Version{p.Version, formats.Schema} }

type dotnetJSON struct {
	Runtime runtimeJSON `json:"runtime"`
	GC      any         `json:"gc"`
}

type runtimeJSON struct {
	Name       string `json:"name,omitempty"`
	Version    string `json:"version,omitempty"`
	ServerGC   *bool  `json:"server_gc,omitempty"`
	Concurrent *bool  `json:"concurrent_gc,omitempty"`
	HeapCount  int    `json:"heap_count,omitempty"`
}

// NewJSON describes a history, with the result of an action.
func NewJSON(p *program.Run, h *history.History, action string, w analysis.Window, gc any) *JSON {
	x := h.Process
	return &JSON{
		Event:   Event{action, Time(x.Time(w.From)), Time(x.Time(w.To)), w.To - w.From},
		Files:   h.Names,
		Process: Process{x.ID, x.Cookie, x.Name, x.Executable, x.CommandLine, NewEnd(h)},
		Dotnet: dotnetJSON{
			Runtime: runtimeJSON{x.Flavor, x.RuntimeVersion, knownJSON(x.Server), knownJSON(x.Concurrent), x.HeapCount},
			GC:      gc,
		},
		Gclog: NewVersion(p),
	}
}

// Time formats a time like records do: such times sort as text.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") }

func knownJSON(k gclog.Known) *bool {
	if k == gclog.Unknown {
		return nil
	}
	yes := k == gclog.Yes
	return &yes
}

// With adds the verdict, which comes first.
func (j *JSON) With(v analysis.Verdict) *JSON {
	j.Verdict = &v
	return j
}

// PrintVerdict prints the verdict as a paragraph.
func PrintVerdict(p *program.Run, f *analysis.Findings) {
	v := f.Verdict()
	view.Wrapped(p.Out, screen.TextWidth(p.Unfiltered), 0, view.OneLine(v.Sentence()))
}
