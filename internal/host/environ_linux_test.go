package host_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/child"
)

// TestDescribeBounded: the arguments and the environment of a process may be megabytes long. Only a
// limited part is kept, and variables that matter are found wherever they are.
func TestDescribeBounded(t *testing.T) {
	const strings128K, longest = 7, 128<<10 - 1 // a quarter of the usual stack has room for twice as much
	long := strings.Repeat("A", longest-20)
	args := []string{"-c", script, "app.dll"}
	env := []string{"SECRET=x", "DOTNET_TOO_LONG=" + strings.Repeat("B", 100_000)}
	for i := range strings128K {
		args = append(args, long)
		env = append(env, fmt.Sprintf("OTHER%d=%s", i, long))
	}
	for range 5000 {
		args = append(args, "")
	}
	env = append(env, "TMPDIR=/nowhere", "DOTNET_gcServer=1", "OTEL_SERVICE_NAME=orders")
	cmd := exec.Command("/bin/sh", args...)
	cmd.Env = env
	child.Start(t, cmd)
	p, err := new(host.Host).Describe(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Join(p.CommandLine, " ")); n != 8<<10 || len(p.CommandLine) != 5 {
		t.Errorf("%d arguments of %d bytes are kept", len(p.CommandLine), n)
	}
	if len(p.Environ) != 3 || p.Environ["TMPDIR"] != "/nowhere" || p.Environ["DOTNET_gcServer"] != "1" || p.Environ["OTEL_SERVICE_NAME"] != "orders" {
		t.Errorf("environment: %.1000q", p.Environ)
	}
	perLook := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			_, _ = new(host.Host).Describe(cmd.Process.Pid)
		}
	}).AllocedBytesPerOp()
	if perLook > 256<<10 {
		t.Errorf("a look takes %d bytes of memory", perLook)
	}
}

// TestDescribeManyArguments: the same for the number of arguments.
func TestDescribeManyArguments(t *testing.T) {
	cmd := exec.Command("/bin/sh", append([]string{"-c", script}, slices.Repeat([]string{"x"}, 100_000)...)...)
	child.Start(t, cmd)
	p, err := new(host.Host).Describe(cmd.Process.Pid)
	if err != nil || len(p.CommandLine) != 1024 {
		t.Fatalf("%d arguments are kept, error %v", len(p.CommandLine), err)
	}
	if last := p.CommandLine[1023]; last != "x" {
		t.Errorf("the last argument is %q", last)
	}
}

// script prints a line when its shell runs, and then waits for the end of its input.
const script = "echo; read x"

// TestEnvironmentOfProcess: a variable of 8 KB is kept whole, a longer one is dropped, and the
// variables after it are found.
func TestEnvironmentOfProcess(t *testing.T) {
	longest := strings.Repeat("x", 8<<10-1-len("OTEL_A="))
	p := run(t, spec{Sockets: []string{exact}}, "OTEL_A="+longest, "OTEL_B="+longest+"x", "OTEL_C="+strings.Repeat("x", 20_000), "OTEL_D=last")
	env := find(t, p).Environ
	if env["OTEL_A"] != longest || env["OTEL_B"]+env["OTEL_C"] != "" || env["OTEL_D"] != "last" || env["TMPDIR"] != p.dir {
		t.Errorf("%.300q", env)
	}
}

// TestNoArguments: a process can have no arguments.
func TestNoArguments(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: self, Args: []string{""}, Env: child.Environ("process", specVariable+"={}", "TMPDIR=/")}
	child.Start(t, cmd)
	if p, err := new(host.Host).Describe(cmd.Process.Pid); err != nil || p.CommandLine != nil || p.Executable != self || p.Directory != "/" {
		t.Errorf("%q, %s in %s, error %v", p.CommandLine, p.Executable, p.Directory, err)
	}
}
