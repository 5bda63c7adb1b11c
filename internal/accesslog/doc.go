// Package accesslog joins the request log of a server with the pauses of its garbage collector:
// each row gets how long the program was paused during that request.
//
// A log is NDJSON, or CSV with a header. Processing is streamed: a row is read, its time and
// duration are found in it, and it is written with three additional fields. Everything else in it
// stays the same byte for byte. What is unknown about a row is empty, never 0, and the Report says
// for how many rows, and why.
package accesslog
