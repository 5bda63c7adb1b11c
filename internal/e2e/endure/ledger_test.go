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
}

type line struct {
	DocID  string `json:"gclog_doc_id"`
	Event  struct{ Action string }
	GCLog  struct{ Session struct{ ID string } }
	DotNET struct {
		GC struct {
			Number   uint32
			Type     string
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
	files, err := filepath.Glob(filepath.Join(dir, strconv.Itoa(pid)+"*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("process %d has no log: %w", pid, err)
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
	case r.Event.Action == "gc" && gc.Complete && gc.Number > 0:
		x.records[gc.Number]++
		x.overlapping[gc.Number] = gc.Type != "blocking"
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
	told, missing := 0, 0
	var problems []string
	for id, x := range l.lives {
		for n := x.first; n <= x.newest && n > 0; n++ {
			told++
			records, gaps := x.records[n], x.gaps[n]
			switch {
			case records+gaps == 0 && (x.lost[n] || l.endsLater(n, id)):
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
	t.Logf("process %d: %d lives, %d collections told, %d missing, %d ids twice with different contents; the program counted %d",
		l.pid, len(l.lives), told, missing, len(l.twice), counted)
	if len(problems) > 0 {
		t.Errorf("process %d: %d problems:\n%s", l.pid, len(problems), strings.Join(problems[:min(20, len(problems))], "\n"))
	}
}
