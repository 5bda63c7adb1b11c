package host

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"
)

// A Family finds the processes that have inherited an environment variable: a program with
// everything it started, even processes of which it is no longer the parent.
type Family struct {
	host       *Host
	name, part string
	strangers  map[int]bool // processes that do not belong to it
}

// NewFamily returns the family of the processes whose variable name contains part.
func (h *Host) NewFamily(name, part string) *Family {
	return &Family{host: h, name: name, part: part, strangers: map[int]bool{}}
}

// newborn is how long a young process may lack its environment or its runtime.
const newborn = 5 * time.Second

// Members returns the members that have a diagnostics socket now.
func (f *Family) Members() []*Target {
	var list []*Target
	f.each(func(p *Process) {
		if l := f.host.Inspect(p.PID); l.Err == nil && l.StartKey == p.StartKey {
			list = append(list, l.Target())
		}
	})
	return list
}

// Count returns the number of members, whatever programs they run.
func (f *Family) Count() (n int) {
	f.each(func(*Process) { n++ })
	return n
}

func (f *Family) each(found func(*Process)) {
	entries, err := os.ReadDir(procRoot) // not a Scanner, which also reads what it knows
	if err != nil {
		return
	}
	known := f.strangers
	f.strangers = map[int]bool{} // only those that still exist
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if known[pid] {
			f.strangers[pid] = true
			continue
		}
		p, err := f.host.sight(pid)
		if err == nil {
			p, err = look(context.Background(), p, func() (*Process, error) {
				whole := *p
				whole.read()
				return &whole, nil
			}, keep)
		}
		switch {
		case err != nil:
		case len(p.Environ) == 0:
			// A process between fork and exec has no environment. Others never have one, or gclog
			// may not read it.
			f.strangers[pid] = time.Since(p.Started) > newborn
		case !strings.Contains(p.Environ[f.name], f.part):
			f.strangers[pid] = true
		default:
			found(p)
		}
	}
}
