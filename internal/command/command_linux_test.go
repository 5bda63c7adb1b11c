package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"go.uber.org/goleak"
)

// runAsGclog is what this program does when a test runs it as gclog: what the first argument says.
func runAsGclog(args []string) {
	switch args[0] {
	case "environ":
		for _, e := range os.Environ() {
			fmt.Println(e)
		}
	case "speak":
		fmt.Fprint(os.Stderr, "gclog: one\n\ngclog: two\x1b[2J\nthree")
		fmt.Print("result")
	case "fail":
		fmt.Fprint(os.Stderr, "gclog: it begins\ngclog: it fails\n")
		os.Exit(1)
	case "flood":
		for range 1000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("x", 100_000))
			fmt.Println(strings.Repeat("x", 100_000))
		}
	case "wait":
		fmt.Fprintln(os.Stderr, "ready\nset")
		time.Sleep(time.Minute) // ended by a signal
	}
	os.Exit(0)
}

func TestMain(m *testing.M) {
	if os.Args[0] == "gclog" {
		runAsGclog(os.Args[1:])
	}
	goleak.VerifyTestMain(m)
}

// TestSelf: what runs is this program, with its own environment; its messages are passed on
// without what a terminal acts on, and its last one is the error instead if it fails.
func TestSelf(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "1MiB")
	t.Setenv("GCLOG_SESSION__LEVEL", "full")
	t.Setenv("TMPDIR", t.TempDir())
	run := func(ctx context.Context, what string) (string, []string, error) {
		var said []string
		out, err := Self(ctx, []string{what}, []string{"GCLOG_CONTROL__SOCKET=/run/x"}, func(s string) { said = append(said, s) })
		return string(out), said, err
	}
	out, _, err := run(t.Context(), "environ")
	if err != nil || !strings.Contains(out, "GCLOG_CONTROL__SOCKET=/run/x\n") || !strings.Contains(out, "TMPDIR="+os.Getenv("TMPDIR")+"\n") || strings.Contains(out, "GOMEMLIMIT") || strings.Contains(out, "GCLOG_SESSION") {
		t.Errorf("%v: %s", err, out)
	}
	if out, said, err := run(t.Context(), "speak"); err != nil || out != "result" || !slices.Equal(said, []string{"one", "two\uFFFD[2J", "three"}) {
		t.Errorf("%q, %q, %v", out, said, err)
	}
	if _, said, err := run(t.Context(), "fail"); err == nil || err.Error() != "it fails" || !slices.Equal(said, []string{"it begins"}) {
		t.Errorf("%q, %v", said, err)
	}
	_, said, err := run(t.Context(), "flood")
	if err == nil || !strings.Contains(err.Error(), "printed more than") || len(said) != maxLines || len([]rune(said[0])) != maxLineSize+1 {
		t.Errorf("%d lines, %v", len(said), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Self(ctx, []string{"wait"}, nil, func(string) { cancel() })
	if err == nil {
		t.Error("it has ended well")
	}
	if _, _, err := run(ctx, "speak"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: started although nobody waits for it", err)
	}
}

// A late context reaches its deadline when a test says so.
type late struct {
	context.Context
	done chan struct{}
}

func (c late) Done() <-chan struct{} { return c.done }

func (c late) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// runShell runs a script as a command of a rule, and returns the lines that it prints. One that hangs
// is out of time when its first line is passed on, which a second one causes.
func runShell(t *testing.T, c Command, script string, hangs bool) (lines []string, err error) {
	t.Helper()
	ctx := late{t.Context(), make(chan struct{})}
	end := sync.OnceFunc(func() { close(ctx.done) })
	defer end()
	c.Args = []string{"sh", "-c", script}
	c.Say = func(s string) {
		if lines = append(lines, s); hangs {
			end()
		}
	}
	err = c.Run(ctx)
	return lines, err
}

func TestRun(t *testing.T) {
	t.Setenv("GCLOG_SECRET", "x")
	for name, c := range map[string]struct {
		script string
		hangs  bool // after its first line
		lines  []string
		err    string
	}{
		"reads the record":      {script: "cat; echo; echo to stderr >&2", lines: []string{`{"a":1}`, "to stderr"}},
		"has an environment":    {script: `echo "$GCLOG_RULE"; echo "${GCLOG_SECRET-none}"; test -n "$PATH"`, lines: []string{"long", "none"}},
		"does not read":         {script: "exec <&-; echo done", lines: []string{"done"}},
		"fails":                 {script: "echo no; exit 3", lines: []string{"no"}, err: "exit status 3"},
		"hangs":                 {script: "echo before; echo after; sleep 60", hangs: true, lines: []string{"before", "after"}, err: "did not end in time, and was killed"},
		"leaves a child":        {script: "sleep 60 & echo left", lines: []string{"left"}, err: "keeps its output open"},
		"prints too much":       {script: "yes", err: "it has printed more than 1.0 MB"},
		"prints for a terminal": {script: `printf 'a\033[2Jb\n'`, lines: []string{"a\uFFFD[2Jb"}},
		"is ended by a signal":  {script: "kill -9 $$", err: "signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines, err := runShell(t, Command{Environ: []string{"GCLOG_RULE=long"}, Input: []byte(`{"a":1}`)}, c.script, c.hangs)
			if c.lines != nil && !slices.Equal(lines, c.lines) {
				t.Errorf("it printed %q", lines)
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%v, want %q", err, c.err)
			}
			if len(lines) > maxLines {
				t.Errorf("%d lines", len(lines))
			}
		})
	}
	// What a command has started is killed with it.
	lines, err := runShell(t, Command{}, `sh -c 'trap "" TERM; echo $$; echo after; sleep 60; true' & wait`, true)
	if err == nil || len(lines) != 2 {
		t.Fatalf("%q, %v", lines, err)
	}
	for stat := []byte("running"); len(stat) > 0 && !bytes.Contains(stat, []byte(") Z ")); time.Sleep(time.Millisecond) {
		stat, _ = os.ReadFile("/proc/" + lines[0] + "/stat")
	}
	if err := (&Command{Args: []string{"/no/such/program"}, Say: func(string) {}}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("%v", err)
	}
}

// TestRunAs: a command runs as another user, without the groups of gclog.
func TestRunAs(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run a command as another user")
	}
	lines, err := runShell(t, Command{As: &formats.Account{UID: 65534, GID: 65533}}, "id -u; id -g; id -G", false)
	if err != nil || !slices.Equal(lines, []string{"65534", "65533", "65533"}) {
		t.Errorf("%q, %v", lines, err)
	}
}
