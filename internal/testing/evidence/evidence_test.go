package evidence

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

const isFailing = "GCLOG_TEST_FAILS"

// TestKept: a test that fails, run below, leaves its folder, what its program has said, and the
// program's stacks; without -artifacts nothing.
func TestKept(t *testing.T) {
	if os.Getenv(isFailing) == "program" {
		fmt.Println("ready")
		time.Sleep(time.Hour)
	}
	if os.Getenv(isFailing) != "" {
		fail(t)
	}
	if runtime.GOOS == "windows" {
		t.Skip("no signal asks for stacks on Windows")
	}
	for _, flags := range [][]string{{"-test.artifacts"}, nil} {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0], append(flags, "-test.run=^TestKept$", "-test.outputdir="+dir)...)
		cmd.Env = append(os.Environ(), isFailing+"=test")
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Fatalf("it has not failed: %s", out)
		}
		kept, err := filepath.Glob(filepath.Join(dir, "_artifacts", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		if flags == nil {
			if len(kept) > 0 {
				t.Errorf("it kept %q", kept)
			}
			continue
		}
		var said []byte
		for _, path := range kept {
			if filepath.Base(path) == "said" {
				said, err = os.ReadFile(path)
			}
		}
		if len(kept) != 2 || err != nil || !regexp.MustCompile(`SIGQUIT[\s\S]*TestKept`).Match(said) {
			t.Errorf("it kept %q, and the program said %q, %v; %s", kept, said, err, out)
		}
		if logs, _ := filepath.Glob(filepath.Join(dir, "_artifacts", "*", "*", "logs", "a.log")); len(logs) != 1 {
			t.Errorf("no log among %q", kept)
		}
		if !strings.Contains(string(out), filepath.Join(dir, "_artifacts")) {
			t.Errorf("the path is not said: %s", out)
		}
	}
}

// fail starts a program and fails.
func fail(t *testing.T) {
	dir := t.TempDir()
	Keep(t, dir)
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "logs", "a.log"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	Write(t, "said", said.String)
	cmd := exec.Command(os.Args[0], "-test.run=^TestKept$")
	cmd.Env = append(os.Environ(), isFailing+"=program")
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // before that a signal just ends it
		t.Fatal(err)
	}
	t.Cleanup(func() { End(t, cmd) })
	t.Fatal("it fails")
}
