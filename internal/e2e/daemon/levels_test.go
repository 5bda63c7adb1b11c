//go:build linux

package daemon

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/fakenode"
	"github.com/gclog/gclog/internal/testing/fakenode/check"
	"github.com/gclog/gclog/internal/testing/program"
)

// TestDaemonLevels: while the requested events change repeatedly under load no collection is lost,
// and none is reported twice.
func TestDaemonLevels(t *testing.T) {
	sockets := program.SocketDir(t)
	n := fakenode.New(sockets, 1)
	defer n.Close()
	var pids []string
	for i := range 3 {
		r, err := n.Start(fakenode.Config{Name: fmt.Sprintf("levels-%d", i), Rate: 60, Background: 0.2, Heaps: 1 + i})
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, fmt.Sprintf("{pid: %d}", r.PID()))
	}
	dir := t.TempDir()
	config := func(level, more string) string {
		return fmt.Sprintf("discovery: {interval: 100ms, include: [%s]}\nsession: {level: %s}\noutputs: [{path: %s/logs/%%p.json, filesize: 64K, filecount: 1000}%s]\nhttp: {listen: \"\"}\n",
			strings.Join(pids, ", "), level, dir, more)
	}
	sessions := func(want int, open bool) func() bool {
		return func() bool {
			for _, r := range n.Runtimes() {
				l := r.Ledger()
				if len(l.Sessions) < want || open && r.Sessions() != 1 {
					return false
				}
			}
			return true
		}
	}
	d := program.StartDaemon(t, dir, config("normal", ""))
	program.Eventually(t, "the first sessions", sessions(1, true))
	for i, level := range []string{"full", "light", "normal"} {
		d.Reload(t, config(level, ""))
		program.Eventually(t, "the sessions of level "+level, sessions(i+2, true))
	}
	// An output that needs every suspension receives them too.
	d.Reload(t, config("normal", fmt.Sprintf(", {xlog: \"safepoint:file=%s/%%p.safe.log\"}", dir)))
	for _, r := range n.Runtimes() {
		program.WaitForFile(t, filepath.Join(dir, fmt.Sprintf("%d.safe.log", r.PID())), "ForGC")
	}
	d.Stop(t)
	// Collections that began before the change are reported by the session of the old level, and
	// therefore before foreground collections that began later and ended earlier, during a
	// background collection.
	err := check.Node(n, filepath.Join(dir, "logs"), check.Options{})
	for line := range strings.SplitSeq(fmt.Sprint(err), "\n") {
		if err != nil && !strings.Contains(line, "which is reported earlier") && !strings.HasPrefix(line, "process ") {
			t.Error(line)
		}
	}
}
