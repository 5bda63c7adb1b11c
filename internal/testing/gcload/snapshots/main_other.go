//go:build !linux

package main

import "os"

func main() {
	_, _ = os.Stderr.WriteString("snapshots: only for Linux\n")
	os.Exit(1)
}
