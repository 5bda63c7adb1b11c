package heap

import (
	"encoding/json"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cli/lists"
)

// TestStatJSON: a type has all generations, or none if they are unknown, and always a module.
func TestStatJSON(t *testing.T) {
	h := &heap.Histogram{
		PointerSize: 8, Modules: heap.Modules{1: "/app/shop.dll"},
		Types:  []heap.Type{{Name: "Shop.Cart", Module: 1}, {Name: "T"}},
		Counts: make([]heap.TypeCount, 2),
	}
	h.Counts[0] = heap.TypeCount{Count: heap.Count{Objects: 3, Bytes: 72}, RawBytes: 66}
	h.Counts[0].Generations[heap.Gen0] = heap.Count{Objects: 1, Bytes: 24}
	h.Counts[0].Generations[heap.Frozen] = heap.Count{Objects: 2, Bytes: 48}
	h.Counts[1] = heap.TypeCount{Count: heap.Count{Objects: 1, Bytes: 24}, RawBytes: 24}
	h.Counts[1].Generations[heap.UnknownGeneration] = heap.Count{Objects: 1, Bytes: 24}
	b, err := json.Marshal(newStatJSON(h, "type", lists.Objects(statColumns(h, &selection{}, "type"), statRows(h, "type"))))
	const zero = `{"objects":0,"bytes":0}`
	want := `{"objects":4,"bytes":96,"raw_bytes":90,"unreachable":null,"complete":true,"types":[` +
		`{"name":"Shop.Cart","objects":3,"bytes":72,"raw_bytes":66,"module":"/app/shop.dll","generations":{"gen0":{"objects":1,"bytes":24},` +
		`"gen1":` + zero + `,"gen2":` + zero + `,"loh":` + zero + `,"poh":` + zero + `,"frozen":{"objects":2,"bytes":48}}},` +
		`{"name":"T","objects":1,"bytes":24,"raw_bytes":24,"module":"","generations":{"unknown":{"objects":1,"bytes":24}}}]}`
	if err != nil || string(b) != want {
		t.Errorf("%v:\n%s\nwant\n%s", err, b, want)
	}
}
