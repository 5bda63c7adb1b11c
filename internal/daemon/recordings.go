package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/flight"
	"github.com/gclog/gclog/internal/nettrace"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/rules"
	"github.com/rs/zerolog"
)

// The recordings that rules ask for: each process that such a rule applies to has a flight recorder,
// which its sessions feed. What is complete is written by a goroutine of its own.

// useRecordings makes the flight recorder what a configuration says.
func (x *ruleSets) useRecordings(c *config.Config) {
	x.memory.Resize(c.Recorder.Memory)
	dir := output.Expand(c.RecordingFolder(), &gclog.Process{}, x.d.o.Host)
	if f := x.recordings.Load(); f != nil && f.Dir == dir && f.Keep == c.Recorder.Keep {
		return
	}
	x.recordings.Store(&flight.Files{
		Dir: dir, Keep: c.Recorder.Keep, Running: x.d.isRunning, Folder: rotate.Options{MakeDirs: true, NoLinks: true},
	})
}

// isRunning reports whether the process is running of which there is a file of a time. If that cannot
// be found out, it is.
func (d *Daemon) isRunning(pid int64, at time.Time) (running bool) {
	ctx, cancel := context.WithTimeout(context.Background(), aliveTime)
	defer cancel()
	f := snapshotFile{pid: int(pid), time: at}
	return !d.ask(ctx, func() { running = !d.discovery.swept || ownerOf(&f, d.running()) >= 0 }) || running
}

// window returns how much of the time before something the rules of a process record; 0: nothing.
func window(c *config.Config, numbers []int) (before time.Duration) {
	for _, i := range numbers {
		for j := range c.Rules[i].Do {
			before = max(before, c.Rules[i].Do[j].Record.Before)
		}
	}
	return before
}

// keep makes the process have a recorder for the latest events of a time; 0: none. Only sessions that
// are opened later feed a new one.
func (p *process) keep(window time.Duration) {
	switch {
	case window == 0 && p.recorder != nil:
		p.recorder.Close()
		p.recorder, p.engine = nil, nil // the engine has this recorder
	case window == 0:
	case p.recorder == nil:
		p.recorder = p.d.rules.memory.NewRecorder(strconv.Itoa(p.target.UID), window)
	default:
		p.recorder.Keep(window)
	}
}

// record begins a recording, or prolongs the one in progress. The writer of the log calls it.
func (p *process) record(recorder *flight.Recorder, r *activeRule, a *activeAction, f *rules.Firing) {
	recording, isNew := recorder.Record(flight.TriggerFor(f.Process, f.Began(), f.At, a.Record.Before, a.Record.After))
	if !isNew {
		a.done.Add(1)
		return
	}
	d, process, text := p.d, *f.Process, f.Text()
	d.rules.saving.Go(func() {
		var saved flight.Saved
		var err error
		save := func() { saved, err = d.rules.recordings.Load().Save(recording, &process) }
		if defect := attach.Contain(save); defect != nil {
			err = defect
		}
		level := zerolog.InfoLevel
		if err != nil {
			level = zerolog.WarnLevel
			a.fail(err)
		} else {
			a.done.Add(1)
		}
		for _, line := range recorded(&saved, err) {
			d.report(level, r.Name, "record", process.ID, text+": "+line)
		}
	})
}

// recorded returns what came of a recording, in lines.
func recorded(s *flight.Saved, err error) (lines []string) {
	for _, f := range s.Files {
		lines = append(lines, fmt.Sprintf("recorded %v to %s (%s)",
			f.Last.Sub(f.First).Round(100*time.Millisecond), f.Path, formats.SizeText(f.Bytes)))
	}
	missing := s.Missing.Round(100 * time.Millisecond)
	switch {
	case missing == 0 || len(s.Files) == 0:
	case s.Exhausted:
		lines = append(lines, fmt.Sprintf("the recording begins %v late, because recorder.memory is used up", missing))
	default:
		lines = append(lines, fmt.Sprintf("the recording begins %v late, because gclog had no session before", missing))
	}
	if err != nil {
		lines = append(lines, "not recorded: "+err.Error())
	}
	return lines
}

// leftRecordings returns the recordings in a directory whose processes have exited.
func leftRecordings(dir string, running []runningProcess) (list []leftFile) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		pid, at, ok := flight.ParseName(path)
		runs := func(p runningProcess) bool { return p.has(&snapshotFile{pid: int(pid), time: at}) }
		if !ok || slices.ContainsFunc(running, runs) {
			continue
		}
		if info, begin, owner, ok := inspect(path); ok && nettrace.MayBeHead(begin) {
			list = append(list,
				leftFile{path: path, size: info.Size(), written: info.ModTime(), info: info, owner: owner})
		}
	}
	return list
}
