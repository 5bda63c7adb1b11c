package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gclog/gclog/formats"
)

const (
	// answerMost is how much of an answer is read, in bytes.
	answerMost = 64 << 10
	// afterMost is how long a server may ask to wait.
	afterMost = 10 * time.Minute
)

// A client sends requests of one signal.
type client struct {
	target
	http *http.Client
}

func newClient(t target) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig, transport.MaxIdleConnsPerHost, transport.ForceAttemptHTTP2 = t.tls, 1, true
	return &client{t, &http.Client{
		Transport: transport, Timeout: t.timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // headers may be secrets
	}}
}

// A failure is why a request was not accepted.
type failure struct {
	err   error
	retry bool          // it may be accepted later
	after time.Duration // not before that time; 0: unknown
}

// body encodes a message.
func (c *client) body(m proto.Message) ([]byte, error) {
	b, err := proto.Marshal(m)
	if err != nil || !c.gzip {
		return b, err
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // the level is valid
	_, _ = z.Write(b)                                    // a buffer takes everything
	_ = z.Close()
	return packed.Bytes(), nil
}

// post sends a body. rejected is how many of its items the server has accepted the request without,
// with the reason.
func (c *client) post(ctx context.Context, body []byte) (rejected int64, why string, _ *failure) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return 0, "", &failure{err: err}
	}
	for _, h := range c.headers {
		r.Header.Set(h.name, h.value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("User-Agent", "gclog")
	if c.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := c.http.Do(r)
	if e, ok := errors.AsType[*url.Error](err); ok { // whose text has the URL
		err = fmt.Errorf("%s: %w", public(c.url), e.Err)
	}
	if err != nil {
		return 0, "", &failure{err: err, retry: true}
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, answerMost))
	if answer.StatusCode/100 == 2 {
		if err == nil && strings.HasPrefix(answer.Header.Get("Content-Type"), "application/x-protobuf") {
			rejected, why = partial(b)
		}
		return rejected, why, nil
	}
	f := &failure{err: fmt.Errorf("%s answers %d %s%s", public(c.url), answer.StatusCode, http.StatusText(answer.StatusCode), message(answer, b))}
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.retry, f.after = true, retryAfter(answer.Header.Get("Retry-After"))
	}
	return 0, "", f
}

// public returns a URL without what may be secret: a password, a key in its query.
func public(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the server"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// close closes idle connections.
func (c *client) close() { c.http.CloseIdleConnections() }

// retryAfter parses a number of seconds or a time.
func retryAfter(text string) time.Duration {
	var d time.Duration
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		d = time.Duration(n) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		d = time.Until(at)
	}
	return max(0, min(d, afterMost))
}

// partial reads the partial_success of an answer, which has the same fields for all signals.
func partial(b []byte) (rejected int64, why string) {
	inner, ok := field(b, 1)
	if !ok {
		return 0, ""
	}
	for len(inner) > 0 {
		number, kind, n := protowire.ConsumeTag(inner)
		if n < 0 {
			return rejected, why
		}
		inner = inner[n:]
		switch {
		case number == 1 && kind == protowire.VarintType:
			v, n := protowire.ConsumeVarint(inner)
			if n < 0 {
				return rejected, why
			}
			rejected, inner = max(0, int64(v)), inner[n:]
		case number == 2 && kind == protowire.BytesType:
			v, n := protowire.ConsumeBytes(inner)
			if n < 0 {
				return rejected, why
			}
			why, inner = plain(v), inner[n:]
		default:
			if n = protowire.ConsumeFieldValue(number, kind, inner); n < 0 {
				return rejected, why
			}
			inner = inner[n:]
		}
	}
	return rejected, why
}

// field returns the first field of a message with a number, if it has a length.
func field(b []byte, wanted protowire.Number) ([]byte, bool) {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, false
		}
		b = b[n:]
		if number == wanted && kind == protowire.BytesType {
			v, n := protowire.ConsumeBytes(b)
			return v, n >= 0
		}
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			return nil, false
		}
		b = b[n:]
	}
	return nil, false
}

// message returns what an answer says about an error, as the end of a sentence.
func message(answer *http.Response, b []byte) string {
	text := ""
	switch kind := answer.Header.Get("Content-Type"); {
	case strings.HasPrefix(kind, "application/x-protobuf"):
		if v, ok := field(b, 2); ok { // of google.rpc.Status
			text = plain(v)
		}
	case strings.HasPrefix(kind, "text/plain"), strings.HasPrefix(kind, "application/json"):
		text = plain(b)
	}
	if to := answer.Header.Get("Location"); to != "" && answer.StatusCode/100 == 3 {
		text = "gclog follows no redirect, here to " + plain([]byte(public(to)))
	}
	if text == "" {
		return ""
	}
	return ": " + text
}

// plain makes what a server says a short line.
func plain(b []byte) string {
	const most = 200
	line, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	return formats.OneLine(string(line), most)
}
