// Package logs reads the logs that package formats writes, and restores their records: for
// conversions, and for analysis if there is no recording. Logs for Java tools only are recognized
// but not read.
//
// A log contains less than the events did. Each record is as complete as its format allows; what
// the format cannot contain is unknown in the record and never made up, and Lacks describes it.
// docs/formats.md has the formats.
package logs
