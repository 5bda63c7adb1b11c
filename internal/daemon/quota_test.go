package daemon

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/testing/extent"
)

// owned describes files, oldest first: USER[@ACCOUNT]/SERVICE:SIZE for each.
func owned(t *testing.T, text string) (files []*leftFile) {
	t.Helper()
	for x := range strings.FieldsSeq(text) {
		f := &leftFile{path: x}
		owner, rest, _ := strings.Cut(x, "/")
		f.owner.UserID, f.owner.Account, _ = strings.Cut(owner, "@")
		service, size, _ := strings.Cut(rest, ":")
		if f.owner.Service = service; size == "" {
			t.Fatalf("%s has no size", x)
		}
		if _, err := fmt.Sscan(size, &f.size); err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// TestSurplusFiles: the user with the most loses files first, of the service with the most, the oldest
// first, and no more than necessary.
func TestSurplusFiles(t *testing.T) {
	for name, c := range map[string]struct {
		files string
		most  int64
		want  string
	}{
		"enough room":                    {"1/a:5 2/b:5", 10, ""},
		"the oldest":                     {"1/a:1 1/a:2 1/a:3", 4, "1/a:1 1/a:2"},
		"a flood under the same name":    {"1/orders:1 2/orders:2 2/orders:3 2/orders:4", 5, "2/orders:2 2/orders:3"},
		"a flood under many names":       {"1/orders:3 2/x1:2 2/x2:2 2/x3:2 2/x4:2", 7, "2/x1:2 2/x2:2"},
		"the larger service of a user":   {"1/small:1 1/large:4 1/large:4 1/small:1", 6, "1/large:4"},
		"both have too much":             {"1/a:4 1/a:4 2/b:3 2/b:3", 6, "1/a:4 2/b:3 1/a:4"},
		"the same":                       {"2/b:3 1/a:3", 3, "2/b:3"},
		"one of unknown users is one":    {"1/a:3 /x:2 /y:2 /z:2", 6, "/x:2 /y:2"},
		"an account cannot claim users":  {"1/a:3 1@5/a:2 1@5/a:2 7@5/a:2 8@5/a:2", 8, "1@5/a:2 1@5/a:2"},
		"an account's own":               {"5/a:2 5@5/b:2 1/a:3", 5, "5/a:2"},
		"more than there is":             {"1/a:1 2/b:1", 0, "1/a:1 2/b:1"},
		"files of no size":               {"1/a:0 1/a:5 2/b:4", 4, "1/a:0 1/a:5"},
		"none":                           {"", 0, ""},
		"the last one is too large, too": {"1/a:9", 5, "1/a:9"},
	} {
		var got []string
		for _, f := range surplusFiles(owned(t, c.files), c.most) {
			got = append(got, f.path)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q go, want %q", name, got, c.want)
		}
	}
}

// TestSurplusFair: whatever others leave, a user that has less than an equal share loses nothing.
func TestSurplusFair(t *testing.T) {
	r := rand.New(rand.NewPCG(extent.Seed(t), 0))
	for range 300 {
		var files []*leftFile
		total, of := int64(0), map[string]int64{}
		for range 1 + r.IntN(60) {
			f := &leftFile{size: 1 + r.Int64N(100), owner: rotate.Owner{UserID: fmt.Sprint(r.IntN(1 + r.IntN(6))), Service: fmt.Sprint(r.IntN(4))}}
			files = append(files, f)
			total += f.size
			of[f.owner.UserID] += f.size
		}
		most := r.Int64N(total + 1)
		gone := surplusFiles(files, most)
		lost, last := map[string]int64{}, int64(0)
		for _, f := range gone {
			lost[f.owner.UserID] += f.size
			total -= f.size
			last = f.size
		}
		if total > most || len(gone) > 0 && total+last <= most {
			t.Fatalf("%d of %d are left, the last file had %d", total, most, last)
		}
		for user, n := range lost {
			if n > 0 && of[user] <= most/int64(len(of)) {
				t.Errorf("user %s had %d of %d for %d users, and has lost %d", user, of[user], most, len(of), n)
			}
		}
		for i, f := range files { // of one service the oldest go first
			if slices.Contains(gone, f) {
				continue
			}
			for _, later := range files[i:] {
				if later.owner == f.owner && slices.Contains(gone, later) {
					t.Errorf("a file was deleted although an older one of %v is left", f.owner)
				}
			}
		}
	}
}

// TestByQuota: with a limit, all files share it; without one, those on one file system.
func TestByQuota(t *testing.T) {
	dir := t.TempDir()
	list := []leftFile{{path: dir + "/a"}, {path: dir + "/b"}, {path: dir + "/none/c"}}
	if got := byQuota(list, 0); len(got) != 0 {
		t.Errorf("without a limit there are %d quotas", len(got))
	}
	if got := byQuota(list, 77); len(got) != 1 || len(got[0].files) != 3 || got[0].most != 77 {
		t.Errorf("with a limit: %+v", got)
	}
	got := byQuota(list, config.AutoTotal)
	if len(got) != 2 || len(got[0].files) != 2 || len(got[1].files) != 1 {
		t.Fatalf("%d quotas", len(got))
	}
	if most := got[0].most; most <= 0 || most > config.AutoTotalMost || got[1].most != config.AutoTotalMost {
		t.Errorf("the limits are %d and %d", most, got[1].most)
	}
}
