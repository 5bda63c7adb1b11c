package formats_test

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
)

// A narrow writer accepts room bytes, and then none until room is increased.
type narrow struct {
	bytes.Buffer
	room int
}

var errNarrow = errors.New("no room")

func (n *narrow) Write(b []byte) (int, error) {
	fits := min(len(b), n.room)
	n.room -= fits
	n.Buffer.Write(b[:fits])
	if fits < len(b) {
		return fits, errNarrow
	}
	return fits, nil
}

var headOfLines = formats.Head{Append: func(dst []byte, number int) []byte {
	return append(strconv.AppendInt(append(dst, "head "...), int64(number), 10), '\n')
}}

// TestStreamTorn: the remains of a group whose write failed stay on a line of their own, and the
// header is tried again until it is written.
func TestStreamTorn(t *testing.T) {
	for _, c := range []struct {
		name  string
		rooms []int // for each group
		want  string
		bytes int64
	}{
		{"enough", []int{100, 100, 100}, "head 1\none\none\none\n", 19},
		{"none for the head", []int{0, 100, 100}, "head 1\none\none\n", 15},
		{"a part of the head", []int{2, 100, 100}, "he\nhead 1\none\none\n", 18},
		{"the head only", []int{7, 100, 100}, "head 1\none\none\n", 15},
		{"a part of a group", []int{100, 2, 100}, "head 1\none\non\none\n", 18},
		{"a part of the line between", []int{100, 2, 1}, "head 1\none\non\n", 14},
		{"none between", []int{100, 2, 0}, "head 1\none\non", 13},
	} {
		out := &narrow{}
		s := formats.NewStream(out, false)
		for _, room := range c.rooms {
			out.room = room
			if err := s.Write(headOfLines, []byte("one\n"), false); err != nil && !errors.Is(err, errNarrow) {
				t.Error(err)
			}
		}
		if got := out.String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if s.Bytes() != c.bytes {
			t.Errorf("%s: counted are %d bytes of %d", c.name, s.Bytes(), c.bytes)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestStreamBuffered: a buffered stream writes when its buffer is full, and at its end.
func TestStreamBuffered(t *testing.T) {
	var out bytes.Buffer
	s := formats.NewStream(&out, true)
	group := []byte(strings.Repeat("x", 1023) + "\n")
	write := func(n int) {
		for range n {
			if err := s.Write(headOfLines, group, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(32)
	if out.Len() != 0 {
		t.Errorf("%d bytes were written at once", out.Len())
	}
	write(96)
	if out.Len() < 64<<10 {
		t.Errorf("of 128 KB only %d bytes were written", out.Len())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if want := "head 1\n" + strings.Repeat(string(group), 128); out.String() != want || s.Bytes() != int64(len(want)) {
		t.Errorf("%d bytes, counted %d, want %d", out.Len(), s.Bytes(), len(want))
	}
	full := formats.NewStream(&narrow{}, true)
	if err := full.Write(headOfLines, group, false); err != nil {
		t.Error(err)
	}
	if err := full.Close(); !errors.Is(err, errNarrow) {
		t.Errorf("what was collected is lost, and the error is %v", err)
	}
}

// TestFind tests the formats by name and by file name.
func TestFind(t *testing.T) {
	var all []string
	for _, f := range formats.All() {
		all = append(all, f.Name)
		if found, err := formats.Find(f.Name); err != nil || found.Name != f.Name {
			t.Errorf("%s: %s, %v", f.Name, found.Name, err)
		}
		if want := f.Name == "json" || f.Name == "csv"; f.ManyProcesses() != want {
			t.Errorf("%s: several processes in a file: %v", f.Name, f.ManyProcesses())
		}
	}
	if want := []string{"unified", "jdk8", "json", "csv", "text"}; !slices.Equal(all, want) {
		t.Errorf("the formats are %v, want %v", all, want)
	}
	if f, err := formats.Find("xml"); f.Name != "" || err == nil || err.Error() != `unknown format "xml": the formats are unified, jdk8, json, csv, text` {
		t.Errorf("xml: %q, %v", f.Name, err)
	}
	for path, want := range map[string]string{
		"gc.log": "unified", "gc": "unified", "": "unified", "gc.json": "json", "a.csv/gc.ndjson": "json", "gc.JSONL": "json", "gc.csv": "csv", "gc.Txt": "text", "a.csv/gc": "unified",
	} {
		if got := formats.ForFile(path).Name; got != want {
			t.Errorf("%q is %s, want %s", path, got, want)
		}
	}
}
