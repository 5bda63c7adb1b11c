//go:build linux

package program

import (
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/gclog/gclog/internal/cli"
	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// Main is for the TestMain of a package whose tests start gclog. In these tests gclog on the PATH is
// the test binary itself: it costs no second link, it has the race detector and the coverage of the
// tests, and go test knows that a cached result depends on it. The tests run in the root of the
// repository, so that they name files as users of the repository do. Main does not return.
func Main(m *testing.M, more ...map[string]func()) {
	commands := map[string]func(){
		"gclog": func() { os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) },
	}
	for _, c := range more {
		maps.Copy(commands, c)
	}
	testscript.Main(inRoot{m}, commands)
}

// inRoot runs the tests of a package in the root of the repository.
type inRoot struct{ m *testing.M }

func (r inRoot) Run() int {
	child.MindHangUp()
	if err := os.Chdir(recordings.Root()); err != nil {
		panic(err)
	}
	unix.Umask(0o022) // some tests compare the modes of files
	moreParallel()
	code := r.m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	return code
}

// moreParallel runs at least eight tests at a time: those of programs spend most of their time waiting.
// -parallel 1 is left as it is.
func moreParallel() {
	const least = 8
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() != "1" || runtime.GOMAXPROCS(0) == 1 {
		if n, err := strconv.Atoi(f.Value.String()); err == nil && n < least {
			_ = f.Value.Set(strconv.Itoa(least))
		}
	}
}

var built struct {
	once sync.Once
	dir  string
	out  []byte
	err  error
}

// Build builds gclog as the Makefile does, once for all tests of a package, and returns its path. It
// is for tests of what the test binary cannot stand in for: size, memory, and speed.
func Build(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "gclog-built-"); built.err != nil {
			return
		}
		cmd := exec.Command("go", "build", "-trimpath", "-tags", "urfave_cli_no_docs", "-ldflags", "-s -w", "-o", filepath.Join(built.dir, "gclog"), ".")
		cmd.Dir = recordings.Root()
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		built.out, built.err = cmd.CombinedOutput()
	})
	if built.err != nil {
		t.Fatalf("%v: %s", built.err, built.out)
	}
	return filepath.Join(built.dir, "gclog")
}
