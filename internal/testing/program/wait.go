//go:build linux

package program

import (
	"bytes"
	"os"
	"testing"
	"time"
)

// Deadline is how long tests wait for a condition. It is long, because a loaded machine is not a
// failure.
const Deadline = 40 * time.Second

// Eventually waits for a condition.
func Eventually(t testing.TB, what string, there func() bool) {
	t.Helper()
	for end := time.Now().Add(Deadline); !there(); {
		if time.Now().After(end) {
			t.Fatalf("waited for %s, which did not come", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// WaitForFile waits until a file contains a text.
func WaitForFile(t testing.TB, path, text string) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(5 * time.Millisecond) {
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(text)) {
			return
		}
	}
	t.Fatalf("%s does not say %q within a minute", path, text)
}
