package heap

import (
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
)

// counts returns a snapshot with a number of objects of each type, of 100 bytes each.
func counts(of map[string]uint64) *heap.Histogram {
	h := &heap.Histogram{}
	for name, n := range of {
		h.Types = append(h.Types, heap.Type{Name: name})
		h.Counts = append(h.Counts, heap.TypeCount{Count: heap.Count{Objects: n, Bytes: 100 * n}})
	}
	return h
}

// TestWriteDiff: with three snapshots the table has the slope, and marks what grew every time.
func TestWriteDiff(t *testing.T) {
	list := []*heap.Histogram{
		counts(map[string]uint64{"Shop.Cart": 10, "Shop.Item": 10, "Shop.Same": 5}),
		counts(map[string]uint64{"Shop.Cart": 20, "Shop.Item": 40, "Shop.Same": 5, "Shop.New": 1}),
		counts(map[string]uint64{"Shop.Cart": 50, "Shop.Item": 30, "Shop.Same": 5, "Shop.New": 3}),
	}
	for n, want := range map[int]string{
		2: `2.5 KB to 6.6 KB, 25 objects to 66
objects bytes now type
+30 +3.0 KB 4.0 KB Shop.Item
+10 +1.0 KB 2.0 KB Shop.Cart
+1 +100 B 100 B new Shop.New`,
		3: `2.5 KB to 8.8 KB, 25 objects to 88
objects bytes per snapshot now type
+40 +4.0 KB +2.0 KB 5.0 KB every time Shop.Cart
+20 +2.0 KB +1.0 KB 3.0 KB Shop.Item
+3 +300 B +150 B 300 B new, every time Shop.New`,
	} {
		var b strings.Builder
		rows := heap.Compare(list[:n]...)
		writeDiff(&b, 100, &selection{}, list[:n], rows[:3], 3)
		var got []string
		for line := range strings.Lines(b.String()) {
			got = append(got, strings.Join(strings.Fields(line), " "))
		}
		if text := strings.Join(got, "\n"); text != want {
			t.Errorf("%d snapshots:\n%s\nwant\n%s", n, text, want)
		}
	}
}

// TestWriteVanished: types that were there at first and of which nothing is left, those that had most
// first.
func TestWriteVanished(t *testing.T) {
	all := heap.Compare(
		counts(map[string]uint64{"Shop.Cart": 10, "Shop.Item": 10, "Shop.Old": 3, "Shop.Older": 5}),
		counts(map[string]uint64{"Shop.Cart": 10, "Shop.Item": 20, "Shop.Between": 5}),
		counts(map[string]uint64{"Shop.Cart": 2, "Shop.Item": 20}),
	)
	for _, c := range []struct {
		least uint64
		top   int
		want  string
	}{
		{0, 5, "\nVanished:\n  objects   bytes  type\n       -5  -500 B  Shop.Older\n       -3  -300 B  Shop.Old\n"},
		{0, 1, "\nVanished, the first of 2 types:\n  objects   bytes  type\n       -5  -500 B  Shop.Older\n"},
		{400, 5, "\nVanished:\n  objects   bytes  type\n       -5  -500 B  Shop.Older\n"},
		{501, 5, ""},
	} {
		var b strings.Builder
		writeVanished(&b, 100, &selection{}, vanished(all, c.least), c.top)
		if b.String() != c.want {
			t.Errorf("--min %d --top %d: %q, want %q", c.least, c.top, b.String(), c.want)
		}
	}
}

// TestDifferentPrograms: the names of the programs decide, or else the classes.
func TestDifferentPrograms(t *testing.T) {
	shop := map[string]uint64{"Shop.A": 1, "Shop.B": 1, "Shop.C": 1, "Shop.D": 1, "Shop.E": 1, "System.String": 9}
	bank := map[string]uint64{"Bank.A": 1, "Bank.B": 1, "Bank.C": 1, "Bank.D": 1, "Bank.E": 1, "System.String": 9, "Bank.F": 1}
	mixed := map[string]uint64{"Shop.A": 1, "Bank.B": 1, "Bank.C": 1, "Bank.D": 1, "Bank.E": 1}
	small := map[string]uint64{"Bank.A": 1, "System.String": 9}
	named := func(of map[string]uint64, name string, id int) *heap.Histogram {
		h := counts(of)
		h.Process = heap.Process{ID: id, Name: name}
		return h
	}
	for _, c := range []struct {
		list []*heap.Histogram
		want string
	}{
		{[]*heap.Histogram{counts(shop), counts(shop)}, ""},
		{[]*heap.Histogram{counts(shop), counts(mixed)}, ""},
		{[]*heap.Histogram{counts(shop), counts(small)}, ""},
		{[]*heap.Histogram{named(shop, "shop", 1), named(bank, "Shop", 2)}, ""},
		{[]*heap.Histogram{named(shop, "Shop", 1), named(shop, "Bank\x1b[2J", 2)}, "a.gcdump (Shop, process 1) and b.gcdump (Bank\uFFFD[2J, process 2) are snapshots of different programs"},
		{[]*heap.Histogram{counts(shop), counts(bank)}, "a.gcdump and b.gcdump seem to be snapshots of different programs (they share 0 of 5 classes outside of .NET)"},
		{[]*heap.Histogram{named(shop, "", 7), named(shop, "Shop", 0), named(bank, "Bank", 0)}, "a.gcdump (process 7) and standard input (Bank) seem to be"},
	} {
		got := differentPrograms([]string{"a.gcdump", "b.gcdump", "-"}, c.list)
		if c.want == "" && got != "" || c.want != "" && !strings.HasPrefix(got, "warning: "+c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
