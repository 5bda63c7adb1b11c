// Package program runs gclog as a program, for the tests in the root and below internal/e2e: it puts
// gclog on the PATH of a package's tests, or builds it as the Makefile does, and has what several of
// these packages need: a daemon in the background, waiting for what a program does, and what the
// machine allows. It needs Linux.
package program
