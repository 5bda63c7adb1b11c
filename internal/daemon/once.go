package daemon

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/session"
)

// A Verdict is what the daemon would do with a process.
type Verdict struct {
	PID     int
	Process string
	Service string
	Level   string   // "" if it would not be logged
	Outputs []string // files
	Why     string   // why it would not be logged
}

// verdictTime is how long a process may take to say who it is.
const verdictTime = 8 * time.Second

// Once looks for processes once, asks each who it is, and returns what the daemon would do. It
// opens no session.
func Once(ctx context.Context, o Options) ([]Verdict, error) {
	listed, err := o.Processes.List(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]Verdict, len(listed))
	var group sync.WaitGroup
	slots := make(chan struct{}, inspectMost)
	for i := range listed {
		slots <- struct{}{}
		group.Go(func() {
			list[i] = o.verdict(ctx, &listed[i])
			<-slots
		})
	}
	group.Wait()
	var n int
	for i := range list {
		if list[i].Why != "" {
			continue
		}
		if n++; n > o.Config.Discovery.MaxProcesses {
			list[i].Level = ""
			list[i].Why = fmt.Sprintf("more processes than discovery.max_processes = %d",
				o.Config.Discovery.MaxProcesses)
		}
	}
	return list, ctx.Err()
}

func (o *Options) verdict(ctx context.Context, l *host.Listed) Verdict {
	v := Verdict{PID: l.PID, Process: attach.Names(&l.Process)[0]}
	without := func(err error) string { return strings.TrimPrefix(err.Error(), fmt.Sprintf("process %d ", l.PID)) }
	switch {
	case l.Err != nil:
		v.Why = without(l.Err)
		return v
	case l.Ignored():
		v.Why = "it was started with GCLOG_IGNORE=1"
		return v
	}
	seen := outside(&l.Process)
	if v.Why = o.Config.Refused(&seen); v.Why != "" {
		return v // the daemon does not ask it either
	}
	limited, cancel := context.WithTimeout(ctx, verdictTime)
	defer cancel()
	t := l.Target()
	if err := t.CheckStartup(limited); err != nil {
		v.Why = without(err)
		return v
	}
	facts, err := attach.Identify(limited, t)
	v.Process = facts.Name
	if err != nil && !session.IsUnknownCommand(err) {
		v.Why = o.Explain(ctx, t, err).Error()
		return v
	}
	p := decide(o.Config, seen, &facts)
	v.Service, v.Level, v.Why = facts.Service, p.level, p.excluded
	for _, spec := range p.outputs {
		v.Outputs = append(v.Outputs, output.Expand(spec.Path, &facts, o.Host))
	}
	return v
}
