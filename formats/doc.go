// Package formats turns the records of package gclog into lines and writes them:
// JDK logs that Java's GC tools read (unified, jdk8), JSON lines for shippers,
// CSV, and text for eyes. docs/formats.md describes every line.
//
// A [Format] is a row of a table; [Find] and [ForFile] choose one. A [Writer] is a
// gclog.Observer that writes one format to one [Output]: a [RotatingFile], or a
// [Stream] for everything that is no regular file.
//
// # Groups of lines
//
// What belongs together, such as the lines of one collection in a unified log, is
// one group: it is written with one call, and never divided between two files.
// Of the JSON format every line is a group. A group that could not be written is
// not in the file at all; it is counted, and Writer.Err tells why.
//
// # Cost
//
// Lines are appended to a buffer by hand, because what Java's readers take is
// decided by single blanks. Nothing is allocated per record after the first few.
//
// A Writer and its Output must not be used by several goroutines at once.
package formats
