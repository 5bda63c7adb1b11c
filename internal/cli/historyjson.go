package cli

import (
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/history"
)

// What the commands that analyse histories print in JSON. Names are those of the records in JSON
// logs; they are part of gclog's compatibility promise.

// historyJSON describes the subject of a result.
type historyJSON struct {
	Event   eventJSON   `json:"event"`
	Files   []string    `json:"files,omitempty"` // none if the process was watched
	Process processJSON `json:"process"`
	Dotnet  dotnetJSON  `json:"dotnet"`
	Gclog   versionJSON `json:"gclog"`
	// Verdict is that of a summary or a check, or of all that pauses --at has read.
	Verdict *analysis.Verdict `json:"verdict,omitempty"`
}

type eventJSON struct {
	Action   string `json:"action"`
	Start    string `json:"start"`
	End      string `json:"end"`
	Duration int64  `json:"duration"` // nanoseconds
}

type processJSON struct {
	PID         int64  `json:"pid"`
	EntityID    string `json:"entity_id,omitempty"`
	Name        string `json:"name,omitempty"`
	Executable  string `json:"executable,omitempty"`
	CommandLine string `json:"command_line,omitempty"`
	endJSON
}

// endJSON is how a process ended, if that is known.
type endJSON struct {
	End        string `json:"end,omitempty"`
	EndReason  string `json:"end_reason,omitempty"` // as event.reason in records
	ExitCode   *int   `json:"exit_code,omitempty"`
	ExitSignal int    `json:"exit_signal,omitempty"`
}

func newEndJSON(h *history.History) (j endJSON) {
	if e := h.Ended; e != nil {
		j = endJSON{End: timeJSON(h.Process.Time(e.At)), EndReason: e.Reason.String(), ExitSignal: e.Signal}
		if e.HasCode {
			j.ExitCode = &e.ExitCode
		}
	}
	return j
}

type versionJSON struct {
	Version string `json:"version"`
	Schema  string `json:"schema"`
}

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

// printIndented prints a value as JSON for people too.
func (p *program) printIndented(v any) error {
	e := formats.NewJSONEncoder(p.out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printJSON prints a value as one line.
func (p *program) printJSON(v any) error {
	return newEncoder(p.out).Encode(v)
}

func (p *program) historyJSON(h *history.History, action string, w analysis.Window, gc any) *historyJSON {
	x := h.Process
	return &historyJSON{
		Event:   eventJSON{action, timeJSON(x.Time(w.From)), timeJSON(x.Time(w.To)), w.To - w.From},
		Files:   h.Names,
		Process: processJSON{x.ID, x.Cookie, x.Name, x.Executable, x.CommandLine, newEndJSON(h)},
		Dotnet: dotnetJSON{
			Runtime: runtimeJSON{x.Flavor, x.RuntimeVersion, knownJSON(x.Server), knownJSON(x.Concurrent), x.HeapCount},
			GC:      gc,
		},
		Gclog: versionJSON{p.version(), formats.Schema},
	}
}

// timeJSON formats a time like records do: such times sort as text.
func timeJSON(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") }

func knownJSON(k gclog.Known) *bool {
	if k == gclog.Unknown {
		return nil
	}
	yes := k == gclog.Yes
	return &yes
}

// with adds the verdict, which comes first.
func (j *historyJSON) with(a *assessment) *historyJSON {
	v := a.findings.Verdict()
	j.Verdict = &v
	return j
}

// printVerdict prints the verdict as a paragraph.
func (p *program) printVerdict(f *analysis.Findings) {
	v := f.Verdict()
	wrapped(p.out, screen.TextWidth(p.stdout), 0, oneLine(v.Sentence()))
}
