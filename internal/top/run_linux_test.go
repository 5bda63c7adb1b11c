package top

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/terminal"
	"golang.org/x/sys/unix"
)

// TestPanic: after a panic the terminal is as it was before, and the error says what happened.
func TestPanic(t *testing.T) {
	main, tty, err := terminal.Open(80, 24)
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	defer main.Close()
	defer tty.Close()
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

// TestNeededMost: if a daemon watches more processes than its records can be read of, those on the
// screen have them, also after the user has turned to others.
func TestNeededMost(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "ctl.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	daemon := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})}
	go func() { _ = daemon.Serve(l) }()
	defer daemon.Close()
	ended := make(chan Ended, 200)
	r := &runner{
		o: RunOptions{Socket: socket}, m: New(Options{}), ctx: t.Context(), logged: map[int]bool{},
		sources: map[int]*source{}, targets: map[int]*host.Target{}, ids: map[identity]int{},
		send: func(m any) {
			if e, ok := m.(Ended); ok {
				ended <- e
			}
		},
	}
	var seen Seen
	for id := 1; id <= 100; id++ {
		seen = append(seen, Listed{ID: id, PID: 1000 + id, Name: "x"})
		r.logged[1000+id] = true
		r.targets[id] = &host.Target{Process: host.Process{PID: 1000 + id}}
	}
	r.m.Update(Size{80, 24})
	r.m.Update(seen)
	running := func() (list []int) {
		for id, s := range r.sources {
			if s.ended.IsZero() {
				list = append(list, id)
			}
		}
		slices.Sort(list)
		return list
	}
	r.ensure()
	if got := running(); len(got) != streamsMost || got[0] != 1 || got[streamsMost-1] != streamsMost {
		t.Fatalf("first it reads of %v", got)
	}
	r.m.Update(Key("end"))
	from := r.m.Wanted()[0]
	for r.ensure(); !slices.Contains(running(), 100) || !slices.Contains(running(), from); r.ensure() {
		select {
		case e := <-ended:
			r.Update(e)
		case <-time.After(time.Minute):
			t.Fatalf("at the end of the list, from %d on, it reads of %v", from, running())
		}
	}
	if got := running(); len(got) > streamsMost {
		t.Errorf("it reads of %d processes: %v", len(got), got)
	}
	r.close()
}
