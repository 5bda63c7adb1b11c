package record

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/actions"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/rules"
	"github.com/gclog/gclog/session"
)

// TestOnCooldown: a cooldown goes on when another session takes over, as it does when the action is
// another level.
func TestOnCooldown(t *testing.T) {
	r, err := flags.Rule("pause > 0", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	worker := actions.Start(actionFunc(func(context.Context, *actions.Call) error { done++; return nil }), func(_ *actions.Call, err error) { t.Error(err) })
	x := (&doer{rules: []*rules.Rule{r}, workers: []*actions.Worker{worker}}).of(session.Config{})
	for n := range uint32(4) {
		o := x.engine.Observe(&gclog.Process{ID: 7, Sync: time.Unix(1e9, 0)})
		o(&gclog.Start{})
		o(&gclog.GCDetails{Number: n, Known: gclog.GroupNumber, Pauses: []gclog.PausePart{{Duration: 1e6}}})
	}
	if worker.Close(t.Context(), time.Hour); done != 1 {
		t.Errorf("it was done %d times", done)
	}
}

// TestOnLevelEnds: the level becomes the usual one again even if the session could not change for some
// time.
func TestOnLevelEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		raised := session.Config{BufferMB: 2}
		x := (&doer{p: &commands{&program.Run{UI: &program.UI{W: io.Discard}}}, level: &raisedLevel{config: raised, lasting: time.Minute}}).of(session.Config{BufferMB: 1})
		x.raise()
		time.Sleep(2 * time.Minute)
		<-x.levels // of which the session now takes no more
		x.raise()
		time.Sleep(2 * time.Minute)
		var last session.Config
		for range 4 {
			select {
			case last = <-x.levels:
			default:
			}
			time.Sleep(2 * time.Second)
		}
		if last.BufferMB != 1 {
			t.Errorf("the last level is that of %+v", last)
		}
		x.end()
	})
}
