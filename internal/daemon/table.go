package daemon

import (
	"context"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/parquet"
)

// The Parquet files of all processes: one parquet.Output, which no process waits for.

// A table is what the daemon knows about them.
type table struct {
	output *parquet.Output
	failed bool // it could not be configured: that is tried again
	trying bool
	tried  time.Time
}

const (
	// tableRetry is how often to try again to write Parquet files.
	tableRetry = time.Minute
)

// startTable starts to write Parquet files, if the configuration asks for them. That it cannot, for
// example because the disk is full, does not keep the daemon from writing logs.
func (d *Daemon) startTable() {
	d.table.output = parquet.NewOutput(parquet.Host{
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
	d.table.trying = true
	d.tableTried(d.table.output.Configure(d.tableOptions(d.config)))
}

// configureTable applies a configuration. A daemon that does not run has no Parquet files.
func (d *Daemon) configureTable(c *config.Loaded) error {
	if d.table.output == nil {
		return nil
	}
	err := d.table.output.Configure(d.tableOptions(c))
	if err == nil {
		d.table.failed = false
	}
	return err
}

// rotateTable has the Parquet files completed.
func (d *Daemon) rotateTable() {
	if d.table.output != nil {
		d.table.output.Rotate()
	}
}

// tableTried handles the result of an attempt.
func (d *Daemon) tableTried(err error) {
	d.table.trying, d.table.failed, d.table.tried = false, err != nil, time.Now()
	if err != nil {
		d.limiter.warn("parquet", "no Parquet files: "+err.Error(), nil)
	}
}

// retryTable tries again what has failed.
func (d *Daemon) retryTable() {
	if !d.table.failed || d.table.trying || time.Since(d.table.tried) < tableRetry {
		return
	}
	d.table.trying = true
	options := d.tableOptions(d.config)
	go func() {
		err := d.table.output.Configure(options)
		d.post(func() { d.tableTried(err) })
	}()
}

// endTable completes the Parquet files until ctx is done. What is not complete by then is completed
// when the daemon is started again. The loop must not call it.
func (d *Daemon) endTable(ctx context.Context) {
	if d.table.output != nil {
		d.table.output.Close(ctx)
	}
}

// tableOptions returns what a configuration says about Parquet files.
func (d *Daemon) tableOptions(c *config.Loaded) parquet.OutputOptions {
	o := &c.Parquet
	return parquet.OutputOptions{
		Options: parquet.Options{
			Path: o.Path, Version: d.o.Version,
			Rotate: formats.RotateOptions{Mode: o.Mode, MakeDirs: true, NoLinks: true},
		},
		Interval: o.Interval, MaxRows: int64(o.MaxRows),
	}
}

// observeTable returns the observer of a process for Parquet files.
func (d *Daemon) observeTable(known *gclog.Process) gclog.Observer {
	return d.table.output.Observe(known, d.o.Host)
}
