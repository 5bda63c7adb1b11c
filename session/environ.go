package session

import (
	"bufio"
	"encoding/binary"
	"io"
	"strings"
	"unicode/utf16"
)

// Limits of what a runtime reports about its process: a program can have as many and as long arguments
// and variables as fit into its memory. The limits are far above what programs use.
const (
	maxText        = 1 << 10
	maxCommandLine = 8 << 10
	maxEnvironment = 4 << 20 // bytes; Linux allows 128 KB per string and a quarter of the stack in total
	maxVariable    = 8 << 10 // bytes as the runtime sends them; longer variables are left out
)

// Environment returns the value of DOTNET_DiagnosticPorts that makes runtimes connect to the port
// at path. With suspend, a runtime waits during startup until it is resumed, forever if nothing
// resumes it; without, it continues.
func Environment(path string, suspend bool) string {
	if suspend {
		return path + ",suspend"
	}
	return path + ",nosuspend"
}

// SuspendingPorts returns the diagnostic ports in an environment that suspend a runtime during
// startup, in the form used in messages. Each of them must resume the runtime.
func SuspendingPorts(env map[string]string) (list []string) {
	// A runtime reads a variable with the older prefix only if the one with the newer prefix is not
	// set.
	lookup := func(name string) (variable, value string) {
		if value, set := env["DOTNET_"+name]; set {
			return "DOTNET_" + name, value
		}
		return "COMPlus_" + name, env["COMPlus_"+name]
	}
	_, ports := lookup("DiagnosticPorts")
	for port := range strings.SplitSeq(ports, ";") {
		tags := strings.Split(port, ",")
		if path := strings.TrimSpace(tags[0]); path != "" && suspendsByTags(tags[1:]) {
			list = append(list, path)
		}
	}
	if variable, value := lookup("DefaultDiagnosticPortSuspend"); value == "1" {
		list = append(list, "a tool at its default port ("+variable+"=1)")
	}
	return list
}

// suspendsByTags reports whether a port with these tags suspends a runtime. Of contradictory tags
// the first counts; the default is suspend. A listen port has no effect, because no runtime
// supports it (docs/protocol.md, Diagnostic ports).
func suspendsByTags(tags []string) bool {
	suspends, connects := "", ""
	for _, tag := range tags {
		switch tag = strings.ToLower(strings.TrimSpace(tag)); {
		case suspends == "" && (tag == "suspend" || tag == "nosuspend"):
			suspends = tag
		case connects == "" && (tag == "connect" || tag == "listen"):
			connects = tag
		}
	}
	return suspends != "nosuspend" && connects != "listen"
}

// readCounted reads an environment of size bytes in the format of a runtime: the number of strings,
// then each string after its length. It returns the error of reading, also if the environment is
// truncated.
func readCounted(r io.Reader, size int64, each func(variable string)) error {
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
				each(decodeUTF16(text))
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

// bounded truncates a text that a process reports about itself.
func bounded(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}
