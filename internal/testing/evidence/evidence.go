// Package evidence keeps what a failed test has started: logs, configurations and stacks, in the
// folder of go test -artifacts. Without that flag nothing is kept.
package evidence

import (
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// On reports whether failed tests keep what they have started.
func On() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}

// most is how much of a file is kept, from its start.
const most = 16 << 20

// Keep has a folder kept as it is when this test ends, if it fails then. It is called after the folder
// was created by t.TempDir and before programs are started that write to it: what is registered last
// is cleaned up first.
func Keep(t testing.TB, dir string) {
	if !On() {
		return
	}
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		to := filepath.Join(t.ArtifactDir(), filepath.Base(dir))
		if err := copyTree(to, dir); err != nil {
			t.Logf("not all of %s is kept: %v", dir, err)
		}
		t.Logf("kept: %s", to)
	})
}

// copyTree copies the files of a folder: no pipes, sockets and links.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case d.Type().IsRegular():
			return copyFile(filepath.Join(to, name), path)
		}
		return nil
	})
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.CopyN(out, in, most); err != nil && !errors.Is(err, io.EOF) {
		_ = out.Close()
		return err
	}
	return out.Close()
}

// Write has the text kept under a name if the test fails.
func Write(t testing.TB, name string, text func() string) {
	if !On() {
		return
	}
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		to := filepath.Join(t.ArtifactDir(), name)
		if err := os.WriteFile(to, []byte(text()), 0o644); err != nil {
			t.Logf("%s is not kept: %v", name, err)
		}
		t.Logf("kept: %s", to)
	})
}

// End ends a program of gclog that may still run, and waits for it. Of a failed test's program it
// first asks for the stacks of all its goroutines, which the program prints as it ends.
func End(t testing.TB, cmd *exec.Cmd) {
	if cmd.Process == nil || cmd.ProcessState != nil {
		return
	}
	if On() && t.Failed() {
		askForStacks(cmd.Process)
		kill := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
	} else {
		_ = cmd.Process.Kill()
	}
	_ = cmd.Wait()
}
