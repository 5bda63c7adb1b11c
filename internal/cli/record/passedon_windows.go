package record

import "os"

// passedOn are the signals that run passes to its command: the console itself sends them to the
// command.
var passedOn = []os.Signal{os.Interrupt}

func inForeground() bool { return true }
