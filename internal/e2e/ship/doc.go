// Package ship tests that what gclog writes arrives: real shippers follow its logs over rotations,
// and a real collector receives OTLP. "make ship" runs the tests, which need Linux.
package ship
