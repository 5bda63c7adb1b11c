package heap_test

import (
	"compress/gzip"
	"fmt"
	"os"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
)

func TestScratch(t *testing.T) {
	for _, n := range []string{"small", "notypes", "rundown", "three-walks", "app9-ranges", "app10", "core31-wks-graph", "net8-svr-graph", "net10-wks-graph"} {
		f, err := os.Open("/work/shared/heap-traces/" + n + ".nettrace.gz")
		if err != nil {
			t.Fatal(err)
		}
		z, _ := gzip.NewReader(f)
		g, err := heap.Read(z)
		if g == nil {
			t.Error(n, err)
			continue
		}
		gens := map[heap.Generation]int{}
		for o := range g.Len() {
			gens[g.Generation(heap.Object(o))]++
		}
		fmt.Printf("%s %d %d roots %d statics %d types %d (%d unknown) dep %d %v %+v %v\n", n, g.Len(), g.NumReferences(), len(g.Roots), len(g.Statics), len(g.Types), g.UnknownTypes(), len(g.Dependents), gens, g.Walk, err)
	}
}
