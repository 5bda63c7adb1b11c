package screen_test

import (
	"os"
	"slices"

	"github.com/gclog/gclog/formats/screen"
)

func ExamplePrint() {
	columns := []screen.Column{{Title: "GC", Right: true}, {Title: "reason", Width: 6, Cut: true}, {Title: "ms", Right: true}}
	rows := [][]string{{"9", "AllocSmall", "1.5"}, {"10", "Induced", "12.0"}}
	_ = screen.Print(os.Stdout, 16, columns, slices.Values(rows), nil)
	// Output:
	// GC  reason    ms
	//  9  Alloc…   1.5
	// 10  Induc…  12.0
}
