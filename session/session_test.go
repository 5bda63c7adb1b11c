package session_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/session"
	"go.uber.org/goleak"
)

// roles are what the test binary runs as where a test needs a separate process.
var roles = map[string]func() error{}

func TestMain(m *testing.M) {
	child.Main(roles)
	// Those that run at the same time wait, so that there may be more of them than processors.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for something that must happen. It is long, because a loaded
// machine is not a failure.
const patience = 30 * time.Second

// impatience is a timeout for something that never happens.
const impatience = 50 * time.Millisecond

// The header of a message according to the protocol: the magic, the total size, the set and the
// number of the command, two reserved bytes.
const magicHex = "444f544e45545f4950435f563100"

// clientOf returns a client of a runtime.
func clientOf(r *ipc.Runtime) *session.Client {
	return &session.Client{Timeout: patience, Dial: r.Dial}
}

// environment returns the variables that a client is passed.
func environment(ctx context.Context, c *session.Client) (list []string, err error) {
	err = c.Environment(ctx, func(variable string) { list = append(list, variable) })
	return list, err
}

// TestRequestFraming: requests match the protocol to the byte.
func TestRequestFraming(t *testing.T) {
	r := ipc.Serve(t, ipc.Send(ipc.Answer([]byte{0, 0, 0, 0})))
	if err := clientOf(r).Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := ipc.Unhex(t, magicHex+"1400 04 01 0000")
	if got := r.Seen(); len(got) != 1 || !slices.Equal(got[0], want) {
		t.Errorf("ResumeRuntime is % x, want % x", got, want)
	}
}

// The fields of a ProcessInfo answer, as .NET 8 sends them.
const (
	pidHex     = "d204000000000000"                    // 1234
	cookieHex  = "33221100 5544 7766 8899aabbccddeeff" // mixed endian
	lineHex    = "04000000 61002000 6200 0000"         // "a b"
	osHex      = "06000000 4c0069006e00750078000000"   // "Linux"
	archHex    = "04000000 7800360034000000"           // "x64"
	entryHex   = "04000000 3dd800de c400 0000"         // an emoji of two units, and an umlaut
	versionHex = "07000000 38002e0030002e0033003300" + "0000"
	ridHex     = "03000000 6c0078000000" // "lx"
)

func TestProcessInfo(t *testing.T) {
	base := session.ProcessInfo{
		PID: 1234, Cookie: "00112233-4455-6677-8899-aabbccddeeff", CommandLine: "a b", OS: "Linux", Architecture: "x64",
	}
	two := base
	two.EntryAssembly, two.Version = "\U0001F600\u00C4", "8.0.33"
	three := two
	three.RID = "lx"
	fields := pidHex + cookieHex + lineHex + osHex + archHex
	for _, tc := range []struct {
		name     string
		known    string // commands that the runtime supports
		payload  string
		want     session.ProcessInfo
		commands string
	}{
		{"3", "0408", "01000000" + fields + entryHex + versionHex + ridHex, three, "0408"},
		{"3 of a later version", "0408", "02000000" + fields + entryHex + versionHex + ridHex + "0400000078007800780000001234", three, "0408"},
		{
			"3 with absent strings", "0408", "01000000" + pidHex + cookieHex + "00000000 00000000 00000000 00000000 00000000 00000000",
			session.ProcessInfo{PID: 1234, Cookie: base.Cookie},
			"0408",
		},
		{"2", "0404", fields + entryHex + versionHex, two, "0408 0404"},
		{"1", "0400", fields, base, "0408 0404 0400"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			payload := ipc.Unhex(t, tc.payload)
			r := ipc.Serve(t, func(conn net.Conn, request []byte) {
				b := ipc.Refusal(ipc.UnknownCommand)
				if hex.EncodeToString(request[16:18]) == tc.known {
					b = ipc.Answer(payload)
				}
				_, _ = conn.Write(b)
			})
			got, err := clientOf(r).ProcessInfo(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if *got != tc.want {
				t.Errorf("got  %+v\nwant %+v", *got, tc.want)
			}
			if got := strings.Join(r.Commands(), " "); got != tc.commands {
				t.Errorf("commands %s, want %s", got, tc.commands)
			}
			for _, b := range r.Seen() {
				if len(b) != 20 {
					t.Errorf("a ProcessInfo has no payload, this one % x", b[20:])
				}
			}
		})
	}
}

// TestProcessInfoCutOff: every truncated answer is an error.
func TestProcessInfoCutOff(t *testing.T) {
	whole := ipc.Unhex(t, "01000000"+pidHex+cookieHex+lineHex+osHex+archHex+entryHex+versionHex+ridHex)
	n := 0
	r := ipc.Serve(t, func(conn net.Conn, _ []byte) { _, _ = conn.Write(ipc.Answer(whole[:n])) })
	c := clientOf(r)
	for n = range whole {
		if p, err := c.ProcessInfo(t.Context()); err == nil {
			t.Errorf("%d of %d bytes are taken for %+v", n, len(whole), p)
		}
	}
}

// TestProcessInfoUnknown: .NET Core 3.1 supports none of them. The error says so.
func TestProcessInfoUnknown(t *testing.T) {
	r := ipc.Serve(t, ipc.Send(ipc.Refusal(ipc.UnknownCommand)))
	_, err := clientOf(r).ProcessInfo(t.Context())
	var server *session.ServerError
	if !errors.As(err, &server) || server.Code != session.CodeUnknownCommand || server.Command != "ProcessInfo" {
		t.Errorf("error %v", err)
	}
	if got := strings.Join(r.Commands(), " "); got != "0408 0404 0400" {
		t.Errorf("commands %s", got)
	}
}

// TestServerErrors: errors that .NET runtimes return, and what they mean.
func TestServerErrors(t *testing.T) {
	for code, want := range map[uint32]string{
		0x80131384: "malformed", 0x80131385: "does not know this command", 0x80131386: "does not know this protocol",
		0x80131387: "does not say why", 0x8013135B: "still starting", 0x80131371: "not initialized yet", 0x80131515: "does not support this",
		0x80004005: "the runtime failed", 0x80070057: "an argument is invalid", 0x8007007A: "a buffer is too small", 0x80070058: "refused the request",
	} {
		err := clientOf(ipc.Serve(t, ipc.Send(ipc.Refusal(code)))).Resume(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), fmt.Sprintf("(0x%08X)", code)) {
			t.Errorf("%#x: %v, want %s", code, err, want)
		}
	}
	short := ipc.Refusal(session.CodeFail)[:22]
	short[14] = 22
	if err := clientOf(ipc.Serve(t, ipc.Send(short))).Resume(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "the runtime refused the request (0x00000000)") {
		t.Errorf("half a code: %v", err)
	}
}

