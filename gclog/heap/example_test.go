package heap_test

import (
	"compress/gzip"
	"fmt"
	"os"

	"github.com/gclog/gclog/gclog/heap"
)

// readFile reads the snapshot in a .gcdump file, or in a recording that was compressed.
func readFile(name string) (*heap.Graph, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if z, err := gzip.NewReader(f); err == nil {
		g, err := heap.Read(z)
		if g != nil && g.Walk.Complete() {
			return g, nil // a recording may be cut off after the walk
		}
		return nil, err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return nil, err
	}
	g, _, err := heap.ReadDump(f)
	return g, err
}

// The ten types that grew most between two files.
func ExampleCompare() {
	before, err := readFile("testdata/golden-tiny.gcdump")
	if err != nil {
		fmt.Println(err)
		return
	}
	after, err := readFile("testdata/small.gcdump")
	if err != nil {
		fmt.Println(err)
		return
	}
	growth := heap.Compare(before.Histogram(), after.Histogram())
	for _, g := range growth[:min(len(growth), 10)] {
		fmt.Printf("%+d bytes in %+d objects: %s\n", g.Bytes(), g.Objects(), g.Name)
	}
	// Output:
	// +311968 bytes in +30 objects: System.Byte[]
	// +150896 bytes in +2521 objects: System.String
	// +96336 bytes in +2007 objects: My.App.Node
	// +49344 bytes in +1016 objects: System.Object[]
	// +46368 bytes in +1 objects: Entry<System.String, My.App.Node>[]
	// +40240 bytes in +1006 objects: My.App.Leaf
	// +11480 bytes in +16 objects: System.Int32[]
	// +8856 bytes in +5 objects: System.Char[]
	// +5424 bytes in +226 objects: System.Reflection.Emit.OpCode
	// +3448 bytes in +16 objects: System.String[]
}

// What holds the objects of a type, and how much they retain.
func ExampleGraph_Paths() {
	g, err := readFile("testdata/small.nettrace.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	leaf := func(o heap.Object) bool { return g.Types[g.Type(o)].Name == "My.App.Leaf" }
	fmt.Println(g.RetainedSet(leaf).Bytes, "bytes are retained")
	branches, _ := g.Paths().Merge(leaf)
	for _, b := range branches[:2] {
		fmt.Printf("%d objects: %s, %s\n", b.Targets.Objects, b.Holder, &g.Types[b.Type])
	}
	// Output:
	// 40328 bytes are retained
	// 1000 objects: static s_head, My.App.Node
	// 1 objects: static s_pt, My.App.Pt
}

// The objects that retain most.
func ExampleGraph_Dominators() {
	g, err := readFile("testdata/small.nettrace.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	d := g.Dominators()
	most := heap.Object(0)
	for o := range d.All {
		if d.Retained(o) > d.Retained(most) {
			most = o
		}
	}
	fmt.Printf("0x%x, %s, retains %d bytes\n", g.Address(most), &g.Types[g.Type(most)], d.Retained(most))
	// Output:
	// 0x7ee01689a380, System.Object[], retains 206224 bytes
}
