//go:build linux

package live

import (
	"cmp"
	"os"
	"slices"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
)

// everyCell reports whether all runtimes are tested in all flavours, as make live does.
func everyCell() bool { return os.Getenv("GCLOG_LIVE") == "all" }

// runtimes returns the runtimes to test, or skips the test: that of the repository, and if everything
// is tested all that are available.
func runtimes(t *testing.T) []*gcload.Runtime {
	t.Helper()
	if extent.Full() || everyCell() {
		list, err := gcload.Shared()
		if err != nil {
			t.Fatal(err)
		}
		if len(list) > 0 {
			return list
		}
		if r, err := gcload.Installed(t.TempDir()); err == nil {
			list = append(list, r)
		} else {
			t.Logf("no .NET SDK to build the load program with: %v", err)
		}
		if r, err := gcload.FromRepository(); err == nil {
			list = append(list, r)
		}
		if len(list) > 0 {
			return list
		}
	}
	r, err := gcload.FromRepository()
	if err != nil {
		t.Skipf("no .NET runtime: %v", err)
	}
	return []*gcload.Runtime{r}
}

// A cell is a runtime with a GC flavour.
type cell struct {
	*gcload.Runtime
	flavour string
}

func (c cell) String() string { return c.Name + "/" + c.flavour }

// cells returns the runtimes to test with the flavours in which each is tested, of those given or of
// all. With make live these are all of them. If everything is tested, it is a selection: two flavours
// of each runtime, and each flavour with at least one. In the usual extent it is one runtime with the
// flavours that differ most.
func cells(t *testing.T, flavours ...string) []cell {
	t.Helper()
	if flavours == nil {
		flavours = gcload.Flavours
	}
	return selected(runtimes(t), flavours)
}

func selected(list []*gcload.Runtime, flavours []string) (all []cell) {
	times := map[string]int{} // that a flavour was selected
	has := map[string]int{}   // runtimes with it
	for _, r := range list {
		for _, f := range flavours {
			if r.Has(f) {
				has[f]++
			}
		}
	}
	for _, r := range list {
		of := slices.DeleteFunc(slices.Clone(flavours), func(f string) bool { return !r.Has(f) })
		switch {
		case everyCell():
		case extent.Full():
			slices.SortStableFunc(of, func(a, b string) int {
				return cmp.Or(cmp.Compare(times[a], times[b]), cmp.Compare(has[a], has[b]))
			})
			of = of[:min(2, len(of))]
		default:
			of = slices.DeleteFunc(of, func(f string) bool { return f != "wks" && f != "svr" && f != "datas" })
		}
		for _, f := range of {
			times[f]++
			all = append(all, cell{r, f})
		}
	}
	return all
}

// TestCells: what is selected has two flavours of each runtime, and each flavour that one has.
func TestCells(t *testing.T) {
	extent.NeedFull(t)
	runtimes, flavours := map[string]int{}, map[string]int{}
	for _, c := range cells(t) {
		runtimes[c.Name]++
		flavours[c.flavour]++
	}
	for name, n := range runtimes {
		if n < 2 {
			t.Errorf("%s is tested in %d flavours", name, n)
		}
	}
	for _, f := range gcload.Flavours {
		if flavours[f] == 0 {
			t.Errorf("%s is tested with no runtime", f)
		}
	}
	t.Log(cells(t))
}
