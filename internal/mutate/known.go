package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// knownFile contains the changes that make no difference, each with the reason.
const knownFile = "internal/mutate/known.txt"

// A known change is identified by its function and text, so that it stays known when other lines
// are edited.
type known struct {
	place, what string // what may end in *, for all changes that begin with the text before it
	line        int
}

func (k known) is(c change) bool {
	if begin, ok := strings.CutSuffix(k.what, "*"); ok {
		return k.place == c.place && strings.HasPrefix(c.what, begin)
	}
	return k.place == c.place && k.what == c.what
}

// readKnown reads a file whose lines are a place, ": ", and a change; the indented lines below a
// group say why its changes make no difference.
func readKnown(name string) ([]known, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []known
	reasoned := true
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '\t':
			reasoned = true
		default:
			place, what, ok := strings.Cut(line, ": ")
			if !ok {
				return nil, fmt.Errorf("%s:%d: neither a change nor a reason", name, n)
			}
			list = append(list, known{place, what, n})
			reasoned = false
		}
	}
	if !reasoned {
		return nil, fmt.Errorf("%s: the last change has no reason", name)
	}
	return list, lines.Err()
}
