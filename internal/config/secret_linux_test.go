package config

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSecretReplaced: a file that a pipe takes the place of while it is opened is not waited for.
func TestSecretReplaced(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.WriteFile(at("file"), []byte("x\n"), 0o600), unix.Mkfifo(at("pipe"), 0o600), unix.Symlink("file", at("secret")))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	swapped := make(chan error)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				swapped <- nil
				return
			default:
			}
			if err := errors.Join(unix.Symlink([]string{"pipe", "file"}[i%2], at("next")), os.Rename(at("next"), at("secret"))); err != nil {
				swapped <- err
				return
			}
		}
	}()
	read := 0
	for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); { // allowed: it is a race, which need not be won
		if text, err := Secret("file:" + at("secret")).Value(); err == nil && text == "x" {
			read++
		}
	}
	close(done)
	if err := <-swapped; err != nil || read == 0 {
		t.Errorf("%v, read %d times", err, read)
	}
}
