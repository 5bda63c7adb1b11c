//go:build !linux

package session_test

func startedByTest() {}
