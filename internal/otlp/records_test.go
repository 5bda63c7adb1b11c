package otlp

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/google/go-cmp/cmp"
)

func pkcs8(key any) ([]byte, error) { return x509.MarshalPKCS8PrivateKey(key) }

// plainOf returns a value as encoding/json does.
func plainOf(v *common.AnyValue) any {
	switch x := v.Value.(type) {
	case *common.AnyValue_StringValue:
		return x.StringValue
	case *common.AnyValue_BoolValue:
		return x.BoolValue
	case *common.AnyValue_IntValue:
		return float64(x.IntValue)
	case *common.AnyValue_DoubleValue:
		return x.DoubleValue
	case *common.AnyValue_ArrayValue:
		list := []any{}
		for _, e := range x.ArrayValue.Values {
			list = append(list, plainOf(e))
		}
		return list
	case *common.AnyValue_KvlistValue:
		m := map[string]any{}
		for _, e := range x.KvlistValue.Values {
			m[e.Key] = plainOf(e.Value)
		}
		return m
	}
	return nil
}

// flat flattens nested objects.
func flat(to map[string]any, path string, v any) map[string]any {
	if m, ok := v.(map[string]any); ok {
		for name, v := range m {
			flat(to, strings.TrimPrefix(path+"."+name, "."), v)
		}
		return to
	}
	to[path] = v
	return to
}

// TestRecords: a log record has every field of its line, and each field has the same type in all of
// them.
func TestRecords(t *testing.T) {
	jsonFormat, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	pauses, made := 0, 0
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		in, err := history.Open([]string{tr.Path}, history.Options{})
		if err != nil {
			t.Skip(err)
		}
		defer in.Close()
		var log bytes.Buffer
		_ = in.ReadAll(func(known *gclog.Process) gclog.Observer { // damaged recordings end in an error
			return formats.NewWriter(jsonFormat, formats.NewStream(&log, false), formats.Options{Process: *known, Version: "1", Session: "s", Host: "h"}).Observe
		})
		n := 0
		for line := range bytes.Lines(log.Bytes()) {
			if bytes.Contains(line, []byte(`"gclog_file_id"`)) {
				continue // the header of a file
			}
			if n++; n > 40 && n%4 > 0 && bytes.Contains(line, []byte(`"action":"gc"`)) {
				continue // most collections of a long recording are alike
			}
			var whole map[string]any
			if err := json.Unmarshal(line, &whole); err != nil {
				t.Fatal(err)
			}
			want := flat(map[string]any{}, "", whole)
			r := logRecord(bytes.TrimSuffix(line, []byte("\n")), 5)
			got := map[string]any{
				"@timestamp": time.Unix(0, int64(r.TimeUnixNano)).UTC().Format("2006-01-02T15:04:05.000000000Z"),
				"log.level":  r.SeverityText, "message": plainOf(r.Body),
			}
			for _, a := range r.Attributes {
				got[a.Key] = plainOf(a.Value)
				kind := strings.TrimPrefix(strings.TrimPrefix(cmpType(a.Value), "*v1.AnyValue_"), "*")
				if before := types[a.Key]; before != "" && before != kind {
					t.Errorf("%s is %s and %s", a.Key, before, kind)
				}
				types[a.Key] = kind
			}
			if !reflect.DeepEqual(want, got) {
				t.Fatal(cmp.Diff(want, got))
			}
			if r.SeverityNumber == 0 || r.ObservedTimeUnixNano != 5 || r.EventName != "dotnet."+strings.NewReplacer("gc-", "gc.", "-", "_").Replace(want["event.action"].(string)) {
				t.Errorf("%v %v %v", r.SeverityNumber, r.ObservedTimeUnixNano, r.EventName)
			}
			parts, _ := want["dotnet.gc.pause.parts"].([]any)
			pauses += len(parts)
			if want["event.action"] == "gc-suspension" {
				pauses++
			}
			ids := map[string]bool{}
			for _, s := range spans(line) {
				made++
				if ids[string(s.SpanId)] || s.EndTimeUnixNano < s.StartTimeUnixNano || len(s.TraceId) != 16 {
					t.Errorf("%v", s)
				}
				ids[string(s.SpanId)] = true
			}
		}
	})
	if made != pauses || pauses == 0 {
		t.Errorf("%d spans of %d pauses", made, pauses)
	}
}

func cmpType(v *common.AnyValue) string {
	switch v.Value.(type) {
	case *common.AnyValue_StringValue:
		return "text"
	case *common.AnyValue_BoolValue:
		return "bool"
	case *common.AnyValue_IntValue:
		return "int"
	case *common.AnyValue_DoubleValue:
		return "double"
	case *common.AnyValue_ArrayValue:
		return "list"
	}
	return "other"
}

// TestNoRecord: what is no JSON object is left out.
func TestNoRecord(t *testing.T) {
	for _, line := range []string{"", "x", "[1]", `{"a":`, `{"a":[1,{"b":}]}`, `{"a":{"b":[`} {
		if r := logRecord([]byte(line), 1); r != nil || spans([]byte(line)) != nil {
			t.Errorf("%q: %v", line, r)
		}
	}
}
