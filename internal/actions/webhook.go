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
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/post"
)

// A Webhook posts a JSON object to a URL:
//
//	{"rule":…,"time":…,"text":…,"host":…,"process":{"pid":…,"name":…},"service":{"name":…},"record":{…}}
//
// With a secret, the header X-Gclog-Signature has the HMAC-SHA256 of the body: sha256=HEX.
// X-Gclog-Delivery is the same for all attempts for one call. It follows no redirects: a URL that was
// configured for records is not a promise of another one.
type Webhook struct {
	URL    string
	Secret string // "": none
	Agent  string // User-Agent

	client *post.Client
}

const (
	// retryFor is how long a call is tried, retryFirst and retryMost how long a pause between two
	// attempts is.
	retryFor   = 5 * time.Minute
	retryFirst = time.Second
	retryMost  = time.Minute
)

// NewWebhook returns a Webhook of which each attempt has a time limit.
func NewWebhook(to, secret string, timeout time.Duration, agent string) *Webhook {
	return &Webhook{URL: to, Secret: secret, Agent: agent, client: post.New(nil, timeout)}
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
		err := w.post(ctx, body)
		if last == nil || ctx.Err() == nil { // what the end of gclog has cut off says nothing about the server
			last = err
		}
		return struct{}{}, err
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(retryFor))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: not delivered before gclog ended: %w", w.address(), last)
	}
	return fmt.Errorf("%s: %w", w.address(), err)
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
func elsewhere(answer *post.Answer) string {
	to := answer.Redirect()
	if to == nil {
		return "an address that is none"
	}
	return strconv.Quote(post.Line([]byte(to.Scheme + "://" + to.Host)))
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
	answer, err := w.client.Send(r)
	if err != nil {
		if isCertificate(err) {
			return backoff.Permanent(err)
		}
		return err
	}
	switch {
	case answer.Accepted():
		return nil
	case answer.Code/100 == 3:
		return backoff.Permanent(
			fmt.Errorf("it answered %s to %s, which gclog does not follow: set url to the address that it has now",
				answer.Status(), elsewhere(answer)))
	case answer.Code == http.StatusTooManyRequests || answer.Code >= 500:
		if after, ok := answer.RetryAfter(retryMost); ok {
			return fmt.Errorf("it answered %s: %w",
				answer.Status(), backoff.RetryAfter(int(max(after, retryFirst).Seconds())))
		}
		return fmt.Errorf("it answered %s", answer.Status())
	}
	return backoff.Permanent(fmt.Errorf("it answered %s", answer.Status()))
}

func isCertificate(err error) bool {
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	return authority || invalid || name
}
