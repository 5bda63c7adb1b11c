//go:build linux

// Package syscalls tests what a function does with the kernel: that it leaves no file open, survives a
// system call that fails, and leaves the files of others alone.
package syscalls

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// OpenFiles returns the number of files that a process has open.
func OpenFiles(t testing.TB, pid int) int {
	t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// LeavesNothing calls do repeatedly and checks that no more files are open than before.
func LeavesNothing(t testing.TB, pid int, do func()) {
	t.Helper()
	do() // files opened once may stay open
	before := OpenFiles(t, pid)
	for range 3 {
		do()
	}
	if after := OpenFiles(t, pid); after > before {
		t.Errorf("process %d has %d files open, and had %d", pid, after, before)
	}
	for fd := range 3 { // numbers that are easily obtained
		if _, err := os.Lstat(fmt.Sprintf("/proc/%d/fd/%d", pid, fd)); err != nil {
			t.Errorf("process %d lacks its file %d: %v", pid, fd, err)
		}
	}
}

// GiveAway makes a file belong to another user. Where that is not allowed, the test is skipped.
func GiveAway(t testing.TB, path string) {
	t.Helper()
	nobody := 65534
	if os.Geteuid() == nobody {
		nobody-- // who may not do that either
	}
	if err := os.Lchown(path, nobody, nobody); err != nil {
		t.Skipf("only root can give a file away: %v", err)
	}
}

// A Fault is a system call that fails. If only is set, it fails only where the argument with this
// index, counted from 0, has this value.
type Fault struct {
	Call  uint32
	Errno unix.Errno
	Only  *[2]uint32
}

// Inject runs do on a thread on which a system call fails.
func (f Fault) Inject(t testing.TB, do func()) {
	t.Helper()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: f.Call},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if f.Only != nil {
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16 + 8*f.Only[0]}, // on little-endian machines
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: f.Only[1]},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(f.Errno)})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	var failure error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with the goroutine, and the filter with it
		if failure = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); failure == nil {
			failure = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
		}
		if failure == nil {
			do()
		}
	}()
	<-done
	if failure != nil {
		t.Skipf("no filter of system calls: %v", failure)
	}
}