// A countedConn counts how often it is closed.
type countedConn struct {
	net.Conn
	closed *atomic.Int32
}

func (c countedConn) Close() error {
	c.closed.Add(1)
	return c.Conn.Close()
}

// TestConnectionsClosed: a request closes its connection, whatever the runtime answers.
func TestConnectionsClosed(t *testing.T) {
	head, rest := environmentAnswer(t, twoVariables)
	for what, b := range map[string][]byte{
		"fine": ipc.Answer(make([]byte, 8)), "refused": ipc.Refusal(ipc.UnknownCommand), "nothing": nil, "garbage": []byte("HTTP/1.1 400 Bad Request\r\n\r\n"),
		"variables": append(head, rest...), "half of them": append(head, rest[:9]...),
		"no size": ipc.Answer(make([]byte, 3)), "a large size": ipc.Answer(bytes.Repeat([]byte{0xFF}, 6)),
	} {
		var opened, closed atomic.Int32
		c := &session.Client{Dial: func(context.Context) (net.Conn, error) {
			opened.Add(1)
			return countedConn{bytesConn{bytes.NewReader(b)}, &closed}, nil
		}}
		_, _ = c.ProcessInfo(t.Context())
		_, _ = environment(t.Context(), c)
		_ = c.Resume(t.Context())
		if opened.Load() < 3 || closed.Load() != opened.Load() {
			t.Errorf("%s: %d of %d connections are closed", what, closed.Load(), opened.Load())
		}
	}
}

