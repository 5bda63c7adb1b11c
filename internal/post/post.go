// Package post sends requests to servers that gclog doubts: what they answer is read within limits,
// followed nowhere, and put into messages as one short line.
package post

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
)

const (
	// headMost and bodyMost are how much of an answer is read, in bytes; of one that is compressed,
	// after it was unpacked.
	headMost = 64 << 10
	bodyMost = 64 << 10
	// textMost is the maximum length of a text of a server in a message, in characters.
	textMost = 200
)

// A Client sends requests. It follows no redirects: a URL and headers that were configured for one
// server are not a promise of another one.
type Client struct{ http.Client }

// New returns a Client. Each request ends within a time limit, with its answer. A nil configuration
// trusts the certificates of the system.
func New(t *tls.Config, timeout time.Duration) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig, transport.MaxIdleConnsPerHost, transport.ForceAttemptHTTP2 = t, 1, true
	transport.MaxResponseHeaderBytes = headMost
	return &Client{http.Client{
		Transport: transport, Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// An Answer is what is known of an answer.
type Answer struct {
	Code   int
	Header http.Header
	Body   []byte // the start of it; nil if the server stopped sending

	of *http.Response
}

// Send sends a request. The error has neither its URL, which may be secret, nor control characters that
// the server sent.
func (c *Client) Send(r *http.Request) (*Answer, error) {
	answer, err := c.Do(r)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return nil, &plainError{err}
	}
	defer answer.Body.Close()
	a := &Answer{Code: answer.StatusCode, Header: answer.Header, of: answer}
	if a.Code < http.StatusOK { // the connection would be that of another protocol, and without a time limit
		return a, nil
	}
	if a.Body, err = io.ReadAll(io.LimitReader(answer.Body, bodyMost)); err != nil {
		a.Body = nil
	}
	return a, nil
}

// A plainError has the text of an error as one short line: it may quote a server.
type plainError struct{ err error }

func (e *plainError) Error() string { return Line([]byte(e.err.Error())) }
func (e *plainError) Unwrap() error { return e.err }

// Status returns what the code of the answer means. The text that a server sends with it may be
// anything.
func (a *Answer) Status() string {
	return strings.TrimSpace(fmt.Sprint(a.Code, " ", http.StatusText(a.Code)))
}

// Accepted reports whether the server has accepted the request.
func (a *Answer) Accepted() bool { return a.Code/100 == 2 }

// Redirect returns the URL that the answer redirects to, nil if there is none.
func (a *Answer) Redirect() *url.URL {
	to, err := a.of.Location()
	if err != nil {
		return nil
	}
	return to
}

// RetryAfter returns how long the server asks to wait, at most some time, and whether it does.
func (a *Answer) RetryAfter(most time.Duration) (wait time.Duration, ok bool) {
	text := a.Header.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil {
		wait = time.Duration(max(0, min(n, int(most/time.Second)))) * time.Second
	} else if errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(text, "-") {
		wait = most
	} else if at, err := http.ParseTime(text); err == nil {
		wait = time.Until(at)
	} else {
		return 0, false
	}
	return max(0, min(wait, most)), true
}

// Line makes what a server says a short line.
func Line(b []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	return formats.OneLine(string(line), textMost)
}
