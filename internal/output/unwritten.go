package output

import (
	"fmt"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/cause"
)

// Unwritten is what an output lacks because it cannot be written, as on a full disk, and of which there
// is no gap in it: that is written as soon as there is room.
type Unwritten struct {
	Path        string  `json:"path"`
	Records     uint64  `json:"records"`
	Collections []Range `json:"collections,omitempty"` // collections without a record there
	Error       string  `json:"error"`                 // why it cannot be written
}

// A Range is collections with consecutive numbers.
type Range struct {
	From uint32 `json:"from"`
	To   uint32 `json:"to"`
}

// unwritten returns what the output lacks; its Records are 0 if that is nothing. A closed standard
// output lacks nothing.
func (o *opened) unwritten() (u Unwritten) {
	m := o.Unwritten()
	if m.Records == 0 || o.left() {
		return u
	}
	u.Path, u.Records, u.Error = o.name, m.Records, cause.Of(o.Err()).Error()
	m.Gaps(gclog.Gap{}, func(g *gclog.Gap) {
		if g.To > 0 {
			u.Collections = append(u.Collections, Range{g.From, g.To})
		}
	})
	return u
}

// String returns what is missing, for people.
func (u *Unwritten) String() string {
	s := fmt.Sprintf("%s cannot be written (%s): ", u.Path, u.Error)
	if u.Records == 1 {
		s += "1 record is missing"
	} else {
		s += fmt.Sprintf("%d records are missing", u.Records)
	}
	var ranges []string
	for _, r := range u.Collections {
		if r.From == r.To {
			ranges = append(ranges, fmt.Sprint(r.From))
		} else {
			ranges = append(ranges, fmt.Sprintf("%d to %d", r.From, r.To))
		}
	}
	if len(ranges) > 0 {
		s += ", of collections " + strings.Join(ranges, ", ")
	}
	return s
}

// A LackError reports that an output was closed that lacks records and has no gap for them.
type LackError struct{ Unwritten }

func (e *LackError) Error() string { return e.Unwritten.String() + "; no gap there says so" }
