package actions

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gclog/gclog/formats"
)

// A Webhook posts a JSON object to a URL:
//
//	{"rule":…,"time":…,"text":…,"host":…,"process":{"pid":…,"name":…},"service":{"name":…},"record":{…}}
//
// With a secret, the header X-Gclog-Signature has the HMAC-SHA256 of the body: sha256=HEX.
// X-Gclog-Delivery is the same for all attempts for one call. It follows no redirects: a URL that was
// configured for records is not a promise of another one.
type Webhook struct {
	URL     string
	Secret  string // "": none
	Timeout time.Duration
	Agent   string // User-Agent

	client http.Client
}

const (
	// retryFor is how long a call is tried, retryFirst and retryMost how long a pause between two
	// attempts is.
	retryFor   = 5 * time.Minute
	retryFirst = time.Second
	retryMost  = time.Minute
	// maxAnswer is how much of an answer is read.
	maxAnswer = 64 << 10
)

// NewWebhook returns a Webhook.
func NewWebhook(to, secret string, timeout time.Duration, agent string) *Webhook {
	return &Webhook{URL: to, Secret: secret, Timeout: timeout, Agent: agent, client: http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Do implements Action. It tries again after errors that may pass: of the network, 429, and 5xx.
func (w *Webhook) Do(ctx context.Context, c *Call) error {
	body, err := c.body()
	if err != nil {
		return err
	}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = retryFirst, retryMost
	var last error
	_, err = backoff.Retry(ctx, func() (struct{}, error) {
		last = w.post(ctx, body)
		return struct{}{}, last
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(retryFor))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: not delivered before gclog ended: %w", w.address(), reason(last))
	}
	return fmt.Errorf("%s: %w", w.address(), reason(err))
}

// reason returns an error without the URL of the request, which may be secret.
func reason(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// address returns the URL without what may be secret.
func (w *Webhook) address() string {
	u, err := url.Parse(w.URL)
	if err != nil {
		return "the webhook"
	}
	return u.Scheme + "://" + u.Host
}

// elsewhere names where an answer redirects to, without what may be the same secret.
func elsewhere(answer *http.Response) string {
	to, err := answer.Location()
	if err != nil {
		return "an address that is none"
	}
	return quoted(to.Scheme + "://" + to.Host)
}

func (c *Call) body() ([]byte, error) {
	type named struct {
		Name string `json:"name"`
	}
	var b bytes.Buffer
	e := formats.NewJSONEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(struct {
		Rule    string `json:"rule"`
		Time    string `json:"time"`
		Text    string `json:"text"`
		Host    string `json:"host,omitempty"`
		Process struct {
			PID  int64  `json:"pid"`
			Name string `json:"name,omitempty"`
		} `json:"process"`
		Service named           `json:"service,omitzero"`
		Record  json.RawMessage `json:"record"`
	}{
		Rule: c.Rule, Time: c.Time.UTC().Format(time.RFC3339Nano), Text: c.Text, Host: c.Host,
		Process: struct {
			PID  int64  `json:"pid"`
			Name string `json:"name,omitempty"`
		}{c.PID, c.Process},
		Service: named{c.Service}, Record: c.Record,
	})
	return b.Bytes(), err
}

// post makes one attempt.
func (w *Webhook) post(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(err)
	}
	sum := sha256.Sum256(body)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", w.Agent)
	r.Header.Set("X-Gclog-Delivery", hex.EncodeToString(sum[:16]))
	if w.Secret != "" {
		mac := hmac.New(sha256.New, []byte(w.Secret))
		mac.Write(body)
		r.Header.Set("X-Gclog-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	answer, err := w.client.Do(r)
	if err != nil {
		if isCertificate(err) {
			return backoff.Permanent(err)
		}
		return err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer) // so that the connection can be used again
	switch code := answer.StatusCode; {
	case code < 300:
		return nil
	case code < 400:
		return backoff.Permanent(fmt.Errorf("it answered %s to %s, which gclog does not follow: set url to the address that it has now", status(code), elsewhere(answer)))
	case code == http.StatusTooManyRequests || code >= 500:
		if after, ok := retryAfter(answer.Header.Get("Retry-After"), time.Now()); ok {
			return fmt.Errorf("it answered %s: %w", status(code), backoff.RetryAfter(int(after.Seconds())))
		}
		return fmt.Errorf("it answered %s", status(code))
	}
	return backoff.Permanent(fmt.Errorf("it answered %s", status(answer.StatusCode)))
}

func isCertificate(err error) bool {
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	return authority || invalid || name
}

// status returns what a status code means. The text that a server sends with it may be anything.
func status(code int) string { return strings.TrimSpace(fmt.Sprint(code, " ", http.StatusText(code))) }

// retryAfter returns what the header of that name asks for, at least retryFirst and at most retryMost.
func retryAfter(header string, now time.Time) (time.Duration, bool) {
	wait := time.Duration(0)
	if seconds, err := strconv.Atoi(header); err == nil {
		wait = time.Duration(min(seconds, int(retryMost/time.Second))) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	} else {
		return 0, false
	}
	return min(max(retryFirst, wait), retryMost), true
}

// quoted formats text of another program for a message.
func quoted(s string) string {
	const most = 200
	return strconv.QuoteToASCII(s[:min(len(s), most)])
}
