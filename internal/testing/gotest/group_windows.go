package main

import "os/exec"

// interruptGroup leaves a command as it is: Windows has no groups to interrupt.
func interruptGroup(*exec.Cmd) {}
