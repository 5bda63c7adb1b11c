// Package terminal opens pseudo terminals on Linux, for tests of programs that draw on a screen.
package terminal
