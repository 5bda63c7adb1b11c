// Package accesslog joins the log of requests that a server wrote with the pauses of its
// garbage collector: each row gets how long the program stood while that request was
// under way.
//
// A log is NDJSON or CSV with a head. It streams: a row is read, its time and duration
// are found in it, and it is written with three fields more. All else in it stays byte
// for byte what it was. What cannot be told of a row is empty, never 0, and the Report
// says of how many rows, and why.
package accesslog
