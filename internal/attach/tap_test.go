package attach

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// A tapped is the other end of a tap: it takes so many writes.
type tapped struct {
	bytes.Buffer
	takes  int
	closed int
}

func (x *tapped) Write(b []byte) (int, error) {
	if x.takes--; x.takes < 0 {
		return 0, errors.New("too slow")
	}
	return x.Buffer.Write(b)
}

func (x *tapped) Close() error {
	x.closed++
	return nil
}

// TestTaps: a tap receives the records until the session ends; one that fails is closed and
// forgotten, and the others are not affected.
func TestTaps(t *testing.T) {
	format, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	good, slow := &tapped{takes: 1 << 20}, &tapped{takes: 2}
	l := &Log{}
	for _, x := range []*tapped{good, slow} {
		l.taps = append(l.taps, tap{formats.NewWriter(format, formats.NewStream(x, false), formats.Options{}), x})
	}
	for n := range uint32(5) {
		l.passToTaps(&gclog.GCDetails{Number: n + 1, Known: gclog.GroupNumber})
	}
	if slow.closed != 1 || good.closed != 0 || len(l.taps) != 1 {
		t.Errorf("slow was closed %d times, the other %d times, %d remain", slow.closed, good.closed, len(l.taps))
	}
	l.passToTaps(&gclog.End{Reason: gclog.EndExited})
	l.endTaps()
	if got := good.String(); strings.Count(got, `"action":"gc",`) != 5 || !strings.Contains(got, `"reason":"exited"`) || good.closed != 1 || len(l.taps) != 0 {
		t.Errorf("closed %d times:\n%s", good.closed, got)
	}
	none := &tapped{}
	if l.Tap(none); none.closed != 1 {
		t.Error("without a session a tap ends at once")
	}
}
