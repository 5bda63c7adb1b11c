package accesslog

import (
	"fmt"
	"strings"
)

// A FormatError reports that the log cannot be joined as it is.
type FormatError struct{ What string }

func (e *FormatError) Error() string { return e.What }

// A FieldError reports that no row has a field, and which fields there are.
type FieldError struct {
	Field string
	There []string
	csv   bool
}

func (e *FieldError) Error() string {
	if e.csv {
		return fmt.Sprintf(
			"it is read as CSV, because it does not start with {, and it has no column %q; its columns are %s",
			e.Field, listed(e.There))
	}
	return fmt.Sprintf("no row has the field %q; the fields are %s", e.Field, listed(e.There))
}

// listed lists the first names, of which there may be many, with any content.
func listed(names []string) string {
	const most, longest = 30, 60
	if len(names) == 0 {
		return "none"
	}
	var b strings.Builder
	for i, name := range names[:min(len(names), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strings.ReplaceAll(name[:min(len(name), longest)], "\n", " "))
	}
	if len(names) > most {
		fmt.Fprintf(&b, " and %d more", len(names)-most)
	}
	return b.String()
}

// A ValueError reports that no row has a value that can be parsed.
type ValueError struct{ What string }

func (e *ValueError) Error() string { return e.What }
