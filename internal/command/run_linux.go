package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/rotate"
)

// A command runs below a supervisor: gclog itself, in a process of its own, which gives up gclog's
// rights for those of the command, adopts all that the command leaves, and can end it. See
// supervisor_linux.go.

// run starts a supervisor, and waits for what it reports.
func (c *Command) run(ctx context.Context, out *messages) error {
	who, err := identify(c.As)
	if err != nil {
		return err
	}
	s, err := c.start(who, out)
	if err != nil {
		return fmt.Errorf("its supervisor cannot be started: %w", err)
	}
	defer s.hold.Close()
	select {
	case <-s.ended:
		return s.result()
	case <-ctx.Done():
	}
	_ = s.hold.Close() // which tells the supervisor to kill it
	select {
	case <-s.ended:
		return s.result()
	case <-time.After(killTime + time.Second): // the supervisor has something to say before that
	}
	select {
	case <-s.reported: // the command has ended; its supervisor is about to
		select {
		case <-s.ended:
			return s.result()
		case <-time.After(leftTime + time.Second):
		}
	default:
	}
	reason := s.report.last()
	if reason == "" {
		reason = fmt.Sprintf("its supervisor (pid %d) does not answer", s.cmd.Process.Pid)
	}
	return &UnendedError{Reason: reason, Ended: s.ended}
}

// A supervised is a command that is running.
type supervised struct {
	cmd    *exec.Cmd
	hold   *os.File // the command is ended when this is closed, also by the end of gclog
	report report
	// reported is closed when the report is complete: the supervisor writes its last line when nothing is
	// left of the command. ended is closed when the supervisor has ended, too.
	reported, ended chan struct{}
	err             error // of the supervisor; valid when it has ended
}

func (c *Command) start(who *identity, out *messages) (*supervised, error) {
	held, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer held.Close()
	reports, reported, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, hold.Close())
	}
	defer reported.Close()
	s := &supervised{hold: hold, reported: make(chan struct{}), ended: make(chan struct{}), cmd: &exec.Cmd{
		Path: "/proc/self/exe", // even if the file has been replaced since
		Args: append([]string{"gclog", supervisorCommand, who.String()}, c.Args...),
		Env:  append(append(inherited(commandEnvironment), who.environ...), c.Environ...),
		Dir:  who.dir, Stdin: bytes.NewReader(c.Input), Stdout: out, Stderr: out,
		ExtraFiles:  []*os.File{held, reported}, // supervisorHeld, supervisorReport
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}, WaitDelay: leftTime,
	}}
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, hold.Close(), reports.Close())
	}
	go func() {
		defer close(s.ended)
		defer reports.Close()
		_, _ = io.Copy(&s.report, reports)
		close(s.reported)
		s.err = s.cmd.Wait()
	}()
	return s, nil
}

// result returns how a command has ended.
func (s *supervised) result() error {
	text, complete := s.report.result()
	switch {
	case complete && text != "":
		return errors.New(text)
	case complete && errors.Is(s.err, exec.ErrWaitDelay):
		return errKept
	case complete:
		return nil
	case s.err != nil:
		return fmt.Errorf("its supervisor has failed (%w); what it has started may still be running", s.err)
	}
	return errors.New("its supervisor has failed; what it has started may still be running")
}

// A report is what a supervisor has written: lines, the last of which is how the command has ended.
type report struct {
	mu   sync.Mutex
	text []byte
}

// maxReport is how much of a report is kept. A supervisor writes less.
const maxReport = 8 << 10

// Write implements io.Writer.
func (r *report) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, b[:min(len(b), maxReport-len(r.text))]...)
	return len(b), nil
}

// result returns the last line, and whether there is one.
func (r *report) result() (line string, complete bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, complete := strings.CutSuffix(string(r.text), "\n")
	return formats.OneLine(text[strings.LastIndexByte(text, '\n')+1:], maxLineSize), complete
}

func (r *report) last() string {
	line, _ := r.result()
	return line
}

// An identity is the user that a command runs as.
type identity struct {
	account *rotate.Account // nil: gclog's own
	groups  []uint32        // all of the account's
	environ []string
	dir     string // "": gclog's own
}

// identify returns the identity that a command has with an account.
func identify(as *rotate.Account) (*identity, error) {
	if as == nil {
		return &identity{environ: inherited(ownEnvironment)}, nil
	}
	who := &identity{account: as, groups: []uint32{as.GID}, environ: []string{"HOME=/"}, dir: "/"}
	if os.Geteuid() != 0 && int(as.UID) == os.Geteuid() && int(as.GID) == os.Getegid() {
		who.account = nil // it need not change
	}
	u, err := user.LookupId(strconv.Itoa(int(as.UID)))
	if _, unknown := errors.AsType[user.UnknownUserIdError](err); unknown {
		return who, nil
	}
	if err != nil {
		return nil, fmt.Errorf("su: %w", err)
	}
	who.environ = []string{"HOME=" + u.HomeDir, "LOGNAME=" + u.Username, "USER=" + u.Username}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("su: the groups of %s: %w", u.Username, err)
	}
	for _, text := range groups {
		// as.GID replaces u.Gid.
		if gid, err := strconv.ParseUint(text, 10, 32); err == nil && text != u.Gid && uint32(gid) != as.GID {
			who.groups = append(who.groups, uint32(gid))
		}
	}
	return who, nil
}

// String returns the identity as an argument of a supervisor: "-", or the uid and all groups.
func (who *identity) String() string {
	if who.account == nil {
		return "-"
	}
	ids := []string{strconv.Itoa(int(who.account.UID))}
	for _, gid := range who.groups {
		ids = append(ids, strconv.Itoa(int(gid)))
	}
	return strings.Join(ids, ",")
}

// parseIdentity reads what String returns.
func parseIdentity(text string) (*identity, error) {
	if text == "-" {
		return &identity{}, nil
	}
	var ids []uint32
	for word := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseUint(word, 10, 32)
		if err != nil {
			return nil, err
		}
		ids = append(ids, uint32(id))
	}
	if len(ids) < 2 {
		return nil, errors.New("a uid and a gid are needed")
	}
	return &identity{account: &rotate.Account{UID: ids[0], GID: ids[1]}, groups: ids[1:]}, nil
}
