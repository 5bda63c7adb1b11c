package heap

import (
	"fmt"
	"strings"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/view"
)

// differentPrograms warns if snapshots are of different programs, and returns "" if they are not, as
// far as that is known: other names, or else few common classes.
func differentPrograms(names []string, list []*heap.Histogram) string {
	const fewest = 5 // own classes of a program that are evidence
	for i, h := range list[1:] {
		first, both := list[0], programText(names[0], &list[0].Process)+" and "+programText(names[i+1], &h.Process)
		if first.Process.Name != "" && h.Process.Name != "" {
			if !strings.EqualFold(first.Process.Name, h.Process.Name) {
				return fmt.Sprintf(
					"warning: %s are snapshots of different programs: a difference between them is not growth", both)
			}
			continue
		}
		if shared, of := heap.SharedClasses(first, h); of >= fewest && 5*shared < of {
			return fmt.Sprintf("warning: %s seem to be snapshots of different programs (they share %d of %d classes "+
				"outside of .NET): a difference between them is not growth", both, shared, of)
		}
	}
	return ""
}

// programText names a file, and what is known of the process in it.
func programText(file string, x *heap.Process) string {
	var known []string
	if x.Name != "" {
		known = append(known, view.OneLine(x.Name))
	}
	if x.ID != 0 {
		known = append(known, fmt.Sprintf("process %d", x.ID))
	}
	if len(known) == 0 {
		return subject.InputName(file)
	}
	return fmt.Sprintf("%s (%s)", subject.InputName(file), strings.Join(known, ", "))
}
