package rules

import (
	"bytes"

	"github.com/gclog/gclog/formats"
)

// A line keeps the last group that is written to it.
type line struct{ b []byte }

// Write implements formats.Output.
func (l *line) Write(_ formats.Head, group []byte, _ bool) error {
	l.b = group
	return nil
}

// Record returns what the rule fired for as a JSON object: the line of a log, without its end. A
// finding, which no log contains, is that of gclog summary -f json, with the process.
func (f *Firing) Record() []byte {
	v := f.values
	format, err := formats.Find("json")
	if err != nil { // cannot happen
		return nil
	}
	o := *f.format
	o.Process = *f.Process
	var out line
	w := formats.NewWriter(format, &out, o)
	switch {
	case v.finding != nil:
		return f.finding()
	case v.gc != nil: // the record of a collection has its pauses
		w.Observe(v.gc)
	default:
		w.Observe(v.record)
	}
	return bytes.TrimSuffix(bytes.Clone(out.b), []byte("\n"))
}

func (f *Firing) finding() []byte {
	type object map[string]any
	p := f.Process
	process := object{"pid": p.ID}
	for name, text := range map[string]string{"entity_id": p.Cookie, "name": p.Name} {
		if text != "" {
			process[name] = text
		}
	}
	o := object{
		"@timestamp": f.Time.UTC().Format("2006-01-02T15:04:05.000000000Z"),
		"message":    f.Text(),
		"event":      object{"action": "gc-finding", "module": "dotnet", "dataset": "dotnet.gc"},
		"process":    process,
		"dotnet":     object{"gc": object{"finding": f.values.finding}},
	}
	if p.Service != "" {
		o["service"] = object{"name": p.Service}
	}
	var b bytes.Buffer
	e := formats.NewJSONEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(o) // plain data
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
