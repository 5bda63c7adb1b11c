//go:build !linux

package host_test

func startedByTest() {}
