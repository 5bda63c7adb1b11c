//go:build unix

package host

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTempDirs: root finds the sockets of all users, others only their own.
func TestTempDirs(t *testing.T) {
	root := t.TempDir()
	join := func(name string) string { return filepath.Join(root, name) }
	for _, dir := range []string{"var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T", "var/folders/ab/other_user/T", "var/folders/ab/other_user/C", "tmp"} {
		if err := os.MkdirAll(join(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(join("var/folders/ab/T"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	own := join("var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T") + "/" // as TMPDIR has it there
	if got, want := tempDirs(root, own, 0), []string{own, join("var/folders/ab/other_user/T"), join("tmp")}; !slices.Equal(got, want) {
		t.Errorf("root: %v, want %v", got, want)
	}
	if got, want := tempDirs(root, own, 501), []string{own}; !slices.Equal(got, want) {
		t.Errorf("a user: %v, want %v", got, want)
	}
	if got, want := tempDirs(filepath.Join(root, "nothing"), own, 0), []string{own}; !slices.Equal(got, want) {
		t.Errorf("without such folders: %v, want %v", got, want)
	}
}
