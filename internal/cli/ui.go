package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/view"
)

// A ui prints what people see on standard error. The rules:
//
//   - A message is one line, broken only where the terminal ends: "gclog: ", then a sentence in
//     lower case without a full stop, that names the thing, the place and the way out.
//   - Progress is one line that is rewritten, on a terminal only.
//   - Text from a target is printed only after clean.
type ui struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	progress string // the line that is shown now
	data     bool   // lines of data appear on the same terminal: they show the progress
}

func newUI(w io.Writer) *ui { return &ui{w: w, terminal: screen.IsTerminal(w)} }

// say prints a message.
func (u *ui) say(s string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.erase()
	width, _ := screen.Size(u.w)
	for line := range strings.Lines("gclog: " + clean(s) + "\n") {
		_, _ = u.w.Write(append(screen.Wrap(nil, strings.TrimSuffix(line, "\n"), width, 2), '\n'))
	}
}

func (u *ui) sayf(format string, args ...any) { u.say(fmt.Sprintf(format, args...)) }

// error prints an error; joined errors get a line each.
func (u *ui) error(err error) {
	if coded, ok := err.(*codedError); ok { //nolint:errorlint // what wraps one has text of its own
		err = coded.err
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			u.error(e)
		}
		return
	}
	u.say(err.Error())
}

// erase removes the progress line.
func (u *ui) erase() {
	if u.progress != "" {
		fmt.Fprint(u.w, "\r\x1b[K")
		u.progress = ""
	}
}

// interrupted removes the ^C that a terminal has printed: the next text starts at the beginning of
// the line.
func (u *ui) interrupted() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.terminal {
		fmt.Fprint(u.w, "\r\x1b[K")
		u.progress = ""
	}
}

// orInterrupt is the end of a message that gclog waits: how not to wait, if somebody sits at a terminal.
func (u *ui) orInterrupt() string {
	if !u.terminal {
		return ""
	}
	return "; Ctrl-C again ends gclog immediately"
}

func (u *ui) show(s string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if s == u.progress {
		return
	}
	width, _ := screen.Size(u.w)
	fmt.Fprint(u.w, "\r\x1b[K"+screen.Cut(oneLine(s), width-1)) // a wrapped line could not be erased
	u.progress = s
}

// watch shows the result of line, once a second, until the function that watch returns is called.
// Without a terminal, and between lines of data, it shows nothing.
func (u *ui) watch(line func(elapsed time.Duration) string) (stop func()) {
	if !u.terminal || u.data {
		return func() {}
	}
	began := time.Now()
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				u.show(line(time.Since(began)))
			case <-quit:
				u.mu.Lock()
				u.erase()
				u.mu.Unlock()
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(quit)
		<-done
	})
}

// elapsed formats a duration as hh:mm:ss.
func elapsed(d time.Duration) string {
	s := int64(d.Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// clean replaces characters that a terminal would interpret: names and arguments come from other
// processes.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r != '\n' && r != '\t' && formats.IsControl(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// oneLine returns text from other processes for one cell of a table.
func oneLine(s string) string { return view.OneLine(s) }
