// Package fleet tests the queries of samples/fleet with real engines on the Parquet files that
// gclog writes. "make fleet" installs the engines and runs the tests, which need Linux.
package fleet
