// Package child starts programs for tests that communicate with them over standard input and
// output.
package child

import (
	"bufio"
	"io"
	"os/exec"
	"testing"
)

// Pipes returns the test's ends of pipes to the standard input and from the standard output of a
// program that is to be started.
func Pipes(t testing.TB, cmd *exec.Cmd) (io.WriteCloser, *bufio.Reader) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	return in, bufio.NewReader(out)
}

// Start starts a program and waits for its first line, which shows that it runs. The program is
// ended when the test ends.
func Start(t testing.TB, cmd *exec.Cmd) (in io.WriteCloser) {
	t.Helper()
	in, out := Pipes(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _, _ = in.Close(), cmd.Process.Kill(), cmd.Wait() })
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatalf("%s says nothing: %v", cmd, err)
	}
	return in
}
