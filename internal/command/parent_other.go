//go:build !linux

package command

import "os/exec"

// tie is for Linux only.
func tie(*exec.Cmd) (untie func()) { return func() {} }

// EndWithParent is for Linux only.
func EndWithParent(int) {}
