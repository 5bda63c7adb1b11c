package otlp

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	logs "go.opentelemetry.io/proto/slim/otlp/logs/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
)

// Records are sent as what the json format makes of them, so that no field can have another name or
// value here: objects are flattened, the message is the body, and time and level are those of the
// log record.

// A source is a process whose records are sent, as it is known.
type source struct{ resource *resource.Resource }

// The severities of levels.
var severities = map[string]logs.SeverityNumber{
	"info": logs.SeverityNumber_SEVERITY_NUMBER_INFO,
	"warn": logs.SeverityNumber_SEVERITY_NUMBER_WARN,
}

// logRecord makes a log record of a line; nil if it is none of ours.
func logRecord(line []byte, now uint64) *logs.LogRecord {
	r := &logs.LogRecord{ObservedTimeUnixNano: now}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	flat := flattener{d: d, to: func(name string, v *common.AnyValue) {
		switch name {
		case "@timestamp":
			if at, err := time.Parse(time.RFC3339Nano, v.GetStringValue()); err == nil {
				r.TimeUnixNano = uint64(at.UnixNano())
			}
		case "log.level":
			r.SeverityText = v.GetStringValue()
			r.SeverityNumber = severities[r.SeverityText]
		case "message":
			r.Body = v
		default:
			r.Attributes = append(r.Attributes, &common.KeyValue{Key: name, Value: v})
			if name == "event.action" {
				r.EventName = eventName(v.GetStringValue())
			}
		}
	}}
	if flat.object("") != nil {
		return nil
	}
	return r
}

// eventName returns the name of an event: dotnet.gc, or dotnet.gc.session_start and the like.
func eventName(action string) string {
	rest, of := strings.CutPrefix(action, "gc-")
	if !of {
		return "dotnet.gc"
	}
	return "dotnet.gc." + strings.ReplaceAll(rest, "-", "_")
}

// A flattener passes on the values of nested objects, each with its path.
type flattener struct {
	d  *json.Decoder
	to func(name string, v *common.AnyValue)
}

// object reads an object behind its brace.
func (f *flattener) object(path string) error {
	for f.d.More() {
		key, err := f.d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		if path != "" {
			name = path + "." + name
		}
		t, err := f.d.Token()
		if err != nil {
			return err
		}
		if t == json.Delim('{') {
			if err := f.object(name); err != nil {
				return err
			}
			continue
		}
		v, err := f.value(t)
		if err != nil {
			return err
		}
		f.to(name, v)
	}
	_, err := f.d.Token()
	return err
}

// value returns the value that begins with a token. Objects in lists stay as they are.
func (f *flattener) value(t json.Token) (*common.AnyValue, error) {
	switch t := t.(type) {
	case string:
		return text(t), nil
	case bool:
		return &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: t}}, nil
	case json.Number:
		return number(t.String()), nil
	case json.Delim:
		if t == '[' {
			list := &common.ArrayValue{}
			for f.d.More() {
				element, err := f.d.Token()
				if err != nil {
					return nil, err
				}
				v, err := f.value(element)
				if err != nil {
					return nil, err
				}
				list.Values = append(list.Values, v)
			}
			_, err := f.d.Token()
			return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: list}}, err
		}
		members := &common.KeyValueList{}
		for f.d.More() {
			key, err := f.d.Token()
			if err != nil {
				return nil, err
			}
			t, err := f.d.Token()
			if err != nil {
				return nil, err
			}
			v, err := f.value(t)
			if err != nil {
				return nil, err
			}
			name, _ := key.(string)
			members.Values = append(members.Values, &common.KeyValue{Key: name, Value: v})
		}
		_, err := f.d.Token()
		return &common.AnyValue{Value: &common.AnyValue_KvlistValue{KvlistValue: members}}, err
	}
	return &common.AnyValue{}, nil // null
}

// number returns an integer, or a float if it is written with a point or does not fit.
func number(s string) *common.AnyValue {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return integer(n)
	}
	v, _ := strconv.ParseFloat(s, 64)
	return &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: v}}
}

// spans makes a span of each pause in a record. Its trace is that of the record's id.
func spans(line []byte) (list []*trace.Span) {
	var r struct {
		ID    string `json:"gclog_doc_id"`
		Event struct {
			Action, Start string
			Duration      int64
		}
		Dotnet struct {
			GC struct {
				Number     uint64
				Generation int64
				Type       string
				Reason     string
				Pause      struct {
					Parts []struct {
						Start string
						NS    int64
						Kind  string
					}
				}
				Suspension struct{ Kind string }
			}
		}
	}
	id := make([]byte, 16)
	if json.Unmarshal(line, &r) != nil || len(r.ID) != 32 {
		return nil
	}
	if _, err := hex.Decode(id, []byte(r.ID)); err != nil {
		return nil
	}
	gc := &r.Dotnet.GC
	add := func(name, start string, ns int64, more ...*common.KeyValue) {
		at, err := time.Parse(time.RFC3339Nano, start)
		if err != nil {
			return
		}
		own := bytes.Clone(id[8:])
		own[7] ^= byte(len(list) + 1)
		list = append(list, &trace.Span{
			TraceId: id, SpanId: own, Name: name, Kind: trace.Span_SPAN_KIND_INTERNAL,
			StartTimeUnixNano: uint64(at.UnixNano()), EndTimeUnixNano: uint64(at.UnixNano() + max(0, ns)),
			Attributes: more,
		})
	}
	attribute := func(name string, v *common.AnyValue) *common.KeyValue {
		return &common.KeyValue{Key: "dotnet.gc." + name, Value: v}
	}
	switch r.Event.Action {
	case "gc":
		for _, part := range gc.Pause.Parts {
			add("dotnet.gc.pause", part.Start, part.NS,
				attribute("number", integer(int64(gc.Number))), attribute("generation", integer(gc.Generation)),
				attribute("type", text(gc.Type)),
				attribute("reason", text(gc.Reason)), attribute("pause.kind", text(part.Kind)))
		}
	case "gc-suspension":
		add("dotnet.gc.suspension", r.Event.Start, r.Event.Duration,
			attribute("suspension.kind", text(gc.Suspension.Kind)))
	}
	return list
}

func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
