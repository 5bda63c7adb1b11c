package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gclog/gclog/internal/rotate"
	"golang.org/x/sys/unix"
)

// supervisorCommand makes gclog the supervisor of a command: only gclog itself runs it, with an
// identity, and the command.
const supervisorCommand = "command-for-gclog"

// Descriptors of a supervisor, apart from those of its command.
const (
	supervisorHeld   = 3 // ends when the command must end
	supervisorReport = 4
)

// A supervisor runs one command. It keeps the user of gclog, so that the command cannot end it.
type supervisor struct {
	who     *identity
	report  *os.File
	command int // pid
	status  syscall.WaitStatus
	ended   bool   // the command itself has
	left    string // names of the processes that it had left running
}

// Supervise does what args ask for if they are those of a supervisor, and reports whether they are.
func Supervise(args []string) (code int, isSupervisor bool) {
	if len(args) < 2 || args[1] != supervisorCommand {
		return 0, false
	}
	// The rights of the command are those of the thread that starts it. This thread has to last: the
	// command ends with it.
	runtime.LockOSThread()
	s := &supervisor{report: os.NewFile(supervisorReport, "report")}
	defer s.report.Close() // which says that nothing is left of the command, however long this takes to exit
	if err := s.supervise(args[2:]); err != nil {
		s.say(err.Error())
		return 1, true
	}
	s.say(s.result())
	return 0, true
}

// say writes a line of the report.
func (s *supervisor) say(line string) {
	_, _ = fmt.Fprintln(s.report, strings.ReplaceAll(line, "\n", "; "))
}

func (s *supervisor) supervise(args []string) (err error) {
	var flags int
	if flags, err = unix.FcntlInt(supervisorHeld, unix.F_GETFD, 0); err != nil || len(args) < 2 {
		return fmt.Errorf("this command is internal: gclog uses it to run commands of rules (%d)", flags)
	}
	if s.who, err = parseIdentity(args[0]); err != nil {
		return err
	}
	children := make(chan os.Signal, 1)
	signal.Notify(children, unix.SIGCHLD)
	if err := s.start(args[1:]); err != nil {
		return err
	}
	held := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(supervisorHeld, "held"))
		close(held)
	}()
	s.watch(children, held)
	return nil
}

// start starts the command.
func (s *supervisor) start(args []string) error {
	if err := s.confine(); err != nil {
		return err
	}
	path := args[0]
	if !strings.Contains(path, "/") {
		var err error
		if path, err = exec.LookPath(path); err != nil {
			if search, ok := errors.AsType[*exec.Error](err); ok { // whose text has the command again
				err = search.Err
			}
			return err
		}
	}
	attributes := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if as := s.who.account; as != nil {
		attributes.Credential = &syscall.Credential{Uid: as.UID, Gid: as.GID, Groups: s.who.groups}
	}
	// If memory runs out, that of a service for example, the kernel ends the command first, not gclog or
	// this supervisor.
	restore := Expendable()
	var err error
	s.command, err = syscall.ForkExec(path, args,
		&syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: attributes})
	restore()
	if err != nil {
		return err
	}
	if as := s.who.account; as != nil {
		// Who may send signals to a process has its user, or the capability KILL, which gclog need not
		// have. The real uid remains gclog's: the command may not send any to the supervisor. Its
		// capabilities remain permitted: neither may the command slow it down.
		return syscall.Setresuid(-1, int(as.UID), -1)
	}
	return nil
}

// confine makes what this thread starts have no rights but those of its user, and no files.
func (s *supervisor) confine() error {
	as := rotate.Account{}
	if s.who.account != nil {
		as = *s.who.account
	}
	if err := as.Check(); err != nil {
		return err
	}
	if err := closeOnExec(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if s.who.account == nil && os.Geteuid() == 0 {
		return nil // root has all that this gclog may have, whatever is given up here
	}
	for c := range uintptr(64) {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // which takes a capability of its own
	}
	// Capabilities that are not inheritable are not ambient either, and only ambient ones outlast that a
	// user other than root starts a program.
	return clearInheritable()
}

func clearInheritable() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	if data[0].Inheritable == 0 && data[1].Inheritable == 0 {
		return nil
	}
	data[0].Inheritable, data[1].Inheritable = 0, 0
	return unix.Capset(&header, &data[0])
}

