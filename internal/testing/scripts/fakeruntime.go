//go:build linux

package scripts

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/testing/program"
	"golang.org/x/sys/unix"
)

// exitStray is the exit code of a fake runtime that was not ended in time.
const exitStray = 99

// A fake contains the arguments of the command fakeruntime of the scripts.
type fake struct {
	trace, version, logTo, die  string
	mapped                      []string
	walked                      string
	speed                       float64
	refuse                      uint
	cut, code, cookieOf, memory int

	silent, hangup, garbage, deaf bool
	stale, noSocket, stay         bool
	early, threads, bgc           bool
	server, public, hung          bool
}

// fakeRuntime is the command fakeruntime of the scripts: a process with a diagnostics server. It
// prints "ready" and runs until its standard input is closed or a signal arrives. Like a runtime it
// then removes its socket, but not when it is killed.
func fakeRuntime(args []string) int {
	var f fake
	flags := flag.NewFlagSet("fakeruntime", flag.ContinueOnError)
	flags.StringVar(&f.trace, "trace", "", "recording to replay, .nettrace or .nettrace.gz, V4 and whole")
	flags.Float64Var(&f.speed, "speed", 0, "times as fast as it was recorded; 0: at once")
	flags.StringVar(&f.version, "version", "8.0.22", "of the runtime; 3.1 knows few commands")
	flags.BoolVar(&f.silent, "silent", false, "take connections and never answer")
	flags.BoolVar(&f.hangup, "hangup", false, "close connections without an answer")
	flags.BoolVar(&f.garbage, "garbage", false, "answer what is not of the protocol")
	flags.BoolVar(&f.deaf, "deaf", false, "do not hear StopTracing")
	flags.UintVar(&f.refuse, "refuse", 0, "answer this error to CollectTracing")
	flags.IntVar(&f.cut, "cut", 0, "cut the stream after so many bytes")
	flags.StringVar(&f.walked, "walked", "", "answer the request for a heap walk when this file exists")
	flags.StringVar(&f.die, "die", "", "exit or kill: how the process ends when the stream is cut, or else is sent")
	flags.IntVar(&f.code, "code", 0, "exit code with -die exit")
	flags.IntVar(&f.cookieOf, "cookieof", 0, "claim the cookie of this process")
	flags.BoolVar(&f.stale, "stale", false, "leave a socket that nobody listens on")
	flags.BoolVar(&f.noSocket, "nosocket", false, "make no socket")
	flags.Func("map", "file to map into memory, as a runtime and its assemblies are; may be repeated", func(path string) error {
		f.mapped = append(f.mapped, path)
		return nil
	})
	flags.StringVar(&f.logTo, "log", "", "file to write each request to")
	flags.BoolVar(&f.stay, "stay", false, "do not end when standard input is closed")
	flags.BoolVar(&f.early, "early", false, "print ready also while it waits in its start")
	flags.BoolVar(&f.threads, "threads", false, "have threads with names as CoreCLR 8 has: .NET EventPipe, and .NET Finalizer once it runs")
	flags.BoolVar(&f.server, "server", false, "have a thread of server GC")
	flags.BoolVar(&f.public, "public", false, "answer also what a real runtime would not survive")
	flags.BoolVar(&f.hung, "hung", false, "never answer, and have threads as .NET 11 has them after an abandoned heap walk")
	flags.IntVar(&f.memory, "memory", 0, "MB of memory to have")
	flags.BoolVar(&f.bgc, "bgc", false, "have a thread with the name of those of background collections, which uses the CPU")
	if flags.Parse(args) != nil {
		return 2
	}
	code, err := f.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakeruntime:", err)
		return 1
	}
	return code
}

func (f *fake) run() (int, error) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	for _, path := range f.mapped {
		if err := mapFile(path); err != nil {
			return 0, err
		}
	}
	if f.threads {
		nameThread(".NET EventPipe")
	}
	if f.server {
		nameThread(".NET Server GC")
	}
	if f.hung {
		f.silent = true
		nameThread(".NET EventPipe") // the server
		nameThread(".NET EventPipe") // that of the session
		nameThread(".NET Finalizer")
	}
	memory := bytes.Repeat([]byte{1}, f.memory<<20)
	defer runtime.KeepAlive(memory)
	if f.bgc {
		go func() {
			nameOwnThread(".NET BGC")
			for { //nolint:staticcheck // it is busy
			}
		}()
	}
	running := make(chan struct{})
	died := make(chan struct{}, 8)
	switch {
	case f.stale:
		if err := leaveSocket(os.TempDir()); err != nil {
			return 0, err
		}
		close(running)
	case f.noSocket:
		close(running)
	default:
		r, err := f.start(died)
		if err != nil {
			return 0, err
		}
		defer r.Close()
		go func() {
			if f.early {
				close(running)
			}
			<-r.Running()
			if f.threads {
				nameThread(".NET Finalizer")
			}
			if !f.early {
				close(running)
			}
		}()
	}
	input := make(chan struct{})
	if !f.stay {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			close(input)
		}()
	}
	forgotten := time.After(4 * program.Deadline) // each wait of its script may take one deadline
	for {
		select {
		case <-running:
			fmt.Println("ready")
			running = nil
		case <-died:
			return f.code, nil
		case <-input:
			return 0, nil
		case s := <-signals:
			return 128 + int(s.(syscall.Signal)), nil
		case <-forgotten:
			return exitStray, nil
		}
	}
}

