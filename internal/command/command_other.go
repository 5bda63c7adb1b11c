//go:build !linux

package command

import (
	"errors"
	"os"
	"os/exec"

	"github.com/gclog/gclog/formats"
)

// ownProgram returns the path of this program.
func ownProgram() (string, error) { return os.Executable() }

// separate is for Linux only.
func separate(*exec.Cmd) {}

// expendable is for Linux only.
func expendable(int) {}

func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func runAs(_ *exec.Cmd, as *formats.Account) error {
	if as != nil {
		return errors.New("commands can run as another user only on Linux")
	}
	return nil
}
