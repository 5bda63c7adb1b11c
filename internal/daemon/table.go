package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/parquet"
	"github.com/gclog/gclog/internal/rotate"
)

// The Parquet files of all processes: one parquet.Output, which no process waits for.

// A table is what the daemon knows about them.
type table struct {
	idle
	d         *Daemon
	output    *parquet.Output // nil: the daemon does not run yet
	failed    bool            // it could not be configured: that is tried again
	trying    bool
	attempted time.Time
}

// tableRetry is how often to try again to write Parquet files.
const tableRetry = time.Minute

// prepare implements part. A daemon that starts writes logs also if it cannot write Parquet files, for
// example because the disk is full.
func (x *table) prepare(next *config.Loaded) (change, error) {
	if x.output == nil {
		return change{func() {
			x.output = x.newOutput()
			x.tried(x.output.Configure(x.d.tableOptions(next)))
		}, nothing}, nil
	}
	if err := x.output.Configure(x.d.tableOptions(next)); err != nil {
		return change{}, err
	}
	now := x.d.config
	return change{
		func() { x.failed = false },
		func() { _ = x.output.Configure(x.d.tableOptions(now)) },
	}, nil
}

func (x *table) newOutput() *parquet.Output {
	d := x.d
	return parquet.NewOutput(parquet.Host{
		Name: d.o.Host,
		Say: func(warn bool, text string) {
			// It may be the loop that waits for whoever says this.
			go d.post(func() {
				if warn {
					d.limiter.warn("parquet "+text, text, nil)
				} else {
					d.log.Info().Msg(text)
				}
			})
		},
		Guard: func(f func()) {
			if defect := attach.Contain(f); defect != nil {
				go d.post(func() { d.sayDefect(defect, 0) })
			}
		},
	})
}

// observe implements part.
func (x *table) observe(p *process) func(*gclog.Process) gclog.Observer {
	if !p.inTable {
		return nil
	}
	return func(known *gclog.Process) gclog.Observer { return x.output.Observe(known, x.d.o.Host) }
}

// rotate has the Parquet files completed.
func (x *table) rotate() {
	if x.output != nil {
		x.output.Rotate()
	}
}

// tried handles the result of an attempt.
func (x *table) tried(err error) {
	x.trying, x.failed, x.attempted = false, err != nil, time.Now()
	if err != nil {
		x.d.limiter.warn("parquet", "no Parquet files: "+err.Error(), nil)
	}
}

// tick implements part: it tries again what has failed.
func (x *table) tick() {
	if !x.failed || x.trying || time.Since(x.attempted) < tableRetry {
		return
	}
	x.trying = true
	options := x.d.tableOptions(x.d.config)
	go func() {
		err := x.output.Configure(options)
		x.d.post(func() { x.tried(err) })
	}()
}

// settle implements part: what is not complete when ctx is done is completed when the daemon is started
// again.
func (x *table) settle(ctx context.Context, all *sync.WaitGroup) {
	if x.output != nil {
		all.Go(func() { x.output.Close(ctx) })
	}
}

// tableOptions returns what a configuration says about Parquet files.
func (d *Daemon) tableOptions(c *config.Loaded) parquet.OutputOptions {
	o := &c.Parquet
	return parquet.OutputOptions{
		Options: parquet.Options{
			Path: o.Path, Version: d.o.Version,
			Rotate: rotate.Options{Mode: o.Mode, MakeDirs: true, NoLinks: true},
		},
		Interval: o.Interval, MaxRows: int64(o.MaxRows),
	}
}
