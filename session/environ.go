package session

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"unicode/utf16"
)

// What is read of a process is bounded: it can have as many and as long arguments and variables as
// fit into its memory. The limits are far above what programs use.
const (
	maxArguments     = 1024
	maxArgumentBytes = 8 << 10 // total; the rest is left out
	// maxText is the maximum length of a text that is kept of what a runtime reports about itself.
	maxText = 1 << 10
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

// readCounted reads an environment of size bytes in the format of a runtime: the number of strings,
// then each string after its length. It returns the error of reading, also if the environment is
// truncated.
func (e *environment) readCounted(r io.Reader, size int64) error {
	b := bufio.NewReaderSize(io.LimitReader(r, size), maxVariable)
	var word [4]byte
	if _, err := io.ReadFull(b, word[:]); err != nil {
		return err
	}
	for n := binary.LittleEndian.Uint32(word[:]); n > 0; n-- {
		if _, err := io.ReadFull(b, word[:]); err != nil {
			return err
		}
		length := 2 * int64(binary.LittleEndian.Uint32(word[:]))
		if length <= maxVariable {
			if text, err := b.Peek(int(length)); err == nil {
				e.add(decodeUTF16(text))
			}
		}
		if _, err := io.CopyN(io.Discard, b, length); err != nil {
			return err
		}
	}
	return nil
}

// decodeUTF16 decodes UTF-16LE without the terminating 0.
func decodeUTF16(p []byte) string {
	units := make([]uint16, 0, len(p)/2)
	for ; len(p) >= 2; p = p[2:] {
		units = append(units, binary.LittleEndian.Uint16(p))
	}
	if n := len(units); n > 0 && units[n-1] == 0 {
		units = units[:n-1]
	}
	return string(utf16.Decode(units))
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

// bounded truncates a text that a process reports about itself.
func bounded(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}