// TestServerError: any other error ends the search for an older command.
func TestServerError(t *testing.T) {
	for code, want := range map[uint32]string{
		session.CodeNotYetAvailable: "ProcessInfo3: the runtime is still starting (0x8013135B)",
		session.CodeFail:            "ProcessInfo3: the runtime failed, perhaps because it already has 64 sessions (0x80004005)",
		0x80001234:                  "ProcessInfo3: the runtime refused the request (0x80001234)",
	} {
		r := ipc.Serve(t, ipc.Send(ipc.Refusal(code)))
		_, err := clientOf(r).ProcessInfo(t.Context())
		var server *session.ServerError
		if !errors.As(err, &server) || server.Code != code || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		if got := r.Commands(); len(got) != 1 {
			t.Errorf("%#x: commands %s", code, got)
		}
	}
}

func environmentAnswer(t testing.TB, body string) (answer6, rest []byte) {
	rest = ipc.Unhex(t, body)
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(rest)))
	return ipc.Answer(append(head, 0, 0)), rest
}

// twoVariables contains DD_VERSION=1 and OTEL_A=\u00e4b.
const twoVariables = "02000000 0d000000 440044005f00560045005200530049004f004e003d0031000000 0a000000 4f00540045004c005f0041003d00e40062000000"

func TestEnvironment(t *testing.T) {
	head, rest := environmentAnswer(t, twoVariables)
	r := ipc.Serve(t, func(conn net.Conn, request []byte) {
		if len(request) != 20 || request[16] != 4 || request[17] != 2 {
			t.Errorf("request % x", request)
		}
		_, _ = conn.Write(head)
		for i := range rest { // in as many pieces as possible
			_, _ = conn.Write(rest[i : i+1])
		}
	})
	got, err := environment(t.Context(), clientOf(r))
	if err != nil || !slices.Equal(got, []string{"DD_VERSION=1", "OTEL_A=\u00e4b"}) {
		t.Errorf("environment %q, error %v", got, err)
	}
}

