package outfile

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
)

// NotInput returns an error if an output is one of the inputs, which it would overwrite.
func NotInput(path string, inputs ...string) error {
	for _, name := range inputs {
		if name != "" && name != output.Stdout && path != "" && path != output.Stdout && output.SamePath(name, path) {
			return exit.Usagef("%s is the input and cannot be the output too", name)
		}
	}
	return nil
}

// CheckOutput finds problems of an output that can be found before a session begins.
func CheckOutput(p *program.Run, path string) error {
	if output.IsStream(path) {
		return nil
	}
	if bad := output.BadPlace(path); bad != "" {
		return exit.Usagef("%s: there is no %s: %s", path, bad, output.Places)
	}
	return Check(p, path)
}

// Check does so for a path without placeholders.
func Check(p *program.Run, path string) error {
	if output.IsStream(output.Named(path)) {
		return nil
	}
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if os.IsNotExist(err) {
		return exit.Usagef("cannot write to %s: the directory %s does not exist; create it first (mkdir -p %s)",
			path, dir, dir)
	}
	if err != nil {
		return exit.Usagef("cannot write to %s: %w", path, err)
	}
	if !info.IsDir() {
		return exit.Usagef("cannot write to %s: %s is not a directory", path, dir)
	}
	r := rotate.Options{Sudo: SudoUser()}
	place, err := r.Place(path)
	if err != nil {
		return exit.Usagef("cannot write to %s: %w", path, err)
	}
	dir = filepath.Dir(place)
	info, err = os.Stat(place)
	if err == nil && info.IsDir() {
		return exit.Usagef("cannot write to %s: it is a directory", path)
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil // errors appear when it is opened, which is at once
	}
	if err := mayWrite(dir); err != nil {
		return exit.Usagef("cannot write to %s: the directory %s cannot be written to: %w", path, dir, err)
	}
	warning, err := r.CheckFolder(dir)
	if err != nil {
		return exit.Usagef("cannot write to %s: %w", path, err)
	}
	if warning != "" {
		p.UI.Say("warning: " + warning)
	}
	return nil
}

// SudoUser returns the uid of the user who called gclog with sudo, or 0 without sudo: that user's
// files are as trustworthy as root's.
func SudoUser() int {
	uid, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	if err != nil || uid < 0 || os.Geteuid() != 0 {
		return 0
	}
	return uid
}
