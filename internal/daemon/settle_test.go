package daemon

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/gclog/gclog/internal/actions"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/rules"
)

// TestSettleDefect: a panic while the daemon ends does not keep the rest from ending.
func TestSettleDefect(t *testing.T) {
	var said strings.Builder
	d := New(Options{Config: &config.Loaded{}, Log: zerolog.New(&said)})
	d.rules.saving.Go(func() { d.post(func() { panic("x") }) })
	d.settle(time.Now().Add(time.Minute))
	if !strings.Contains(said.String(), "x") || d.defects != 1 {
		t.Errorf("%d defects, it says %q", d.defects, said.String())
	}
}

// stuck is an action that does not end before the daemon does.
type stuck struct{}

func (stuck) Do(ctx context.Context, _ *actions.Call) error {
	<-ctx.Done()
	return ctx.Err()
}

// An unending action does not end before it is released, whatever else happens.
type unending chan struct{}

func (u unending) Do(context.Context, *actions.Call) error {
	<-u
	return nil
}

// TestSettleInTime: what does not end does not keep the daemon from ending at its deadline, and the
// actions of rules have time to end after they were stopped.
func TestSettleInTime(t *testing.T) {
	for _, left := range []time.Duration{600 * time.Millisecond, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			var said strings.Builder
			d := New(Options{Config: &config.Loaded{}, Log: zerolog.New(&said)})
			release := make(chan struct{})
			defer close(release)
			stopped := time.Time{}
			start := func(a actions.Action) *activeAction {
				w := actions.Start(a, func(*actions.Call, error) { stopped = time.Now() })
				w.Offer(&actions.Call{})
				return &activeAction{worker: w}
			}
			d.rules.set = &ruleSet{list: []*activeRule{{Rule: &rules.Rule{Name: "endless"}, actions: []*activeAction{start(unending(release)), start(stuck{})}}}}
			d.rules.saving.Go(func() { <-release })
			began := time.Now()
			d.settle(began.Add(left))
			if took := time.Since(began); took > left+sayTime {
				t.Errorf("it took %v, and had %v", took, left)
			}
			if after := stopped.Sub(began); after != min(actionsStop, left/2) {
				t.Errorf("an action was stopped after %v", after)
			}
			if !strings.Contains(said.String(), `"rule":"endless","message":"an action of the rule does not end`) {
				t.Errorf("it says %q", said.String())
			}
		})
	}
}
