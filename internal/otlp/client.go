package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gclog/gclog/internal/post"
)

// afterMost is how long a server may ask to wait.
const afterMost = 10 * time.Minute

// A client sends requests of one signal.
type client struct {
	target
	http *post.Client
}

func newClient(t target) *client { return &client{t, post.New(t.tls, t.timeout)} }

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

// post sends a body. rejected is how many of its items the server says that it has accepted the request
// without, with the reason: it may be any number.
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
	answer, err := c.http.Send(r)
	if err != nil {
		return 0, "", &failure{err: fmt.Errorf("%s: %w", public(c.url), err), retry: true}
	}
	if answer.Accepted() {
		if strings.HasPrefix(answer.Header.Get("Content-Type"), "application/x-protobuf") {
			rejected, why = partial(answer.Body)
		}
		return rejected, why, nil
	}
	f := &failure{err: fmt.Errorf("%s answers %s%s", public(c.url), answer.Status(), message(answer))}
	switch answer.Code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.retry = true
		f.after, _ = answer.RetryAfter(afterMost)
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
			why, inner = post.Line(v), inner[n:]
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
func message(answer *post.Answer) string {
	text := ""
	switch kind := answer.Header.Get("Content-Type"); {
	case strings.HasPrefix(kind, "application/x-protobuf"):
		if v, ok := field(answer.Body, 2); ok { // of google.rpc.Status
			text = post.Line(v)
		}
	case strings.HasPrefix(kind, "text/plain"), strings.HasPrefix(kind, "application/json"):
		text = post.Line(answer.Body)
	}
	if to := answer.Redirect(); to != nil && answer.Code/100 == 3 {
		text = "gclog follows no redirect, here to " + post.Line([]byte(public(to.String())))
	}
	if text == "" {
		return ""
	}
	return ": " + text
}
