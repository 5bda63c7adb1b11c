//go:build linux

package check_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gclog/gclog/internal/testing/fakenode"
)

// TestCopyTruncate: logrotate repeatedly copies a log and truncates it while gclog writes. What was
// written between the two is lost, and nothing else: there is no hole, no half line except at the
// end of a copy, and no duplicate record.
func TestCopyTruncate(t *testing.T) {
	t.Parallel()
	rotate, err := exec.LookPath("logrotate")
	if err != nil {
		t.Skipf("no logrotate: %v", err)
	}
	n := newNode(t, 37)
	r := start(t, n, fakenode.Config{Name: "orders", Rate: 300})
	dir := t.TempDir()
	logs, file := filepath.Join(dir, "logs"), filepath.Join(dir, "logrotate.conf")
	d, _ := oversee(t, pids(r)+fmt.Sprintf("outputs: [{path: \"%s/%%p.json\"}]\n", logs))
	name := filepath.Join(logs, fmt.Sprintf("%d.json", r.PID()))
	const times = 8
	err = os.WriteFile(file, fmt.Appendf(nil, "%q {\n copytruncate\n rotate %d\n size 1\n missingok\n}\n", name, times), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for i := range times {
		waitSent(t, r, 60*(i+1))
		wait(t, func() int { // an empty one is not rotated, nor one that is not there yet
			info, err := os.Stat(name)
			if err != nil {
				return 0
			}
			return int(info.Size())
		}, 1)
		if out, err := exec.Command(rotate, "-f", "-s", filepath.Join(dir, "state"), file).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	waitSent(t, r, 60*(times+1))
	// A daemon has 5 seconds to stop, and on a slow machine more left to write.
	r.SetRate(0)
	last := len(r.Ledger().GCs)
	wait(t, func() (newest int) {
		r.Collect() // what came last may be held back until more comes
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(b[:bytes.LastIndexByte(b, '\n')+1]) {
			for _, c := range parseCollection(t, line) {
				newest = max(newest, int(c.to))
			}
		}
		return newest
	}, last)
	d.terminate(t)
	reported, runs, next := map[uint32]bool{}, 0, uint32(0)
	for i := times; i >= 0; i-- {
		path := name
		if i > 0 {
			path += fmt.Sprintf(".%d", i)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 { // a copy that is made while gclog writes may contain half a record
			b = b[:bytes.LastIndexByte(b, '\n')+1]
		}
		if bytes.IndexByte(b, 0) >= 0 || len(b) > 0 && b[len(b)-1] != '\n' {
			t.Errorf("%s has a hole, or half a line", path)
		}
		for line := range bytes.Lines(b) {
			for _, c := range parseCollection(t, line) {
				if reported[c.from] || c.reason != "" {
					t.Errorf("%s: %+v", path, c)
				}
				reported[c.from] = true
				if next != 0 && c.from != next {
					runs++
				}
				next = c.to + 1
			}
		}
	}
	if runs > times || len(reported) < 60*times/2 {
		t.Errorf("%d records, and in %d places some are missing", len(reported), runs)
	}
	t.Logf("%d records, %d places where some are missing", len(reported), runs)
	if _, err := os.Stat(name + ".9"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("gclog made %s.9: %v", name, err)
	}
}
