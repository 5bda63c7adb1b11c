package cli

import "os"

// passedOn are the signals that run passes to its command: the console itself sends them to the
// command.
var passedOn = []os.Signal{os.Interrupt}

func inForeground() bool { return true }

// mayWrite returns nil: here it is unknown until it is tried.
func mayWrite(string) error { return nil }

func daemonSignals() (rotate, status <-chan struct{}, release func()) {
	return nil, nil, func() {}
}
