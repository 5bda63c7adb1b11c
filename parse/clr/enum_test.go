package clr_test

import (
	"math"
	"testing"

	"github.com/gclog/gclog/parse/clr"
)

// TestParseNames: values are parsed back from their names, and so are values without a name.
func TestParseNames(t *testing.T) {
	for v := range uint32(40) {
		if got, ok := clr.ParseReason([]byte(clr.Reason(v).String())); !ok || got != clr.Reason(v) {
			t.Errorf("%v is read as %v", clr.Reason(v), got)
		}
		if got, ok := clr.ParseGCType([]byte(clr.GCType(v).String())); !ok || got != clr.GCType(v) {
			t.Errorf("%v is read as %v", clr.GCType(v), got)
		}
		if got, ok := clr.ParseSuspendReason([]byte(clr.SuspendReason(v).String())); !ok || got != clr.SuspendReason(v) {
			t.Errorf("%v is read as %v", clr.SuspendReason(v), got)
		}
		if got, ok := clr.ParsePauseMode([]byte(clr.PauseMode(v).String())); !ok || got != clr.PauseMode(v) {
			t.Errorf("%v is read as %v", clr.PauseMode(v), got)
		}
	}
	for i := range 32 {
		m, c := clr.Mechanisms(1)<<i, clr.Condemned(1)<<i
		if got, ok := clr.ParseMechanism([]byte(m.Names(nil)[0])); !ok || got != m {
			t.Errorf("%v is read as %v", m.Names(nil), got.Names(nil))
		}
		if got, ok := clr.ParseCondemned([]byte(c.Names(nil)[0])); !ok || got != c {
			t.Errorf("%v is read as %v", c.Names(nil), got.Names(nil))
		}
	}
	if v, ok := clr.ParseReason([]byte("Reason(4294967295)")); !ok || v != math.MaxUint32 {
		t.Errorf("the last reason is read as %v", v)
	}
	for _, name := range []string{"", "Reason", "Reason(", "Reason()", "Reason(x)", "Reason(4294967296)", "Reason(99999999999999999999)", "Reason(-1)", "Type(40)", "allocsmall"} {
		if v, ok := clr.ParseReason([]byte(name)); ok {
			t.Errorf("%q is read as %v", name, v)
		}
	}
	if _, ok := clr.ParseMechanism([]byte("Mechanism(32)")); ok {
		t.Error("a bit beyond the last is read")
	}
	for g := range clr.CondemnedGenerations(256) {
		if clr.MakeCondemnedGenerations(g.Initial(), g.Final(), g.BudgetExceeded(), g.TimeTuning()) != g {
			t.Errorf("%x is not made again", g)
		}
	}
}
