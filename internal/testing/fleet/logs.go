package fleet

import (
	"os"
	"path/filepath"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/output"
)

// WriteLogs writes the logs of a fleet as the daemon does, a JSON log for each process, to a
// directory, and passes the same records to what observe returns. It returns how many records of
// collections the logs contain, and their size in bytes.
func (f *Fleet) WriteLogs(dir string, observe func(*gclog.Process) gclog.Observer) (collections, size int64, err error) {
	format, err := formats.Find("json")
	if err != nil {
		return 0, 0, err
	}
	var last *os.File
	closeLast := func() {
		if last == nil {
			return
		}
		info, statErr := last.Stat()
		if statErr == nil {
			size += info.Size()
		}
		for _, e := range []error{statErr, last.Close()} {
			if err == nil {
				err = e
			}
		}
	}
	f.Play(func(p *gclog.Process) gclog.Observer {
		closeLast()
		path := filepath.Join(dir, output.Expand("%s-%p-%c.json", p, p.Host))
		var openErr error
		if last, openErr = os.Create(path); openErr != nil {
			err = openErr
			return gclog.Tee()
		}
		out := formats.NewStream(last, false)
		log := formats.NewWriter(format, out, formats.Options{Process: *p, Version: "1.0", Session: "fleet"})
		return gclog.Tee(log.Observe, (&counter{n: &collections}).Observe, observe(p))
	})
	closeLast()
	return collections, size, err
}

// A counter counts collections.
type counter struct {
	n *int64
}

// Observe takes a record.
func (c *counter) Observe(r gclog.Record) {
	if _, ok := r.(*gclog.GCDetails); ok {
		*c.n++
	}
}
