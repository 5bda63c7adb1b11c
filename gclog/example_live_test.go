package gclog_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// Watch a running process: print its collections until one takes longer than a second, or an hour
// has passed. The stream is read to its end even after it was asked to stop; while the process is
// silent, Flush releases the events held back for ordering.
func ExampleProcesses_live() {
	ctx := context.Background()
	client := session.Client{Dial: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", "/tmp/dotnet-diagnostic-4711-8051-socket")
	}}
	// The same as attach at level normal.
	stream, err := client.StartTracing(ctx, session.Config{BufferMB: 16, Providers: []session.Provider{
		{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational},
		{Name: clr.PrivateProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational},
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	stream.IdleTimeout = 100 * time.Millisecond
	stop := func() { go stream.Stop(ctx) } // Stop returns when the stream has been read
	defer time.AfterFunc(time.Hour, stop).Stop()

	done := false // a collection has taken longer than a second
	observe := func(r gclog.Record) {
		if d, ok := r.(*gclog.GCDetails); ok {
			fmt.Printf("#%d gen%d: %v\n", d.Number, d.Generation, time.Duration(d.Pause()).Round(time.Millisecond))
			done = done || d.Pause() > int64(time.Second)
		}
	}
	processes := gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
		p.Name = "shop" // the stream does not contain it
		return observe
	})
	stopped := false
	r := parse.NewReader(stream, gclog.Wanted)
	for {
		for r.Scan() {
			processes.Take(r)
			if done && !stopped {
				stopped = true
				stop()
			}
		}
		if !errors.Is(r.Err(), os.ErrDeadlineExceeded) {
			break // the session has ended, or the process has exited
		}
		r.Flush()
	}
	processes.Finish()
	if err := r.Err(); err != nil {
		fmt.Println(err)
	}
}