func (f *fake) start(died chan<- struct{}) (*fakeruntime.Runtime, error) {
	cfg := fakeruntime.Config{
		Dir: os.TempDir(), Speed: f.speed, Version: f.version, Env: os.Environ(), Ports: os.Getenv("DOTNET_DiagnosticPorts"),
		NativeAOT: !slices.ContainsFunc(f.mapped, func(path string) bool { return filepath.Base(path) == "libcoreclr.so" }),
		Server:    f.server, Public: f.public,
		Silent: f.silent, Hangup: f.hangup, Garbage: f.garbage, Deaf: f.deaf, Refuse: uint32(f.refuse), Cut: f.cut, CookieOf: f.cookieOf,
	}
	if strings.HasPrefix(f.version, "3.") {
		cfg.Version = ""
	}
	if f.trace != "" {
		var err error
		if cfg.Stream, err = readTrace(f.trace); err != nil {
			return nil, err
		}
	}
	if f.walked != "" {
		walked := make(chan struct{})
		cfg.Walked = walked
		go func() {
			for ; ; time.Sleep(5 * time.Millisecond) {
				if _, err := os.Stat(f.walked); err == nil {
					close(walked)
					return
				}
			}
		}()
	}
	if f.logTo != "" {
		log, err := os.OpenFile(f.logTo, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return nil, err
		}
		var mu sync.Mutex
		cfg.Log = func(s string) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(log, "%d %s\n", os.Getpid(), s)
		}
	}
	var once sync.Once
	end := func() {
		switch f.die {
		case "exit":
			once.Do(func() { died <- struct{}{} })
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	if f.cut > 0 {
		cfg.OnCut = end
	} else {
		cfg.OnSent = end
	}
	return fakeruntime.Start(cfg)
}

// portOwner is the command portowner of the scripts: another tool that listens on a diagnostic
// port. It prints "ready". At SIGUSR1 it resumes the runtimes that are connected, and from then on
// also those that connect later.
func portOwner(args []string) int {
	l, err := net.Listen("unix", args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "portowner:", err)
		return 1
	}
	asked, resume := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		<-asked
		close(resume)
	}()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = l.Close()
	}()
	fmt.Println("ready")
	resumed := map[string]bool{} // by the runtime's advertise message
	var mu sync.Mutex
	for {
		conn, err := l.Accept()
		if err != nil {
			return 0 // it was closed
		}
		go func() {
			var announced [34]byte
			if _, err := io.ReadFull(conn, announced[:]); err != nil {
				return
			}
			<-resume
			mu.Lock()
			defer mu.Unlock()
			if id := string(announced[:]); !resumed[id] {
				resumed[id] = true
				_, _ = conn.Write([]byte("DOTNET_IPC_V1\x00\x14\x00\x04\x01\x00\x00"))
			}
		}()
	}
}

// leaveSocket creates the socket of this process, without a listener.
func leaveSocket(dir string) error {
	start, err := fakeruntime.Started()
	if err != nil {
		return err
	}
	l, err := net.Listen("unix", filepath.Join(dir, fakeruntime.SocketName(os.Getpid(), start)))
	if err != nil {
		return err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	return l.Close()
}

// nameThread starts a thread with a name, which never ends.
func nameThread(name string) {
	named := make(chan struct{})
	go func() {
		nameOwnThread(name)
		close(named)
		select {}
	}()
	<-named
}

// nameOwnThread gives the goroutine a thread of its own, with a name.
func nameOwnThread(name string) {
	runtime.LockOSThread()
	_ = os.WriteFile(fmt.Sprintf("/proc/self/task/%d/comm", unix.Gettid()), []byte(name), 0)
}

// mapFile maps a file into the process until it exits.
func mapFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = syscall.Mmap(int(f.Fd()), 0, 1, syscall.PROT_READ, syscall.MAP_PRIVATE)
	return err
}

// readTrace reads a file, and unpacks it if it is compressed.
func readTrace(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		return b, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	b, err = io.ReadAll(z)
	return b, errors.Join(err, z.Close())
}

func gzipWriter(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }
