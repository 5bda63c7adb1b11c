// Package doctor finds out why a process cannot be attached to, why a file cannot be read or what
// is missing in it, and what on the machine hinders gclog; and what to do about it.
//
// Every cause is in causes.txtar: docs/troubleshooting.md is generated from it, and each cause has a
// test that produces it.
package doctor

import (
	_ "embed"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"
)

// A Cause is one reason why something does not work, or not as well as it could.
type Cause struct {
	ID   string
	What string // one general sentence; a Finding is about one process or file
	Way  string // what to do about it
}

// A Subject is what causes are about.
type Subject struct {
	Title  string
	Causes []Cause
}

//go:embed causes.txtar
var archive []byte

// Table returns all causes.
var Table = sync.OnceValue(func() (list []Subject) {
	for _, f := range txtar.Parse(archive).Files {
		what, way, _ := strings.Cut(string(f.Data), "\n\n")
		what, way = strings.Join(strings.Fields(what), " "), strings.Join(strings.Fields(way), " ")
		if _, id, isCause := strings.Cut(f.Name, "/"); isCause {
			s := &list[len(list)-1]
			s.Causes = append(s.Causes, Cause{id, what, way})
			continue
		}
		list = append(list, Subject{Title: what})
	}
	return list
})

// find returns the cause with an id. ok is false if there is none.
func find(id string) (c Cause, ok bool) {
	for _, s := range Table() {
		for _, c := range s.Causes {
			if c.ID == id {
				return c, true
			}
		}
	}
	return Cause{}, false
}
