package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// events returns what go test -json says of a module with these files.
func events(t *testing.T, files map[string]string) (root string, out []byte) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-json", "-shuffle=7", "./...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	if err == nil {
		t.Fatal("no test has failed")
	}
	return root, out
}

// TestRun: a run says what failed, with the seed on the last line, what was skipped and why, and
// remembers what -again needs.
func TestRun(t *testing.T) {
	t.Chdir(t.TempDir()) // bin/ is in it
	t.Setenv("GCLOG_SEED", "")
	root, out := events(t, map[string]string{
		"go.mod": "module m\ngo 1.26\n",
		"skips/a_test.go": `package a
import "testing"
func TestA(t *testing.T) { t.Run("shared", func(t *testing.T) { t.Skip("no\nrecordings") }) }
func TestB(t *testing.T) { t.Skip("no\nrecordings") }`,
		"fails/a_test.go": `package a
import ("os"; "path/filepath"; "testing")
func TestGood(t *testing.T) { t.Log("nobody reads this") }
func TestBad(t *testing.T) { dir, _ := os.Getwd(); t.Run("part", func(t *testing.T) { t.Error(filepath.Join(dir, "file"), "GCLOG_SEED=17") }) }`,
		"panics/a_test.go": `package a
import ("testing"; "time")
func TestPanics(t *testing.T) { t.Parallel(); time.Sleep(10*time.Millisecond); panic("oh") }
func TestWaits(t *testing.T) { t.Parallel(); select {} }`,
		"broken/a_test.go": "package a\nvar x int = undefined\n",
	})
	r := newResults(root + "/")
	var said bytes.Buffer
	if err := r.read(bytes.NewReader(out), &said, func(string) {}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"--- FAIL: TestBad/part (0.00s)\n    a_test.go:4: fails/file GCLOG_SEED=17\nFAIL m/fails -shuffle=7 GCLOG_SEED=17 (make again)\n",
		"--- TestWaits was still running when the program exited\n", "panic: oh", "undefined: undefined",
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, no := range []string{"nobody reads this", root} {
		if strings.Contains(said.String(), no) {
			t.Errorf("%q should not be there", no)
		}
	}
	if t.Failed() {
		t.Log(said.String())
	}
	said.Reset()
	r.printSkipped(&said)
	if want := "skipped: recordings\n    m/skips: TestA/shared, TestB\n"; said.String() != want {
		t.Errorf("skipped: %q, want %q", said.String(), want)
	}
	said.Reset()
	r.printLines(&said)
	if lines := strings.Split(said.String(), "\n"); len(lines) != 6 || !strings.Contains(said.String(), "ok  \tm/skips") || lines[4] != "FAIL" {
		t.Errorf("the last lines are %q", lines)
	}

	t.Setenv("GCLOG_OTHER", "1")
	failures := failuresOf(r, []string{"-race", "-json", "./..."})
	want := []failure{
		{Package: "m/broken", Flags: []string{"-race"}},
		{Package: "m/fails", Tests: []string{"TestBad"}, Flags: []string{"-race"}, Shuffle: "7", Seed: "17"},
		{Package: "m/panics", Tests: []string{"TestPanics", "TestWaits"}, Flags: []string{"-race"}, Shuffle: "7"},
	}
	for i := range failures {
		if !slices.Contains(failures[i].Env, "GCLOG_OTHER=1") {
			t.Errorf("a failure does not know its environment: %q", failures[i].Env)
		}
		failures[i].Env = nil // the rest is that of this test
	}
	if got, want := asJSON(t, failures), asJSON(t, want); got != want {
		t.Errorf("failures\n%s, want\n%s", got, want)
	}
	want[1].Env = []string{"GCLOG_OTHER=1"}
	args, env := want[1].command()
	if !slices.Equal(args, []string{"-count=1", "-artifacts", "-outputdir=" + artifacts(), "-race", "-shuffle=7", "-run=^(TestBad)$", "m/fails"}) || !slices.Equal(env, []string{"GCLOG_OTHER=1", "GCLOG_SEED=17", "CGO_ENABLED=1"}) {
		t.Errorf("again: %q %q", env, args)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRounds: rounds are found again, also after a line that was cut off, and only the last ones
// without a failure count.
func TestRounds(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(flakesDir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, failed := range [][]string{nil, {"TestA"}, nil, nil} {
		if err := appendRound(round{Package: "m/a", Round: i + 1, Failed: failed}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(flakesFile, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"Package":"m/a","Rou`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := appendRound(round{Package: "m/a", Round: 5}); err != nil {
		t.Fatal(err)
	}
	done, err := readRounds()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(done["m/a"]); n != 5 {
		t.Errorf("%d rounds, want 5", n)
	}
	if n := clean(done["m/a"]); n != 3 {
		t.Errorf("the last %d rounds are clean, want 3", n)
	}
}
