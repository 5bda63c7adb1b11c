package gcload

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
)

// TestShared lists what is in the shared folder, and unpacks a runtime of it.
func TestShared(t *testing.T) {
	extent.NeedFull(t)
	list, err := Shared()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Skip("no folder of shared recordings, or not for this platform")
	}
	for i, r := range list {
		if r.Major < 3 || !r.contains("gcload") || r.AOT && r.Has("clrgc") || i > 0 && list[i-1].AOT && !r.AOT {
			t.Errorf("#%d: %+v", i, r)
		}
		if r.Has("datas") != (r.Major >= 5) || !r.AOT && r.Has("clrgcexp") != (r.Major >= 9) {
			t.Errorf("%s: flavours", r.Name)
		}
	}
	last, err := SharedNamed(list[len(list)-1].Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := last.Unpack(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(last.Program("svr")); err != nil || filepath.Dir(last.Program("svr")) != last.Dir() {
		t.Error(err)
	}
}

func TestMajor(t *testing.T) {
	for name, want := range map[string]int{"core31": 3, "net8": 8, "net10": 10, "aot11": 11, "win10": 10, "net": 0} {
		if got, err := major(name); got != want || (err == nil) != (want > 0) {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
}
