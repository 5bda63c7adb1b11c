//go:build linux

package check_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/fakefuse"
	"github.com/gclog/gclog/internal/testing/fakenode"
)

// TestFilesFail: the file system of a log fails for a time, also in the middle of lines. What could
// not be written is a gap afterwards, no line is torn, and a log elsewhere is complete.
func TestFilesFail(t *testing.T) {
	for _, c := range []struct {
		name  string
		short bool
		fails []fakefuse.Op
	}{
		{"writes", false, []fakefuse.Op{fakefuse.Write}},
		{"writes in the middle", true, []fakefuse.Op{fakefuse.Write}},
		{"writes and what takes them back", true, []fakefuse.Op{fakefuse.Write, fakefuse.SetAttr}},
		{"everything", true, []fakefuse.Op{
			fakefuse.Write, fakefuse.SetAttr, fakefuse.GetAttr, fakefuse.Lookup, fakefuse.Mkdir, fakefuse.Create, fakefuse.Open, fakefuse.Read, fakefuse.OpenDir, fakefuse.ReadDir,
			fakefuse.Rename, fakefuse.Rename2, fakefuse.Unlink, fakefuse.Flush, fakefuse.Fsync, fakefuse.StatFS,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := fakefuse.Mount(t)
			n := newNode(t, 35)
			r := start(t, n, fakenode.Config{Name: "orders"})
			whole, logs := t.TempDir(), filepath.Join(f.Dir, "logs")
			d, _ := oversee(t, pids(r)+fmt.Sprintf("outputs:\n - {path: %s/%%p.json, filesize: 20K, filecount: 1000}\n - {path: %s/%%p.json}\n", logs, whole))
			wait(t, func() int { return len(r.Ledger().Sessions) }, 1)
			collect := func(times, until int) {
				t.Helper()
				for range times {
					if !r.Collect() {
						t.Fatal("the process has ended")
					}
				}
				// The complete log is written after the other one.
				wait(t, func() int { return count(t, whole, r) }, until)
			}
			collect(5, 5)
			for i := range 3 {
				f.Fail(c.short, c.fails...)
				collect(20, 25+i*25)
				f.Fail(false)
				collect(5, 30+i*25)
			}
			d.terminate(t)
			checked(t, n, whole, d)
			checked(t, n, logs, d)
			said := d.stderr.String()
			if !strings.Contains(said, "input/output error") || !strings.Contains(said, "is writable again") {
				t.Errorf("the daemon says\n%s", said)
			}
		})
	}
}
