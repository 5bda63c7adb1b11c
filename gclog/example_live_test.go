package gclog_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// A running process: its collections are printed until one takes longer than a second, or
// until an hour is over. The stream is read to its end, also when it was asked to stop; and
// where the process is silent, what waits for its place in time is released.
func ExampleProcesses_live() {
	ctx := context.Background()
	var host session.Host
	target, err := host.Find(ctx, 4711)
	if err != nil {
		log.Fatal(err)
	}
	// What attach calls level normal.
	stream, err := target.StartTracing(ctx, session.Config{BufferMB: 16, Providers: []session.Provider{
		{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational},
		{Name: clr.PrivateProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational},
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	stream.IdleTimeout = 100 * time.Millisecond
	stop := func() { go stream.Stop(ctx) } // it is answered when the stream has been read
	defer time.AfterFunc(time.Hour, stop).Stop()

	w := &watcher{limit: time.Second}
	processes := gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
		p.Name = target.Process.Name // the stream does not tell it
		return w
	})
	stopped := false
	r := parse.NewReader(stream, gclog.Wanted)
	for {
		for r.Scan() {
			processes.Take(r)
			if w.done && !stopped {
				stopped = true
				stop()
			}
		}
		if !errors.Is(r.Err(), os.ErrDeadlineExceeded) {
			break // the session, or the process, has ended
		}
		r.Flush()
	}
	processes.Finish()
	if err := r.Err(); err != nil {
		fmt.Println(err)
	}
}
