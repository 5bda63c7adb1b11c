// Package scripts contains what the scripts of testdata/script need besides gclog: their commands
// and conditions, and the programs that they start, a fake runtime, another tool at a diagnostic
// port and a debugger. TestScripts in the root runs the scripts and describes all of these. It needs
// Linux.
package scripts
