package host

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// Limits of what is read of a process: it can have as many and as long arguments and variables as fit
// into its memory. The limits are far above what programs use.
const (
	maxArguments     = 1024
	maxArgumentBytes = 8 << 10 // total; the rest is left out
	// maxEnvironment is the number of bytes that are read of an environment; Linux allows 128 KB
	// per string and a quarter of the stack in total. Only variables that matter are kept, at most
	// maxVariableBytes in total, and none longer than maxVariable.
	maxEnvironment   = 4 << 20
	maxVariable      = 8 << 10
	maxVariableBytes = 64 << 10
)

// matters reports whether a variable concerns .NET or shows what a process belongs to. No others
// are kept, because environments contain secrets.
func matters(name string) bool {
	switch name {
	case "TMPDIR", "HOSTNAME", "POD_NAME", "POD_NAMESPACE", "KUBERNETES_SERVICE_HOST", "NEW_RELIC_APP_NAME":
		return true
	}
	for _, prefix := range []string{"GCLOG_", "OTEL_", "ELASTIC_APM_SERVICE_", "DD_SERVICE", "DD_VERSION"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	// Settings of the GC, including misspelt ones: without their prefix, or in another case.
	for _, prefix := range []string{"dotnet_", "complus_", "gc", "uohwait", "system"} {
		if len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
			return true
		}
	}
	return false
}

// An environment contains the variables that are kept of a process's environment.
type environment struct {
	variables map[string]string
	bytes     int
}

// add adds NAME=value if it matters.
func (e *environment) add(variable string) {
	if e.variables == nil {
		e.variables = map[string]string{}
	}
	name, value, ok := strings.Cut(variable, "=")
	if !ok || !matters(name) || e.bytes+len(variable) > maxVariableBytes {
		return
	}
	if _, twice := e.variables[name]; twice {
		return // getenv returns the first one, and so a runtime uses it
	}
	e.variables[strings.Clone(name)] = strings.Clone(value)
	e.bytes += len(variable)
}

// readTerminated reads an environment in the format of /proc: a 0 after each variable.
func (e *environment) readTerminated(r io.Reader) {
	b := bufio.NewReaderSize(io.LimitReader(r, maxEnvironment), maxVariable)
	for {
		variable, err := b.ReadSlice(0)
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = b.ReadSlice(0)
		}
		if !tooLong {
			e.add(string(bytes.TrimSuffix(variable, []byte{0})))
		}
		if err != nil {
			return
		}
	}
}

// readArguments reads a command line in the format of /proc: a 0 after each argument.
func readArguments(b []byte) []string {
	text := strings.TrimRight(string(b[:min(len(b), maxArgumentBytes)]), "\x00")
	if text == "" {
		return nil
	}
	args := strings.SplitN(text, "\x00", maxArguments+1)
	return args[:min(len(args), maxArguments)]
}
