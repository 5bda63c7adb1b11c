package formats

import (
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
)

// A noter notes what it receives.
type noter struct{ list []string }

func (n *noter) note(s string)                { n.list = append(n.list, s) }
func (n *noter) Start(*Start)                 { n.note("start") }
func (n *noter) Pause(*gclog.Pause)           { n.note("pause") }
func (n *noter) Phase(*gclog.Phase)           { n.note("phase") }
func (n *noter) GC(*gclog.GCDetails)          { n.note("gc") }
func (n *noter) Gap(*gclog.Gap)               { n.note("gap") }
func (n *noter) Stall(*gclog.Stall)           { n.note("stall") }
func (n *noter) Suspension(*gclog.Suspension) { n.note("suspension") }
func (n *noter) HeapGrowth(*HeapGrowth)       { n.note("growth") }
func (n *noter) End(*End)                     { n.note("end") }

// TestTee: each observer receives everything; one of events receives only those.
func TestTee(t *testing.T) {
	a, b, c := &noter{}, &noter{}, &noter{}
	o := Tee(a, b, Events(c))
	o.Start(nil)
	o.Pause(nil)
	o.Phase(nil)
	o.GC(nil)
	o.Gap(nil)
	o.Stall(nil)
	o.Suspension(nil)
	o.HeapGrowth(nil)
	o.End(nil)
	all := []string{"start", "pause", "phase", "gc", "gap", "stall", "suspension", "growth", "end"}
	events := []string{"pause", "phase", "gc", "gap"}
	if !slices.Equal(a.list, all) || !slices.Equal(b.list, all) || !slices.Equal(c.list, events) {
		t.Errorf("%v\n%v\n%v", a.list, b.list, c.list)
	}
}
