package post

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/formats"
)

// says returns a client of a server that sends what write does, and then keeps the connection open.
func says(t *testing.T, write func(io.Writer)) *Client {
	c := New(nil, 10*time.Second)
	c.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			_, _ = theirs.Read(make([]byte, 1)) // what comes before the request is no answer to it
			go func() { _, _ = io.Copy(io.Discard, theirs) }()
			write(theirs)
		}()
		t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
		return ours, nil
	}
	return c
}

func send(t *testing.T, c *Client) (*Answer, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://user:geheim@hooks.example/geheim?token=geheim", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	return c.Send(r)
}

// TestHostileAnswers: whatever a server sends, it takes limited time and memory, and messages about
// it are one short line without secrets.
func TestHostileAnswers(t *testing.T) {
	text := func(s string) func(io.Writer) { return func(w io.Writer) { _, _ = io.WriteString(w, s) } }
	endless := func(head, more string) func(io.Writer) {
		return func(w io.Writer) {
			_, err := io.WriteString(w, head)
			for err == nil {
				_, err = io.WriteString(w, more)
			}
		}
	}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	const ok = "HTTP/1.1 200 OK\r\n"
	for name, c := range map[string]struct {
		write func(io.Writer)
		code  int // 0: an error
		body  int // length of what is read
	}{
		"nothing":                {text(""), 0, 0},
		"no end of the body":     {text(ok + "Content-Length: 5\r\n\r\nabc"), 200, 0},
		"an endless body":        {endless(ok+"Transfer-Encoding: chunked\r\n\r\n", "400\r\n"+strings.Repeat("x", 1<<10)+"\r\n"), 200, bodyMost},
		"a gzip bomb":            {text(ok + fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", bomb.Len(), &bomb)), 200, bodyMost},
		"an endless header":      {endless(ok, "X-A: "+strings.Repeat("x", 1<<10)+"\r\n"), 0, 0},
		"an endless line":        {endless(ok+"X-A: ", strings.Repeat("x", 1<<10)), 0, 0},
		"endless interim":        {endless("", "HTTP/1.1 103 Early Hints\r\n\r\n"), 0, 0},
		"another protocol":       {text("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"), 101, 0},
		"a redirect":             {text("HTTP/1.1 307 x\r\nLocation: http://elsewhere.example/\r\nContent-Length: 0\r\n\r\n"), 307, 0},
		"escapes in its status":  {text("\x1b]0;x\a\x1b[2J\r\n\r\n"), 0, 0},
		"escapes in a header":    {text(ok + "\x1b]0;x\a\u202e" + strings.Repeat("y", 5000) + "\r\n\r\n"), 0, 0},
		"a length that is wrong": {text(ok + "Content-Length: -9223372036854775808\r\n\r\n"), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, before := time.Now(), allocated()
				a, err := send(t, says(t, c.write))
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("it took %v", took)
				}
				if used := allocated() - before; used > 8<<20 {
					t.Errorf("it took %d bytes", used)
				}
				if err != nil {
					if s := err.Error(); c.code != 0 || strings.ContainsFunc(s, formats.IsControl) || len(s) > 3*textMost || strings.Contains(s, "geheim") {
						t.Errorf("%q", s)
					}
					return
				}
				if a.Code != c.code || len(a.Body) != c.body {
					t.Errorf("%d with %d bytes", a.Code, len(a.Body))
				}
			})
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestSendUnwraps: the cause of an error can be found out.
func TestSendUnwraps(t *testing.T) {
	c := New(nil, time.Second)
	c.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, io.ErrNoProgress }
	if _, err := send(t, c); !errors.Is(err, io.ErrNoProgress) || strings.Contains(err.Error(), "geheim") {
		t.Errorf("%v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // from 2000-01-01 on
		for text, want := range map[string]time.Duration{
			"": -1, "soon": -1, "1.5": -1, "1e9": -1,
			"0": 0, "-5": 0, "-9223372036854775809": -1, "17": 17 * time.Second, "31536000": time.Minute, "9223372036854775808": time.Minute,
			"Sat, 01 Jan 2000 00:00:30 GMT": 30 * time.Second, "Fri, 01 Jan 1999 00:00:30 GMT": 0, "Fri, 31 Dec 9999 23:59:59 GMT": time.Minute,
		} {
			a := &Answer{Header: http.Header{"Retry-After": {text}}}
			wait, ok := a.RetryAfter(time.Minute)
			if !ok {
				wait = -1
			}
			if wait != want {
				t.Errorf("%q: %v, want %v", text, wait, want)
			}
		}
	})
}
