// Package report makes a picture of a recording: one HTML page without network access, and a
// summary in Markdown.
//
// A [Recorder] observes the records of a process: it keeps the columns of all collections and
// pauses that tables and charts show, and the records that are worth explaining. [Data] combines
// them with what package gclog/analysis computes; every number that a person reads comes from
// there or from a record. [Data.WriteHTML] and [Data.WriteMarkdown] only lay it out.
//
// The page is a template with our own scripts (page/) and uPlot for the charts over time
// (page/uplot, MIT). A Content-Security-Policy in it allows nothing but these, by their hashes.
// Everything that comes from a process is text: html/template escapes what the page shows at
// once, and scripts only create text nodes. Columns are deltas as variable-length integers,
// deflated: 100,000 collections with 70 columns take a few megabytes.
package report
