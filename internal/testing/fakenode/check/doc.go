// Package check compares the JSON lines that gclog wrote about fake runtimes with the ledgers of
// these: each collection is in exactly one record or one gap, in order, and no line is torn. It is
// for tests only, and only for Linux.
package check
