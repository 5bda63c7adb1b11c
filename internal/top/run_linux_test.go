package top

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/history"
	"golang.org/x/sys/unix"
)

// TestPanic: after a panic the terminal is as it was before, and the error says what happened.
func TestPanic(t *testing.T) {
	main, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	defer main.Close()
	number, err := unix.IoctlGetInt(int(main.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(main.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	if err := unix.IoctlSetWinsize(int(main.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 80, Row: 24}); err != nil {
		t.Fatal(err)
	}
	before, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	files, err := history.Open([]string{filepath.Join("..", "..", "testdata", "traces", "net9-wks-attach.nettrace.gz")}, history.Options{Want: gclog.WantedFinalized})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	var written screenOf
	go written.copy(main)
	explained := make(chan struct{})
	go func() {
		for !written.has("AllocSmall") {
			select {
			case <-explained:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
		_, _ = main.WriteString("\r")
	}()
	o := RunOptions{In: tty, Out: tty, Files: files, Speed: 0}
	o.Single, o.Replay = true, true
	o.Options.Explain = func(int, bool, *gclog.GCDetails, analysis.Context) string {
		close(explained)
		panic("a defect")
	}
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "panic: a defect\n") || !strings.Contains(err.Error(), "run_linux_test.go") {
		t.Errorf("the panic is reported as %v", err)
	}
	after, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if *before != *after {
		t.Errorf("the terminal is %+v, was %+v", after, before)
	}
	_, _ = tty.WriteString("the end")
	for !written.has("the end") {
		time.Sleep(5 * time.Millisecond)
	}
	if enter, leave := written.last("\x1b[?1049h"), written.last("\x1b[?1049l"); enter < 0 || leave < enter {
		t.Errorf("the screen before is not restored: %d, %d", enter, leave)
	}
	if written.last("\x1b[?25h") < written.last("\x1b[?25l") {
		t.Error("the cursor stays hidden")
	}
}

// TestPanicInUpdate: a panic while the model changes ends the program too.
func TestPanicInUpdate(t *testing.T) {
	sent := make(chan any, 1)
	r := &runner{send: func(m any) { sent <- m }} // without a model
	same, _ := r.Update(Said("anything"))
	if _, quit := (<-sent).(tea.QuitMsg); same != tea.Model(r) || r.panicked == nil || !quit {
		t.Errorf("%v, the panic is reported as %v", same, r.panicked)
	}
	if r.Update(Said("anything")); len(sent) > 0 || r.View().Content != "" {
		t.Error("goes on after the panic")
	}
}

// screenOf collects what is written to a terminal.
type screenOf struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screenOf) copy(from *os.File) {
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		s.mu.Lock()
		s.b.Write(b[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *screenOf) has(text string) bool { return s.last(text) >= 0 }

func (s *screenOf) last(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.LastIndex(s.b.String(), text)
}
