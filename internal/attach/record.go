package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/session"
)

// A WriteError reports that a recording could not be written.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return fmt.Sprintf("the recording is incomplete: %v", e.Err) }

// Unwrap returns Err.
func (e *WriteError) Unwrap() error { return e.Err }

// Record copies the raw stream of a session to w, with what is known of the process, until the
// target exits, ctx is done, or the duration (0: unlimited) is over. waiting is called if the
// runtime takes long to end the session.
func Record(
	ctx context.Context, t *host.Target, cfg session.Config, duration time.Duration, w io.Writer, waiting func(),
) error {
	facts := recordedFacts(ctx, t) // before the session: its stream must be read
	stream, err := t.StartTracing(ctx, cfg)
	if err != nil {
		return err
	}
	defer stream.Close()
	if duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, duration)
		defer cancel()
	}
	ctx, ask := context.WithCancel(ctx)
	defer ask()
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-ctx.Done():
			stop(context.Background(), stream, done, stopTime, waiting)
		case <-done:
		}
	}()
	err = copyAll(&recorder{w: w, facts: func() gclog.Process { return facts }}, stream, ask)
	close(done)
	<-stopped
	return err
}

// copyAll copies the stream. When w fails it asks for the end of the session, and keeps reading
// until then: a runtime that nobody reads keeps its buffers.
func copyAll(w io.Writer, r io.Reader, ask func()) error {
	buf := make([]byte, 256<<10)
	var failed error
	for {
		n, err := r.Read(buf)
		if n > 0 && failed == nil {
			if _, werr := w.Write(buf[:n]); werr != nil {
				failed = &WriteError{werr}
				ask()
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) || failed != nil {
				return failed
			}
			return fmt.Errorf("reading the stream: %w", err)
		}
	}
}
