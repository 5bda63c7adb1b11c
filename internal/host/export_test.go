package host

// ProgramRuntime reports the runtime of a program that no process needs to run.
var ProgramRuntime = programRuntime
