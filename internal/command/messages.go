package command

import (
	"bytes"
	"strings"
	"sync"

	"github.com/gclog/gclog/formats"
)

// messages passes the lines that are written to it to say, each when the next one is complete: the
// last one may be an error.
type messages struct {
	mu    sync.Mutex
	say   func(string)
	line  []byte // without an end so far
	last  string // the last complete one; "": there is none
	count int    // lines that were passed on

	ofGo    bool // the program is gclog: what Go prints when it ends a program is one line
	crashed bool // the message of a crash has come

	most    int // bytes that may be written; 0: any number
	flooded func()
	written int
	closed  bool // later lines are dropped
}

// Write implements io.Writer.
func (m *messages) Write(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return len(b), nil
	}
	if m.written += len(b); m.most > 0 && m.written > m.most {
		m.flooded()
		return len(b), nil
	}
	for line := range bytes.Lines(b) {
		text, complete := bytes.CutSuffix(line, []byte{'\n'})
		if room := 4*maxLineSize - len(m.line); room > 0 {
			m.line = append(m.line, text[:min(len(text), room)]...)
		}
		if complete {
			m.next()
		}
	}
	return len(b), nil
}

// next handles the end of a line.
func (m *messages) next() {
	text := formats.OneLine(strings.TrimSpace(strings.TrimPrefix(string(m.line), "gclog: ")), maxLineSize)
	m.line = m.line[:0]
	if text == "" || m.crashed {
		return
	}
	m.pass()
	m.last = text
	m.crashed = m.ofGo && strings.HasPrefix(text, "fatal error: ") // the stacks follow
}

// pass passes the last line on.
func (m *messages) pass() {
	if m.last != "" && m.count < maxLines {
		m.count++
		m.say(m.last)
	}
}

// end handles the end of the command, and returns the last line. It is passed on unless the command
// has failed.
func (m *messages) end(failed bool) (last string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.next()
	if !failed {
		m.pass()
	}
	return m.last
}

// limited keeps the first bytes that are written to it.
type limited struct {
	b    []byte
	most int
	over bool
}

// Write implements io.Writer.
func (l *limited) Write(b []byte) (int, error) {
	if l.over = l.over || len(l.b)+len(b) > l.most; !l.over {
		l.b = append(l.b, b...)
	}
	return len(b), nil
}