// TestProcessInfoTexts: texts are truncated to their limit, to whole characters. A terminating zero
// is not part of them.
func TestProcessInfoTexts(t *testing.T) {
	text := func(units ...uint16) []byte {
		b := binary.LittleEndian.AppendUint32(nil, uint32(len(units)))
		for _, u := range units {
			b = binary.LittleEndian.AppendUint16(b, u)
		}
		return b
	}
	of := func(s string) []byte { return text(append(utf16.Encode([]rune(s)), 0)...) }
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, tc := range []struct {
		line, os, arch []byte
		want           session.ProcessInfo
	}{
		{of(x(8192)), of(x(1024)), of("x64"), session.ProcessInfo{CommandLine: x(8192), OS: x(1024), Architecture: "x64"}},
		{of(x(8193)), of(x(1025)), of(x(2000)), session.ProcessInfo{CommandLine: x(8192), OS: x(1024), Architecture: x(1024)}},
		{of(x(8191) + "\u00e4"), of(x(1022) + "\u00e4"), of(x(1023) + "\u00e4"), session.ProcessInfo{CommandLine: x(8191), OS: x(1022) + "\u00e4", Architecture: x(1023)}},
		{text('a', 'b'), text('a', 0, 'b'), text(0), session.ProcessInfo{CommandLine: "ab", OS: "a\x00b"}},
		{text('a', 0, 0), text(), text(0xd800), session.ProcessInfo{CommandLine: "a\x00", Architecture: "\uFFFD"}},
	} {
		payload := slices.Concat(ipc.Unhex(t, pidHex+cookieHex), tc.line, tc.os, tc.arch)
		r := ipc.Serve(t, func(conn net.Conn, request []byte) {
			b := ipc.Refusal(ipc.UnknownCommand)
			if request[17] == 0 {
				b = ipc.Answer(payload)
			}
			_, _ = conn.Write(b)
		})
		got, err := clientOf(r).ProcessInfo(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tc.want.PID, tc.want.Cookie = 1234, "00112233-4455-6677-8899-aabbccddeeff"
		if *got != tc.want {
			t.Errorf("got  %.200q\nwant %.200q", fmt.Sprint(*got), fmt.Sprint(tc.want))
		}
	}
}

// TestEnvironmentWrong: an environment that is incomplete or too large is reported as such.
func TestEnvironmentWrong(t *testing.T) {
	piece := func(size uint32, rest string) []byte {
		head := binary.LittleEndian.AppendUint32(nil, size)
		return append(ipc.Answer(append(head, 0, 0)), ipc.Unhex(t, rest)...)
	}
	const cutOff = "the runtime closed the connection without an answer"
	for name, tc := range map[string]struct {
		sent  []byte
		words string
	}{
		"no size":                     {ipc.Answer([]byte{1, 0}), "its size is missing"},
		"too large":                   {piece(4<<20+1, ""), "an environment of 4194305 bytes, the limit is 4194304"},
		"very large":                  {piece(1<<32-1, ""), "an environment of 4294967295 bytes, the limit is 4194304"},
		"ends too early":              {piece(100, "01000000"), cutOff},
		"no count":                    {piece(2, "0100"), cutOff},
		"more strings than there are": {piece(12, "ffffffff 02000000 41000000"), cutOff},
		"a string beyond the end":     {piece(12, "01000000 ffffffff 41000000"), cutOff},
		"a string cut off":            {piece(12, "01000000 08000000 41000000"), cutOff},
		"a length cut off":            {piece(6, "01000000 0800"), cutOff},
	} {
		t.Run(name, func(t *testing.T) {
			env, err := environment(t.Context(), clientOf(ipc.Serve(t, ipc.Send(tc.sent))))
			if err == nil || !strings.HasPrefix(err.Error(), "ProcessEnvironment: ") || !strings.Contains(err.Error(), tc.words) {
				t.Errorf("%q, error %v, want %s", env, err, tc.words)
			}
		})
	}
}

// TestNoAnswer: a runtime that is silent, from the start or in the middle of its answer, is
// reported as such.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	whole := ipc.Answer(ipc.Unhex(t, "0100000000000000"))
	head, rest := environmentAnswer(t, "02000000 0d000000 440044005f00560045005200530049004f004e003d0031000000")
	for name, tc := range map[string]struct {
		sent []byte
		ask  func(context.Context, *session.Client) error
	}{
		"no byte": {nil, func(ctx context.Context, c *session.Client) error { return c.Resume(ctx) }},
		"half a header": {whole[:10], func(ctx context.Context, c *session.Client) error {
			_, err := c.ProcessInfo(ctx)
			return err
		}},
		"half a payload": {whole[:24], func(ctx context.Context, c *session.Client) error {
			_, err := c.StartTracing(ctx, config())
			return err
		}},
		"half an environment": {append(head, rest[:5]...), func(ctx context.Context, c *session.Client) error {
			_, err := environment(ctx, c)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := ipc.Serve(t, func(conn net.Conn, _ []byte) {
				_, _ = conn.Write(tc.sent)
				ipc.Hang(conn)
			})
			c := clientOf(r)
			c.Timeout = impatience
			if err := tc.ask(t.Context(), c); !errors.Is(err, session.ErrNoAnswer) {
				t.Errorf("error %v, want one that wraps ErrNoAnswer", err)
			}
		})
	}
}