// closeOnExec makes all files but the first three be closed in the command: gclog may have inherited
// some itself.
func closeOnExec() error {
	names, err := filepath.Glob("/proc/self/fd/*")
	for _, name := range names {
		if fd, err := strconv.Atoi(filepath.Base(name)); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return err
}

// watch returns when nothing is left of the command.
func (s *supervisor) watch(children chan os.Signal, held <-chan struct{}) {
	var left, late, again <-chan time.Time
	pause := time.Millisecond
	for s.reap(children) {
		if s.ended && left == nil {
			left = time.After(leftTime)
		}
		if late != nil { // what a process has started is adopted when that process has been killed
			s.kill()
			again = time.After(pause)
			pause = min(2*pause, time.Second)
		}
		select {
		case <-children:
		case <-again:
		case <-left:
			s.left = describe(offspring())
			late = time.After(killTime)
		case <-held:
			held, late = nil, time.After(killTime)
			if s.ended && s.left == "" {
				s.left = describe(offspring())
			}
		case <-late:
			s.say(s.kill())
		}
	}
}

// reapMost is how many children are taken note of at a time: a command may start and end them faster
// than that, and has to be ended all the same.
const reapMost = 1000

// reap reports whether there are children, and records the ones that have ended. If more may have ended,
// it sends a signal to more.
func (s *supervisor) reap(more chan<- os.Signal) bool {
	for range reapMost {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG|syscall.WALL, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return false
		case pid == 0:
			return true
		case status.Stopped(): // it has made this process its debugger
			_ = unix.PtraceDetach(pid)
		case pid == s.command:
			s.status, s.ended = status, true
		}
	}
	select {
	case more <- unix.SIGCHLD:
	default: // it knows
	}
	return true
}

// kill kills all children, and returns which they are. Only reap ends the existence of a child, so
// its pid cannot be that of another process by now.
func (s *supervisor) kill() string {
	list := offspring()
	if !s.ended && !slices.ContainsFunc(list, func(c child) bool { return c.pid == s.command }) {
		list = append(list, child{pid: s.command, name: "the command"}) // /proc may not show it
	}
	for i := range list {
		c := &list[i]
		_ = unix.Kill(-c.pid, unix.SIGKILL) // its group, if it has one: none of them can fork any more
		if c.problem = unix.Kill(c.pid, unix.SIGKILL); c.problem == nil && c.state == "D" {
			c.problem = errors.New("it waits in the kernel, for a disk for example")
		}
	}
	return describe(list)
}

// result returns how the command has ended, "" if it has ended well.
func (s *supervisor) result() string {
	var texts []string
	switch {
	case s.status.Signaled():
		texts = append(texts, "signal: "+s.status.Signal().String())
	case s.status.ExitStatus() != 0:
		texts = append(texts, fmt.Sprintf("exit status %d", s.status.ExitStatus()))
	}
	if s.left != "" {
		texts = append(texts, "it has left something running, which was killed: "+s.left)
	}
	return strings.Join(texts, "; ")
}

// A child is a process that this one has started or adopted.
type child struct {
	pid     int
	name    string
	state   string
	problem error // why it cannot be ended
}

// describe formats children for a message.
func describe(list []child) string {
	var texts []string
	for _, c := range list {
		text := fmt.Sprintf("%s (pid %d)", c.name, c.pid)
		if c.problem != nil {
			text += ": " + c.problem.Error()
		}
		texts = append(texts, text)
	}
	const most = 3
	if n := len(texts); n > most {
		texts = append(texts[:most], fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(texts, ", ")
}

// offspring returns the children that have not ended.
func offspring() (list []child) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		begin, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
		if begin < 0 || end < begin {
			continue
		}
		words := strings.Fields(string(b[end+1:]))
		const state, parent, threads = 0, 1, 17
		if len(words) <= threads || words[parent] != strconv.Itoa(os.Getpid()) {
			continue
		}
		// A process whose first thread has ended is in state Z too.
		if words[state] != "Z" || words[threads] != "1" {
			list = append(list, child{pid: pid, name: string(b[begin+1 : end]), state: words[0]})
		}
	}
	return list
}
