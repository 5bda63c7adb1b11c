// Package endure runs the daemon for hours beside everything that goes wrong on a node. It has tests
// only.
package endure