// TestCancel: the end of the context ends a request at once, and is its error.
func TestCancel(t *testing.T) {
	t.Run("no byte", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := ipc.Serve(t, func(conn net.Conn, _ []byte) {
			cancel()
			ipc.Hang(conn)
		})
		if err := clientOf(r).Resume(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	})
	t.Run("half an environment", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		head, rest := environmentAnswer(t, "02000000 0d000000 440044005f00560045005200530049004f004e003d0031000000")
		r := ipc.Serve(t, func(conn net.Conn, _ []byte) {
			_, _ = conn.Write(append(head, rest[:5]...))
			ipc.Hang(conn)
		})
		c := clientOf(r)
		c.Timeout = 0 // the default
		dial := c.Dial
		c.Dial = func(ctx context.Context) (net.Conn, error) {
			conn, err := dial(ctx)
			return &doneAfter{conn, len(head) + 5, cancel}, err
		}
		if _, err := environment(ctx, c); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	})
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := ipc.Serve(t, ipc.Send(ipc.Answer(nil)))
		if err := clientOf(r).Resume(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	})
}

// TestCancelAfterTheAnswer: if a request is cancelled just after it was refused, the error is not
// that there was no answer.
func TestCancelAfterTheAnswer(t *testing.T) {
	r := ipc.Serve(t, ipc.Send(ipc.Refusal(session.CodeFail)))
	ctx, cancel := context.WithCancel(t.Context())
	var refused *session.ServerError
	if err := clientOf(r).Resume(&doneAfterErr{ctx, cancel}); !errors.As(err, &refused) && !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A doneAfterErr is a context that ends just after its Err was called.
type doneAfterErr struct {
	context.Context
	cancel context.CancelFunc
}

func (c *doneAfterErr) Err() error {
	defer c.cancel()
	return c.Context.Err()
}

// A doneAfter calls done when more than n bytes are to be read.
type doneAfter struct {
	net.Conn
	n    int
	done func()
}

func (c *doneAfter) Read(p []byte) (int, error) {
	if c.n == 0 {
		c.done()
	}
	n, err := c.Conn.Read(p)
	c.n -= n
	return n, err
}

// TestClosedWithoutAnswer: a connection closed without an answer is not reported as silence.
func TestClosedWithoutAnswer(t *testing.T) {
	whole := ipc.Answer(ipc.Unhex(t, "0100000000000000"))
	for name, b := range map[string][]byte{"no byte": nil, "half a header": whole[:10], "half a payload": whole[:24]} {
		t.Run(name, func(t *testing.T) {
			err := clientOf(ipc.Serve(t, ipc.Send(b))).Resume(t.Context())
			if err == nil || errors.Is(err, session.ErrNoAnswer) || !strings.Contains(err.Error(), "closed the connection without an answer") {
				t.Errorf("error %v", err)
			}
		})
	}
	ours, theirs := net.Pipe()
	_ = theirs.Close()
	c := &session.Client{Dial: func(context.Context) (net.Conn, error) { return ours, nil }}
	if err := c.Resume(t.Context()); !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "closed the connection without an answer") {
		t.Errorf("before the request: error %v", err)
	}
}

