// Gotest runs go test for the Makefile, and says more about a run than it does.
//
//	gotest [go test's arguments]     runs the tests. Failures are printed as they come, and at the
//	                                 end what was skipped, then go test's own lines
//	gotest -again                    runs what failed in the last run, with its seeds
//	gotest -flakes N PACKAGE...      runs the tests of each package until the last N rounds of it
//	                                 have no failure, under load and in many ways: see flakes.go
//
// It is started in the root of the repository, and keeps what it must remember in bin/.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		code = cmp.Or(code, 1)
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string) (code int, err error) {
	switch {
	case len(args) == 1 && args[0] == "-again":
		return again(ctx)
	case len(args) > 2 && args[0] == "-flakes":
		rounds, err := strconv.Atoi(args[1])
		if err != nil || rounds < 1 {
			return 2, fmt.Errorf("%q is no number of rounds", args[1])
		}
		return flakes(ctx, rounds, args[2:])
	}
	results, code, err := test(ctx, nil, args)
	if err != nil {
		return code, err
	}
	if err := remember(failuresOf(results, args)); err != nil {
		return 1, err
	}
	results.printSkipped(os.Stdout)
	results.printLines(os.Stdout)
	return code, nil
}

// test runs go test with additional variables, and prints the failures of each package when it ends.
func test(ctx context.Context, env, args []string) (*results, int, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	return follow(cmd)
}

// follow runs a command that prints the events of go test -json, and prints the failures of each
// package when it ends.
func follow(cmd *exec.Cmd) (*results, int, error) {
	interruptGroup(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, 1, err
	}
	if err := cmd.Start(); err != nil {
		return nil, 1, err
	}
	results := newResults(repository())
	readErr := results.read(out, os.Stdout, progress())
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return results, max(1, exit.ExitCode()), readErr
	}
	return results, 0, errors.Join(err, readErr)
}

// repository returns the path of the repository, which is left out of what tests say.
func repository() string {
	dir, err := os.Getwd()
	if err != nil || dir == "/" {
		return ""
	}
	return dir + string(os.PathSeparator)
}

// progress returns a function that shows what runs, on a terminal.
func progress() func(string) {
	info, err := os.Stderr.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || os.Getenv("TERM") == "dumb" {
		return func(string) {}
	}
	const width = 79
	return func(s string) {
		s = s[:min(len(s), width)]
		fmt.Fprintf(os.Stderr, "\r%s%s\r", s, strings.Repeat(" ", width-len(s)))
	}
}
