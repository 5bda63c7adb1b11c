package history

import "time"

// A Zone is the time zone in which times without a zone are read and shown: UTC, as in logs, unless
// the user chose another one.
type Zone struct {
	Local *time.Location // nil: UTC
	From  string         // what chose it; "" for UTC
}

func (z Zone) location() *time.Location {
	if z.Local == nil {
		return time.UTC
	}
	return z.Local
}

// text names the zone in a sentence.
func (z Zone) text() string {
	switch {
	case z.From == "":
		return "UTC"
	case z.Local == time.Local:
		return "those of this host (--local)"
	}
	return "those of " + z.Local.String() + " (" + z.From + ")"
}
