// Package harmless tests that gclog does no harm to the programs it observes: whatever their
// runtime, however they are started, whatever gclog does, whatever other tool uses the runtime,
// whenever gclog starts, and however it ends. Each combination of those factors is a cell, which
// runs a real .NET program, real gclog processes, and another diagnostics tool that shares no code
// with gclog. All of the code is in the tests, which need Linux; docs/reliability.md describes
// them.
package harmless
