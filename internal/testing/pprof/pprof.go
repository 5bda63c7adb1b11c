// Package pprof runs go tool pprof, which is another judge of profiles than the code that writes
// them.
package pprof

import (
	"bytes"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Top returns the flat and the cumulative bytes of each name that go tool pprof lists, and their
// total. It skips the test if there is no go tool pprof.
func Top(t *testing.T, args ...string) (flat, cum map[string]int64, total int64) {
	t.Helper()
	if err := exec.Command("go", "tool", "-n", "pprof").Run(); err != nil {
		t.Skip("there is no go tool pprof:", err)
	}
	cmd := exec.Command("go", append([]string{"tool", "pprof", "-top", "-cum", "-unit=B", "-nodefraction=0"}, args...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || said.Len() > 0 {
		t.Fatalf("go tool pprof: %v: %s", err, &said)
	}
	flat, cum = map[string]int64{}, map[string]int64{}
	line := regexp.MustCompile(`(?m)^ *(-?\d+)B? +\S+ +\S+ +(-?\d+)B? +\S+  (.*)$`)
	for _, m := range line.FindAllStringSubmatch(string(out), -1) {
		flat[m[3]], _ = strconv.ParseInt(m[1], 10, 64)
		cum[m[3]], _ = strconv.ParseInt(m[2], 10, 64)
	}
	_, all, _ := strings.Cut(string(out), " of ")
	all, _, _ = strings.Cut(all, "B total")
	total, _ = strconv.ParseInt(all, 10, 64)
	return flat, cum, total
}
