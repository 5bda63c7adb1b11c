package stacks_test

import (
	"compress/gzip"
	"fmt"
	"os"

	"github.com/gclog/gclog/gclog/stacks"
)

// Who allocates most.
func Example() {
	p, err := readFile("testdata/net11-svr-alloc.nettrace.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range p.Allocations[:3] {
		share, margin := p.Share(a.Estimate)
		fmt.Printf("%2.0f ± %.0f %%  %-24s %s\n", 100*share, 100*margin, stacks.ReadableType(p.Types[a.Type]),
			p.Frames[p.AllocatedIn(a.Stack)].String())
	}
	// Output:
	// 35 ± 3 %  byte[]                   GcLoad.Shop.Buffers.Fill
	// 21 ± 2 %  GcLoad.Shop.CartLine[]   GcLoad.Shop.Cart.Lines
	// 11 ± 2 %  GcLoad.Shop.CartLine     GcLoad.Shop.Cart.Line
}

// Who asks for collections.
func ExampleProfile_Caller() {
	p, err := readFile("testdata/core31-wks-callers.nettrace.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range p.Calls[:3] {
		c := &p.Calls[i]
		path, method := p.Caller(c)
		fmt.Println(c.Count, method, c.Reason, "by", p.Frames[path[len(path)-1]].String())
	}
	// Output:
	// 100 GC.Collect Induced by GcLoad.Shop.Ticker.Tick
	// 30 GC.Collect Induced by GcLoad.Shop.Cache.Shrink
	// 26 GC.Collect Induced by GcLoad.Shop.Ticker.Tick
}

func readFile(name string) (*stacks.Profile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return stacks.Read(z)
}
