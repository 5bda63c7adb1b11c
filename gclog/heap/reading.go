package heap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Limits of what is read of assemblies to resolve the names of one snapshot. Programs with a thousand
// assemblies need a tenth of each.
const (
	maxReadTime  = 30 * time.Second
	maxReadBytes = 4 << 30 // read or unpacked
	maxOpened    = 40_000  // files, each time that one is opened
	maxEntries   = 10_000  // of a folder
	maxFileNotes = 5       // notes about files that are not read
)

// A reading is what is read of assemblies to resolve names. It ends when its context does, or when it
// has reached a limit: then nothing is read any more.
type reading struct {
	ctx    context.Context
	notify func(string)

	bytes int64 // bytes that may still be read
	files int   // files that may still be opened
	err   error // the limit that was reached

	noted   map[string]bool // paths
	unnoted int             // notes beyond maxFileNotes
}

// begin makes a the subject of a reading. finish ends it.
func (a *Assemblies) begin(ctx context.Context) (finish func()) {
	notify := a.Notify
	if notify == nil {
		notify = func(string) {}
	}
	late := fmt.Errorf("reading assemblies took more than %v", maxReadTime)
	limited, cancel := context.WithTimeoutCause(ctx, maxReadTime, late)
	a.reading = &reading{ctx: limited, notify: notify, bytes: maxReadBytes, files: maxOpened, noted: map[string]bool{}}
	return func() {
		a.reading.finish(ctx)
		cancel()
	}
}

// finish says what was not read. Whoever has canceled the context knows that.
func (r *reading) finish(asked context.Context) {
	if r.unnoted > 0 {
		r.notify(fmt.Sprintf("names: %d more files are left out", r.unnoted))
	}
	if err := r.stopped(); err != nil && asked.Err() == nil {
		r.notify(fmt.Sprintf("names: the rest is left out: %v", err))
	}
}

// stopped returns why nothing more may be read, or nil.
func (r *reading) stopped() error {
	if r.err != nil {
		return r.err
	}
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	return nil
}

// begin counts a file that is opened.
func (r *reading) begin() error {
	if r.files--; r.files < 0 {
		r.stop(fmt.Errorf("more than %d files", maxOpened))
	}
	return r.stopped()
}

// spend counts bytes before they are read or unpacked.
func (r *reading) spend(n int64) error {
	if r.bytes -= n; r.bytes < 0 {
		r.stop(errors.New("more than 4 GB were to be read"))
	}
	return r.stopped()
}

func (r *reading) stop(err error) {
	if r.err == nil {
		r.err = err
	}
}

// note passes on a note about a file, once.
func (r *reading) note(text, path string) {
	switch {
	case r.noted[path]:
		return
	case len(r.noted) < maxFileNotes:
		r.notify(text)
	default:
		r.unnoted++
	}
	r.noted[path] = true
}

// A boundedReader reads a file within the bounds of a reading.
type boundedReader struct {
	f       io.ReaderAt
	reading *reading
}

// ReadAt implements io.ReaderAt. It reads in pieces, so that it stops soon.
func (r *boundedReader) ReadAt(p []byte, off int64) (n int, err error) {
	const piece = 1 << 20
	for n < len(p) || n == 0 {
		part := p[n:min(len(p), n+piece)]
		if err := r.reading.spend(int64(len(part))); err != nil {
			return n, err
		}
		k, err := r.f.ReadAt(part, off+int64(n))
		if n += k; err != nil || len(p) == 0 {
			return n, err
		}
	}
	return n, nil
}
