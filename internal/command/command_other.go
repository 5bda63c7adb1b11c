//go:build !linux

package command

import (
	"os"
	"os/exec"
)

// ownProgram returns the path of this program.
func ownProgram() (string, error) { return os.Executable() }

// separate is for Linux only.
func separate(*exec.Cmd) {}

// expendable is for Linux only.
func expendable(int) {}

// wasKilled is for Linux only.
func wasKilled(*exec.Cmd) bool { return false }
