package program

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/view"
)

// A UI prints what people see on standard error. The rules:
//
//   - A message is one line, broken only where the terminal ends: "gclog: ", then a sentence in
//     lower case without a full stop, that names the thing, the place and the way out.
//   - Progress is one line that is rewritten, on a terminal only.
//   - Text from a target is printed only after clean.
type UI struct {
	mu       sync.Mutex
	W        io.Writer
	Terminal bool
	progress string // the line that is shown now
	Data     bool   // lines of data appear on the same terminal: they show the progress
}

// NewUI returns the UI on a stream.
func NewUI(w io.Writer) *UI { return &UI{W: w, Terminal: screen.IsTerminal(w)} }

// Say prints a message.
func (u *UI) Say(s string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.erase()
	width, _ := screen.Size(u.W)
	for line := range strings.Lines("gclog: " + view.Clean(s) + "\n") {
		_, _ = u.W.Write(append(screen.Wrap(nil, strings.TrimSuffix(line, "\n"), width, 2), '\n'))
	}
}

// Sayf formats and prints a message.
func (u *UI) Sayf(format string, args ...any) { u.Say(fmt.Sprintf(format, args...)) }

// Error prints an error; joined errors get a line each.
func (u *UI) Error(err error) {
	if coded, ok := err.(*exit.Error); ok { //nolint:errorlint // what wraps one has text of its own
		err = coded.Err
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			u.Error(e)
		}
		return
	}
	u.Say(err.Error())
}

// erase removes the progress line.
func (u *UI) erase() {
	if u.progress != "" {
		fmt.Fprint(u.W, "\r\x1b[K")
		u.progress = ""
	}
}

// interrupted removes the ^C that a terminal has printed: the next text starts at the beginning of
// the line.
func (u *UI) interrupted() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.Terminal {
		fmt.Fprint(u.W, "\r\x1b[K")
		u.progress = ""
	}
}

// OrInterrupt is the end of a message that gclog waits: how not to wait, if somebody sits at a terminal.
func (u *UI) OrInterrupt() string {
	if !u.Terminal {
		return ""
	}
	return "; Ctrl-C again ends gclog immediately"
}

func (u *UI) show(s string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if s == u.progress {
		return
	}
	width, _ := screen.Size(u.W)
	fmt.Fprint(u.W, "\r\x1b[K"+screen.Cut(view.OneLine(s), width-1)) // a wrapped line could not be erased
	u.progress = s
}

// Watch shows the result of line, once a second, until the function that watch returns is called.
// Without a terminal, and between lines of data, it shows nothing.
func (u *UI) Watch(line func(elapsed time.Duration) string) (stop func()) {
	if !u.Terminal || u.Data {
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
