// Package logs reads the logs that package formats writes, and gives back the
// records in them: for conversions and for analysis where there is no recording. Those
// that are for Java tools only it recognizes, but does not read.
//
// A log holds less than the events did. Each record is as complete as its format
// can hold, what it cannot hold is unknown in the record and never made up, and
// Lacks says what that is. docs/formats.md has the formats.
package logs
