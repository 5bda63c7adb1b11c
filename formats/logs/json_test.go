package logs_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

var fileID = regexp.MustCompile(`"gclog_file_id":"[0-9a-f]{16}"`)

// docID of what is told by its ticks, which json does not hold.
var docID = regexp.MustCompile(`"gclog_doc_id":"[0-9a-f]{32}",("event":\{[^}]*"action":"gc-)`)

// TestJSONAgain: what is read back and written again is the same log.
func TestJSONAgain(t *testing.T) {
	forEach(t, func(t *testing.T, stream []byte) {
		text, _ := record(t, stream, "json", facts)
		if text == nil {
			t.Skip("no records")
		}
		again, _, skipped := read(t, text)
		if skipped.Count != 0 {
			t.Errorf("lines %v were skipped", skipped.Lines)
		}
		sameLines(t, anonymous(text), anonymous(again))
	})
}

// TestJSONOrder: pauses and phases come in the order in which the events told them.
func TestJSONOrder(t *testing.T) {
	forEach(t, func(t *testing.T, stream []byte) {
		text, all := record(t, stream, "json", nil)
		if text == nil {
			t.Skip("no records")
		}
		_, back, _ := read(t, text)
		for i, x := range all {
			sameLines(t, []byte(strings.Join(x.order, "\n")), []byte(strings.Join(back[i].order, "\n")))
		}
	})
}

func anonymous(text []byte) []byte {
	return docID.ReplaceAll(fileID.ReplaceAll(text, nil), []byte("$1"))
}

func sameLines(t *testing.T, want, got []byte) {
	t.Helper()
	a, b := bytes.Split(want, []byte{'\n'}), bytes.Split(got, []byte{'\n'})
	if len(a) != len(b) {
		t.Errorf("%d lines, want %d", len(b), len(a))
	}
	wrong := 0
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			n := 0
			for n < min(len(a[i]), len(b[i])) && a[i][n] == b[i][n] {
				n++
			}
			from := max(0, n-80)
			t.Errorf("line %d is\n\t%s\nwant\n\t%s", i+1, b[i][from:min(len(b[i]), n+80)], a[i][from:min(len(a[i]), n+80)])
			if wrong++; wrong == 3 {
				return
			}
		}
	}
}
