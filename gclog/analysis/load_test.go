package analysis_test

import (
	"bytes"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
)

// read gives the records of a recording to what observe returns, which may be nil.
func read(t testing.TB, stream []byte, observe func(*gclog.Process) gclog.Observer, events ...func(*gclog.Process) gclog.EventObserver) *gclog.Processes {
	t.Helper()
	processes := gclog.NewProcesses(observe)
	for _, to := range events {
		processes.Events = to
	}
	_ = processes.Drain(parse.NewReader(bytes.NewReader(stream), gclog.Wanted)) // some recordings are damaged
	processes.Finish()
	return processes
}

// forEach runs a test for each recording; with -short only those of the repository.
func forEach(t *testing.T, run func(t *testing.T, tr recordings.Trace)) {
	if !testing.Short() {
		recordings.ForEach(t, run)
		return
	}
	for _, tr := range recordings.Repository(t) {
		t.Run(tr.Name, func(t *testing.T) { run(t, tr) })
	}
}
