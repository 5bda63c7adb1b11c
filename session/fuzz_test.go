package session_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/session"
)

// A bytesConn is a connection to a runtime that gives the same answer to every request.
type bytesConn struct{ r *bytes.Reader }

func (c bytesConn) Read(p []byte) (int, error)    { return c.r.Read(p) }
func (bytesConn) Write(p []byte) (int, error)     { return len(p), nil }
func (bytesConn) Close() error                    { return nil }
func (bytesConn) LocalAddr() net.Addr             { return &net.UnixAddr{} }
func (bytesConn) RemoteAddr() net.Addr            { return &net.UnixAddr{} }
func (bytesConn) SetDeadline(time.Time) error     { return nil }
func (bytesConn) SetReadDeadline(time.Time) error { return nil }
func (bytesConn) SetWriteDeadline(time.Time) error {
	return nil
}

// FuzzResponse: for any answer of a runtime, every request ends with a result or an error, and the
// result is no larger than the answer.
func FuzzResponse(f *testing.F) {
	for _, payload := range []string{
		"", "00000000", "efcdab8967452301",
		"01000000" + pidHex + cookieHex + lineHex + osHex + archHex + entryHex + versionHex + ridHex,
		pidHex + cookieHex + lineHex + osHex + archHex + entryHex + versionHex,
		pidHex + cookieHex + "ffffffff" + "ffffff7f" + "00000080",
	} {
		f.Add(ipc.Answer(ipc.Unhex(f, payload)))
	}
	head, rest := environmentAnswer(f, twoVariables)
	f.Add(append(head, rest...))
	f.Add(append(head, 0xff, 0xff, 0xff, 0xff))
	f.Add(ipc.Refusal(ipc.UnknownCommand))
	f.Add(ipc.Refusal(session.CodeFail)[:20])
	f.Add(append(ipc.Answer(make([]byte, 8)), "Nettrace"...))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		ctx := context.Background()
		c := &session.Client{Dial: func(context.Context) (net.Conn, error) { return bytesConn{bytes.NewReader(b)}, nil }}
		if p, err := c.ProcessInfo(ctx); err == nil {
			checkText(t, b, p.Cookie, p.CommandLine, p.OS, p.Architecture, p.EntryAssembly, p.Version, p.RID)
			if len(p.Cookie) != 36 {
				t.Errorf("cookie %q", p.Cookie)
			}
		}
		if env, err := environment(ctx, c); err == nil {
			checkText(t, b, env...)
		}
		_ = c.Resume(ctx)
		s, err := c.StartTracing(ctx, config())
		if err != nil {
			return
		}
		if n, err := io.Copy(io.Discard, s); err != nil || n > int64(len(b)) {
			t.Errorf("a stream of %d bytes, error %v", n, err)
		}
		_ = s.Stop(ctx)
		_ = s.Close()
	})
}

// checkText checks the size of texts: a unit of 2 bytes becomes at most 3 bytes of UTF-8.
func checkText(t *testing.T, answer []byte, texts ...string) {
	all := strings.Join(texts, "")
	if !utf8.ValidString(all) || len(all) > 36+3*len(answer)/2 {
		t.Errorf("%d bytes of text from an answer of %d bytes: %q", len(all), len(answer), all)
	}
}
