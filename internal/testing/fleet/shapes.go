package fleet

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// shapeLength is the maximum number of collections of a shape.
const shapeLength = 500

// Shapes returns the collections of the repository's recordings of real programs.
func Shapes() (shapes []Shape, err error) {
	paths, err := filepath.Glob(filepath.Join(recordings.Root(), "testdata", "traces", "net*.nettrace.gz"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	for _, path := range paths {
		shape, err := read(path)
		if err != nil {
			return nil, err
		}
		if len(shape) > 0 {
			shapes = append(shapes, shape)
		}
	}
	return shapes, nil
}

// read returns the collections of a recording that are complete.
func read(path string) (Shape, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var x taking
	err = gclog.Read(text, func(*gclog.Process) gclog.Observer { return x.Observe })
	if strings.Contains(path, "oom") {
		err = nil // the program was killed
	}
	return x.shape, err
}

// A taking takes the collections of a recording.
type taking struct {
	shape Shape
}

// Observe takes a record.
func (x *taking) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		if d.Complete && len(x.shape) < shapeLength {
			x.shape = append(x.shape, d.Clone())
		}
	}
}