// TestGarbage: an answer that violates the protocol is reported as such.
func TestGarbage(t *testing.T) {
	for name, tc := range map[string]struct {
		sent []byte
		want string
	}{
		"another protocol": {[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), "ResumeRuntime: the answer does not follow the diagnostics protocol"},
		"another version":  {ipc.Unhex(t, "444f544e45545f4950435f563200 1400 ff00 0000"), "ResumeRuntime: the answer does not follow the diagnostics protocol"},
		"too short":        {ipc.Unhex(t, magicHex+"1300 ff00 0000"), "ResumeRuntime: an answer of 19 bytes, but the header alone has 20"},
		"no size":          {ipc.Unhex(t, magicHex+"0000 ff00 0000"), "ResumeRuntime: an answer of 0 bytes, but the header alone has 20"},
		"another set":      {ipc.Unhex(t, magicHex+"1400 0401 0000"), "ResumeRuntime: an answer of kind 4.1, expected 255"},
		"another number":   {ipc.Unhex(t, magicHex+"1400 ff01 0000"), "ResumeRuntime: an answer of kind 255.1, expected 255"},
	} {
		t.Run(name, func(t *testing.T) {
			err := clientOf(ipc.Serve(t, ipc.Send(tc.sent))).Resume(t.Context())
			if err == nil || err.Error() != tc.want {
				t.Errorf("error %v\nwant  %s", err, tc.want)
			}
		})
	}
	t.Run("an error without a code", func(t *testing.T) {
		err := clientOf(ipc.Serve(t, ipc.Send(ipc.Unhex(t, magicHex+"1400 ffff 0000")))).Resume(t.Context())
		if err == nil {
			t.Error("no error")
		}
	})
}

// TestDialFails: an error of connecting to the runtime is the error of the request.
func TestDialFails(t *testing.T) {
	want := errors.New("no way")
	c := &session.Client{Dial: func(context.Context) (net.Conn, error) { return nil, want }}
	if _, err := c.ProcessInfo(t.Context()); !errors.Is(err, want) {
		t.Errorf("error %v", err)
	}
}

// TestSuspendingPorts: the ports in an environment that suspend a runtime during startup. A listen
// port has no effect on any runtime.
func TestSuspendingPorts(t *testing.T) {
	const ports, suspend = "DiagnosticPorts", "DefaultDiagnosticPortSuspend"
	for _, c := range []struct {
		env  map[string]string
		want []string
	}{
		{nil, nil},
		{map[string]string{"DOTNET_" + ports: "/a"}, []string{"/a"}},
		{map[string]string{"DOTNET_" + ports: "/a,connect"}, []string{"/a"}},
		{map[string]string{"DOTNET_" + ports: "nosuspend;listen,connect"}, []string{"nosuspend", "listen"}}, // those are paths
		{map[string]string{"DOTNET_" + ports: "/a,nosuspend"}, nil},
		{map[string]string{"DOTNET_" + ports: "/a,nosuspend;/b,listen"}, nil},
		{map[string]string{"DOTNET_" + ports: "/a,listen,connect,suspend"}, nil},
		{map[string]string{"DOTNET_" + ports: "/a,connect,nosuspend;;"}, nil},
		{map[string]string{"DOTNET_" + ports: "/a,nosuspend,suspend"}, nil},
		{map[string]string{"DOTNET_" + ports: "/a,suspend,nosuspend"}, []string{"/a"}},
		{map[string]string{"DOTNET_" + ports: " /a , NoSuspend ; /b,suspend;/c"}, []string{"/b", "/c"}},
		{map[string]string{"DOTNET_" + ports: "/a,nosuspend", "COMPlus_" + ports: "/a"}, nil},
		{map[string]string{"COMPlus_" + ports: "/a"}, []string{"/a"}},
		{map[string]string{"DOTNET_" + suspend: "1"}, []string{"a tool at its default port (DOTNET_" + suspend + "=1)"}},
		{map[string]string{"DOTNET_" + suspend: "0", "COMPlus_" + suspend: "1"}, nil},
	} {
		if got := session.SuspendingPorts(c.env); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.env, got, c.want)
		}
	}
}

// TestIsUnknownCommand: only the error for an unknown command means that.
func TestIsUnknownCommand(t *testing.T) {
	for want, err := range map[bool]error{true: &session.ServerError{Code: session.CodeUnknownCommand}, false: &session.ServerError{Code: 1}} {
		if session.IsUnknownCommand(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
	if session.IsUnknownCommand(nil) || session.IsUnknownCommand(errors.New("another")) || session.IsUnknownCommand(context.Canceled) {
		t.Error("others are")
	}
}
