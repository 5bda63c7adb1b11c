//go:build linux

package endure

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A ledger is what the logs of a program say about its collections. It is computed from nothing but
// the lines.
type ledger struct {
	pid   int
	lives map[string]*life // by id of the instance of gclog
	last  string           // the id of the last one that reported a number
	twice []string         // ids that are there with different contents
}

// A life is what one instance of gclog has reported.
type life struct {
	records, gaps map[uint32]int
	lost          map[uint32]bool // in gaps where the runtime has dropped events, which may have records too
	overlapping   map[uint32]bool // background collections, and those inside of one: a gap may contain their numbers
	first, newest uint32
	ended         bool // regularly: it was not killed
}

type line struct {
	DocID  string `json:"gclog_doc_id"`
	Event  struct{ Action string }
	GCLog  struct{ Session struct{ ID string } }
	DotNET struct {
		GC struct {
			Number   uint32
			Type     string
			Inside   bool `json:"inside_background_start"`
			Complete bool
			Gap      *struct {
				From, To uint32
				Reason   string
			}
		}
	}
}

var contents = maphash.MakeSeed()

// readLedger reads the logs of a program.
func readLedger(dir string, pid int) (*ledger, error) {
	var files []string
	for _, pattern := range []string{"-*.json", ".json"} { // older ones, and the one that is written to
		some, err := filepath.Glob(filepath.Join(dir, strconv.Itoa(pid)+pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, some...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("process %d has no log", pid)
	}
	l := &ledger{pid: pid, lives: map[string]*life{}}
	ids := map[string]uint64{}
	var errs []error
	for _, path := range files {
		errs = append(errs, l.read(path, ids))
	}
	return l, errors.Join(errs...)
}

func (l *ledger) read(path string, ids map[string]uint64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var r line
		if json.Unmarshal(s.Bytes(), &r) != nil {
			continue // torn by a kill
		}
		if r.DocID != "" {
			sum := maphash.Bytes(contents, s.Bytes())
			if other, known := ids[r.DocID]; known && other != sum {
				l.twice = append(l.twice, r.DocID)
			}
			ids[r.DocID] = sum
		}
		l.add(&r)
	}
	return s.Err()
}

func (l *ledger) add(r *line) {
	gc := &r.DotNET.GC
	id := r.GCLog.Session.ID
	x := l.lives[id]
	if x == nil {
		x = &life{records: map[uint32]int{}, gaps: map[uint32]int{}, lost: map[uint32]bool{}, overlapping: map[uint32]bool{}}
		l.lives[id] = x
	}
	switch {
	case r.Event.Action == "gc-session-end":
		x.ended = true
	case r.Event.Action == "gc" && gc.Complete && gc.Number > 0:
		x.records[gc.Number]++
		x.overlapping[gc.Number] = gc.Type != "blocking" || gc.Inside
		x.reach(gc.Number, gc.Number)
		l.last = l.later(id)
	case r.Event.Action == "gc" && gc.Number > 0: // a part: it is told, or told again by another life
		x.overlapping[gc.Number] = true
		x.records[gc.Number]++
	case gc.Gap != nil && gc.Gap.To > 0:
		for n := gc.Gap.From; n <= gc.Gap.To; n++ {
			if gc.Gap.Reason == "lost-events" {
				x.lost[n] = true
			} else {
				x.gaps[n]++
			}
		}
		x.reach(gc.Gap.From, gc.Gap.To)
		l.last = l.later(id)
	}
}

// later returns the one of two lives that has reported the higher number.
func (l *ledger) later(id string) string {
	if was := l.lives[l.last]; was != nil && was.newest > l.lives[id].newest {
		return l.last
	}
	return id
}

func (x *life) reach(from, to uint32) {
	if x.first == 0 {
		x.first = from
	}
	x.newest = max(x.newest, to)
}

// beforeStart reports whether a collection may have ended before the life saw the program: the only
// one with a lower number is a background one that was in progress.
func (x *life) beforeStart(n uint32) bool {
	lower := uint32(0)
	for other := x.first; other < n; other++ {
		if x.records[other]+x.gaps[other] > 0 {
			if lower != 0 {
				return false
			}
			lower = other
		}
	}
	return x.overlapping[lower] || x.records[lower] == 0 // a gap does not say what it was
}

// openAtKill reports whether a collection may have been a background one that was in progress when the
// daemon was killed: all later ones were inside of it. There can be only one.
func (x *life) openAtKill(n uint32) bool {
	if x.ended {
		return false
	}
	for other := n + 1; other <= x.newest; other++ {
		if x.gaps[other] == 0 && !x.overlapping[other] { // a gap does not say what it was
			return false
		}
	}
	return true
}

// endsLater reports whether another life has seen the end of a collection: a background one was open
// when the daemon was killed, and collections with higher numbers had ended before.
func (l *ledger) endsLater(n uint32, id string) bool {
	for other, x := range l.lives {
		if other != id && x.records[n] > 0 && x.overlapping[n] {
			return true
		}
	}
	return false
}

// judge: in each life each collection between the first and the last is in one record or in one gap,
// and the last life has reported all that the program has counted.
func (l *ledger) judge(t *testing.T, counted uint32) {
	told, missing, problems := l.problems(counted)
	t.Logf("process %d: %d lives, %d collections told, %d missing, %d ids twice with different contents; the program counted %d",
		l.pid, len(l.lives), told, missing, len(l.twice), counted)
	if len(problems) > 0 {
		t.Errorf("process %d: %d problems:\n%s", l.pid, len(problems), strings.Join(problems[:min(20, len(problems))], "\n"))
	}
}

func (l *ledger) problems(counted uint32) (told, missing int, problems []string) {
	for id, x := range l.lives {
		for n := x.first; n <= x.newest && n > 0; n++ {
			told++
			records, gaps := x.records[n], x.gaps[n]
			switch {
			case records+gaps == 0 && (x.lost[n] || x.beforeStart(n) || x.openAtKill(n) || l.endsLater(n, id)):
			case records+gaps == 0:
				missing++
				problems = append(problems, fmt.Sprintf("#%d is in no record and no gap of %s", n, id))
			case records+gaps > 1 && !x.overlapping[n]:
				problems = append(problems, fmt.Sprintf("#%d is in %d records and %d gaps of %s", n, records, gaps, id))
			}
		}
	}
	if x := l.lives[l.last]; x == nil || x.newest < counted {
		problems = append(problems, fmt.Sprintf("the program has counted %d collections, and the last daemon has told fewer", counted))
	}
	for _, id := range l.twice {
		problems = append(problems, "with different contents: "+id)
	}
	return told, missing, problems
}

// TestLedger: what a ledger finds, and what it does not take for missing.
func TestLedger(t *testing.T) {
	t.Parallel()
	gc := func(id string, n int, more string) string {
		return fmt.Sprintf(`{"gclog_doc_id":"%[1]s%[2]d%[3]d","event":{"action":"gc"},"gclog":{"session":{"id":"%[1]s"}},"dotnet":{"gc":{"number":%[2]d,%[4]s}}}`, id, n, len(more), more)
	}
	gap := func(id string, from, to int, reason string) string {
		return fmt.Sprintf(`{"event":{"action":"gc-gap"},"gclog":{"session":{"id":%q}},"dotnet":{"gc":{"gap":{"from":%d,"to":%d,"reason":%q}}}}`, id, from, to, reason)
	}
	end := func(id string) string {
		return fmt.Sprintf(`{"event":{"action":"gc-session-end"},"gclog":{"session":{"id":%q}}}`, id)
	}
	const blocking, background, inside, part = `"type":"blocking","complete":true`, `"type":"background","complete":true`,
		`"type":"blocking","inside_background_start":true,"complete":true`, `"type":"background","complete":false`
	for name, c := range map[string]struct {
		lines   []string
		counted uint32
		want    []string
	}{
		"all":                  {[]string{gc("a", 3, blocking), gap("a", 4, 5, "unwritten"), gc("a", 6, blocking), end("a"), gc("b", 8, blocking)}, 8, nil},
		"one is missing":       {[]string{gc("a", 3, blocking), gc("a", 5, blocking)}, 5, []string{"#4 is in no record and no gap of a"}},
		"one is lost":          {[]string{gc("a", 3, blocking), gap("a", 4, 4, "lost-events"), gc("a", 5, blocking)}, 5, nil},
		"one is there twice":   {[]string{gc("a", 3, blocking), gap("a", 3, 3, "unwritten")}, 3, []string{"#3 is in 1 records and 1 gaps of a"}},
		"the end is missing":   {[]string{gc("a", 3, blocking)}, 4, []string{"the program has counted 4 collections, and the last daemon has told fewer"}},
		"two contents":         {[]string{gc("a", 3, blocking), strings.Replace(gc("a", 3, blocking), "true", "null", 1)}, 3, []string{"with different contents: a333"}},
		"ends in another life": {[]string{gc("a", 2, blocking), gc("a", 4, inside), end("a"), gc("b", 3, background), gc("b", 5, blocking)}, 5, nil},
		"open, and killed":     {[]string{gc("a", 2, blocking), gc("a", 4, inside)}, 4, nil},
		"open, and not killed": {[]string{gc("a", 2, blocking), gc("a", 4, inside), end("a")}, 4, []string{"#3 is in no record and no gap of a"}},
		"a part":               {[]string{gc("a", 2, blocking), gc("a", 4, inside), gc("a", 3, part), end("a")}, 4, nil},
		"starts inside of one": {[]string{gc("a", 2, background), gc("a", 4, blocking), end("a")}, 4, nil},
		"starts before two":    {[]string{gc("a", 1, blocking), gc("a", 2, background), gc("a", 4, blocking), end("a")}, 4, []string{"#3 is in no record and no gap of a"}},
		"nothing":              {nil, 0, []string{"the program has counted 0 collections, and the last daemon has told fewer"}},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"7.json": strings.Join(c.lines, "\n"), "7-old.json": end("z"), "70.json": gc("a", 900, blocking)} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		l, err := readLedger(dir, 7)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, got := l.problems(c.counted); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
