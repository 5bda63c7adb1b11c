//go:build linux

package scripts

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

// tracer is the command tracer of the scripts: a debugger that has stopped a process. It prints
// "ready" and resumes the process when its standard input is closed.
func tracer(args []string) int {
	err := trace(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tracer:", err)
		return 1
	}
	return 0
}

func trace(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: tracer PID")
	}
	pid, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		return err
	}
	runtime.LockOSThread() // a debugger is a thread
	for _, name := range threads {
		thread, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			return err
		}
		if err := syscall.PtraceAttach(thread); err != nil {
			return err
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(thread, &status, syscall.WALL, nil); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return nil // the stopped process resumes when the tracer exits
}
