package heap

import (
	"bytes"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/gclog/gclog/internal/command"
	"golang.org/x/sys/unix"
)

// saneSpace is the address space above which a program is one with a sanitizer, whose shadow memory
// grows with what it maps.
const saneSpace = 64 << 30

// limitOwn has the kernel enforce limits until release is called: of the address space in addition to
// what is mapped now, of the length of files, and of the time of a processor, whose end overtime
// receives, and once more after each further second. It also makes this process the first to be ended
// when memory runs out. These limits are beneath those that gclog keeps by itself; one that cannot be set,
// or that is lower already, stays as it is.
func limitOwn(space, file uint64, cpu time.Duration) (overtime <-chan os.Signal, release func()) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, unix.SIGXCPU)
	// A file that is too long is then an error of the write.
	long := make(chan os.Signal, 1)
	signal.Notify(long, unix.SIGXFSZ)
	undo := []func(){func() { signal.Stop(caught) }, func() { signal.Stop(long) }}

	if mapped, _ := ownMemory(); mapped > 0 && mapped < saneSpace && strconv.IntSize == 64 {
		undo = append(undo, lower(unix.RLIMIT_AS, mapped+space))
	}
	var used unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &used)
	spent := time.Duration(used.Utime.Nano() + used.Stime.Nano())
	undo = append(undo, lower(unix.RLIMIT_CPU, uint64((spent+cpu)/time.Second)+1))
	undo = append(undo, lower(unix.RLIMIT_FSIZE, longestOutput()+file))
	undo = append(undo, command.Expendable())
	return caught, func() {
		for _, f := range undo {
			f()
		}
	}
}

// lower lowers the soft limit of a resource, and returns what restores it.
func lower(resource int, limit uint64) (restore func()) {
	var before unix.Rlimit
	if unix.Getrlimit(resource, &before) != nil || before.Cur <= limit {
		return func() {}
	}
	if unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: before.Max}) != nil {
		return func() {}
	}
	return func() { _ = unix.Setrlimit(resource, &before) }
}

// longestOutput returns the length of the files that standard output and error go to: a log may be
// longer than all that gclog writes.
func longestOutput() (bytes uint64) {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			bytes = max(bytes, uint64(info.Size()))
		}
	}
	return bytes
}

// ownMemory returns the bytes of memory that this process has mapped, and those that are resident; 0:
// unknown.
func ownMemory() (mapped, resident uint64) {
	b, err := os.ReadFile("/proc/self/statm")
	f := bytes.Fields(b)
	if err != nil || len(f) < 2 {
		return 0, 0
	}
	number := func(b []byte) uint64 {
		n, _ := strconv.ParseUint(string(b), 10, 64)
		return n * uint64(syscall.Getpagesize())
	}
	return number(f[0]), number(f[1])
}
