package fields_test

import (
	"fmt"

	"github.com/gclog/gclog/formats/fields"
)

// What is in a column of csv, and where do JSON records have it?
func ExampleColumn() {
	f := fields.Column("Reason")
	fmt.Printf("dotnet.gc.%s: %s\n", f.JSON, f.Doc)
	// Output: dotnet.gc.reason: why the collection was started
}
