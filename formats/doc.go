// Package formats turns the records of package gclog into lines and writes them: JDK logs that
// Java's GC tools can read (unified, jdk8), JSON lines for shippers, CSV, and text for people.
// docs/formats.md describes every line.
//
// A [Format] is a row of a table; [Find] and [ForFile] choose one. A [Writer] has a gclog.Observer
// that writes one format to one [Output], such as a [Stream].
//
// # Groups of lines
//
// Lines that belong together, such as those of one collection in a unified log, form a group: a
// group is written with one call, and never split between two files. In the JSON format every line
// is a group. A group that could not be written is not in the file at all; it is counted, and
// Writer.Err returns the reason.
//
// # Cost
//
// Lines are appended to a buffer by hand, because a single blank can decide whether Java's readers
// accept a line. After the first few records, nothing is allocated per record.
//
// A Writer and its Output must not be used by several goroutines at once.
package formats
