package fakeruntime

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
)

// demoRecording is a recording of a real .NET 9.0.22 with server GC on two processors, under a load
// that modifies a large old generation: 5 seconds with 141 collections, four of them background.
//
//go:embed demo.nettrace.gz
var demoRecording []byte

// DemoVersion is the version of the runtime in the recording of DemoStream.
const DemoVersion = "9.0.22"

// DemoStream returns the recording that gclog demo replays.
func DemoStream() ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(demoRecording))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
