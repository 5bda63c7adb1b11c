package flame_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/flame"
	"github.com/gclog/gclog/internal/testing/pprof"
)

// example returns a profile, and what is at the end of each name and below it, in bytes. more is
// added to one sample.
func example(more uint64) (p *flame.Profile, flat, cum map[string]int64) {
	p = &flame.Profile{Title: "app.gcdump", Time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	flat, cum = map[string]int64{}, map[string]int64{}
	for _, x := range []struct {
		objects, bytes uint64
		names          []string
	}{
		{2, 80, []string{"[static Shop.s_cart]", "Dictionary<string, Cart>"}},
		{1, 4096, []string{"[static Shop.s_cart]", "Dictionary<string, Cart>", "Entry<string, Cart>[]"}},
		{100, 2400 + more, []string{"[static Shop.s_cart]", "Dictionary<string, Cart>", "Entry<string, Cart>[]", "Cart"}},
		{7, 168, []string{"[stack]", "Cart"}},
		{3, 66, []string{"[stack]", "Cart", "a;b"}},
		{3, 33, []string{"[stack]", "Cart", "(Lambda) 1"}},
	} {
		var stack []int
		seen := map[string]bool{}
		for _, name := range x.names {
			f := flame.Frame{Name: name}
			if name[0] != '[' {
				f.File = "/app/Shop.dll"
			}
			stack = append(stack, p.Frame(f))
			if !seen[name] {
				cum[name] += int64(x.bytes)
			}
			seen[name] = true
		}
		flat[x.names[len(x.names)-1]] += int64(x.bytes)
		p.Samples = append(p.Samples, flame.Sample{Stack: stack, Objects: x.objects, Bytes: x.bytes})
	}
	return p, flat, cum
}

// written returns the path of a file with what is written.
func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "profile")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func sum(flat map[string]int64) (n int64) {
	for _, v := range flat {
		n += v
	}
	return n
}

// TestPprof: go tool pprof reports what is at the end of the stacks as flat, what is below a name as
// cum, and the names as they are.
func TestPprof(t *testing.T) {
	p, wantFlat, wantCum := example(0)
	flat, cum, total := pprof.Top(t, written(t, p.WritePprof))
	for name := range wantCum {
		if flat[name] != wantFlat[name] || cum[name] != wantCum[name] {
			t.Errorf("%q: flat %d, cum %d, want %d and %d", name, flat[name], cum[name], wantFlat[name], wantCum[name])
		}
	}
	if want := sum(wantFlat); total != want || len(cum) != len(wantCum) {
		t.Errorf("%d names with a total of %d bytes, want %d with %d", len(cum), total, len(wantCum), want)
	}
	objects, _, _ := pprof.Top(t, "-sample_index=inuse_objects", written(t, p.WritePprof))
	if objects["Cart"] != 107 {
		t.Errorf("objects: %v", objects)
	}
}

// TestPprofDiff: go tool pprof subtracts one profile from another.
func TestPprofDiff(t *testing.T) {
	before, _, _ := example(0)
	after, _, _ := example(1000)
	after.Title = "other.gcdump"
	flat, cum, _ := pprof.Top(t, "-diff_base", written(t, before.WritePprof), written(t, after.WritePprof))
	maps.DeleteFunc(flat, func(_ string, n int64) bool { return n == 0 })
	maps.DeleteFunc(cum, func(_ string, n int64) bool { return n == 0 })
	if !maps.Equal(flat, map[string]int64{"Cart": 1000}) || len(cum) != 4 || cum["[static Shop.s_cart]"] != 1000 {
		t.Errorf("flat %v, cum %v", flat, cum)
	}
}

// TestSpeedscope: the file has what the schema of the format requires, and nothing else.
func TestSpeedscope(t *testing.T) {
	p, wantFlat, wantCum := example(0)
	b, err := os.ReadFile(written(t, p.WriteSpeedscope))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Schema   string `json:"$schema"`
		Name     string
		Exporter string
		Shared   struct {
			Frames []struct{ Name, File string }
		}
		Profiles []struct {
			Type, Name, Unit     string
			StartValue, EndValue int64
			Samples              [][]int
			Weights              []int64
		}
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if file.Schema != "https://www.speedscope.app/file-format-schema.json" || file.Name != "app.gcdump" || len(file.Profiles) != 1 {
		t.Fatalf("%s", b)
	}
	x := file.Profiles[0]
	if x.Type != "sampled" || x.Unit != "bytes" || x.StartValue != 0 || x.EndValue != sum(wantFlat) || len(x.Samples) != len(x.Weights) {
		t.Errorf("%+v", x)
	}
	flat, cum := map[string]int64{}, map[string]int64{}
	for i, stack := range x.Samples {
		for _, f := range stack {
			cum[file.Shared.Frames[f].Name] += x.Weights[i]
		}
		flat[file.Shared.Frames[stack[len(stack)-1]].Name] += x.Weights[i]
	}
	if !maps.Equal(flat, wantFlat) || !maps.Equal(cum, wantCum) {
		t.Errorf("flat %v, cum %v", flat, cum)
	}
	if f := file.Shared.Frames[1]; f.File != "/app/Shop.dll" {
		t.Errorf("%+v", f)
	}
}

// TestFolded: a line is a stack from the outermost frame, and its bytes.
func TestFolded(t *testing.T) {
	p, _, _ := example(0)
	b, err := os.ReadFile(written(t, p.WriteFolded))
	want := `[static Shop.s_cart];Dictionary<string, Cart> 80
[static Shop.s_cart];Dictionary<string, Cart>;Entry<string, Cart>[] 4096
[static Shop.s_cart];Dictionary<string, Cart>;Entry<string, Cart>[];Cart 2400
[stack];Cart 168
[stack];Cart;a\x3bb 66
[stack];Cart;(Lambda)\x201 33
`
	if err != nil || string(b) != want {
		t.Errorf("%s\nwant\n%s", b, want)
	}
	p = &flame.Profile{}
	p.Samples = []flame.Sample{{Stack: []int{p.Frame(flame.Frame{Name: "a\r\nb"}), p.Frame(flame.Frame{Name: "c 1 2.5"})}, Bytes: 3}}
	if b, err := os.ReadFile(written(t, p.WriteFolded)); err != nil || string(b) != `a\r\nb;c 1\x202.5 3`+"\n" {
		t.Errorf("%q", b)
	}
}

// TestAmounts: what exceeds the numbers of a format is the largest number.
func TestAmounts(t *testing.T) {
	p := &flame.Profile{}
	p.Samples = []flame.Sample{{Stack: []int{p.Frame(flame.Frame{Name: "A"})}, Objects: math.MaxUint64, Bytes: math.MaxUint64}}
	if flat, _, _ := pprof.Top(t, written(t, p.WritePprof)); flat["A"] != math.MaxInt64 {
		t.Errorf("%v", flat)
	}
}
