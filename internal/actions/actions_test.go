package actions

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/command"
	"github.com/gclog/gclog/internal/rules"
)

func TestMain(m *testing.M) {
	if code, isSupervisor := command.Supervise(os.Args); isSupervisor {
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}

func call() *Call {
	return &Call{
		Rule: "long", Time: time.Date(2026, 11, 24, 12, 0, 0, 5e6, time.UTC), Text: "gen2 collection 2: pause 750 ms",
		PID: 7, Process: "shop", Service: "orders", Host: "node", Record: []byte(`{"event":{"action":"gc"}}`),
	}
}

// TestNewCall: a call has what the rule fired for.
func TestNewCall(t *testing.T) {
	r, err := rules.New("long", rules.OnGC, "pause > 500ms", 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got *Call
	e := rules.NewEngine([]*rules.Rule{r}, formats.Options{}, func(f *rules.Firing) { got = NewCall(f, "node") })
	e.Observe(&gclog.Process{ID: 7, Name: "shop", Service: "orders", Sync: call().Time})(&gclog.GCDetails{
		Number: 2, Known: gclog.GroupNumber, Generation: 2, Pauses: []gclog.PausePart{{Duration: 750e6}},
	})
	if got == nil {
		t.Fatal("it does not fire")
	}
	if !json.Valid(got.Record) || !bytes.Contains(got.Record, []byte(`"number":2`)) {
		t.Errorf("the record is %s", got.Record)
	}
	want := call()
	want.Time, want.Record = got.Time, got.Record
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A stuckAction does not end before its context is done, or it is released.
type stuckAction struct {
	began   chan *Call
	release chan struct{}
}

func (a *stuckAction) Do(ctx context.Context, c *Call) error {
	a.began <- c
	select {
	case <-a.release:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestWorker: calls wait for an action that takes long, as many as there is room for; the others are
// counted. At the end, what cannot be done in time fails.
func TestWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = maxWaiting * 3 / 4 // of one user
		a := &stuckAction{make(chan *Call, 2*maxWaiting), make(chan struct{})}
		failed := 0
		w := Start(a, func(*Call, error) { failed++ })
		w.Offer(call())
		<-a.began
		for range most + 5 {
			w.Offer(call())
		}
		other := call() // of another user, who has a share
		other.UserID = "1000"
		w.Offer(other)
		a.release <- struct{}{}
		<-a.began
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		ended := w.Close(ctx, time.Second)
		if took := time.Since(began); took != time.Second || !ended {
			t.Errorf("it ended after %v: %v", took, ended)
		}
		if got := w.Counts(); got != (Counts{1, most + 1, 5}) || failed != most+1 {
			t.Errorf("%+v, %d failed", got, failed)
		}
		w = Start(a, func(_ *Call, err error) { t.Error(err) })
		w.Offer(call())
		<-a.began
		go func() { a.release <- struct{}{} }()
		if w.Close(context.Background(), time.Hour); w.Offer(call()) || w.Counts() != (Counts{Done: 1, Dropped: 1}) {
			t.Errorf("%+v", w.Counts())
		}
	})
}

// TestWorkerLeaves: an action that cannot be ended does not keep gclog from ending.
func TestWorkerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &stuckAction{make(chan *Call, 1), make(chan struct{})}
		w := Start(deaf{a}, func(*Call, error) {})
		w.Offer(call())
		<-a.began
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		ended := w.Close(ctx, time.Second)
		if took := time.Since(began); took != 3*time.Second || ended {
			t.Errorf("it ended after %v: %v", took, ended)
		}
		close(a.release)
	})
}

// A deaf action does not notice that its context is done.
type deaf struct{ *stuckAction }

func (a deaf) Do(ctx context.Context, c *Call) error {
	return a.stuckAction.Do(context.WithoutCancel(ctx), c)
}

// A script answers requests, one step after the other; the last one is repeated.
type script struct {
	t     *testing.T
	steps []step
	times []time.Duration
	began time.Time
	ids   []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	mac := hmac.New(sha256.New, []byte("geheim"))
	mac.Write(body)
	if got := r.Header.Get("X-Gclog-Signature"); got != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
		s.t.Errorf("the signature is %q", got)
	}
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("User-Agent") != "gclog/1" {
		s.t.Errorf("%s %v", r.Method, r.Header)
	}
	const want = `{"rule":"long","time":"2026-11-24T12:00:00.005Z","text":"gen2 collection 2: pause 750 ms","host":"node",` +
		`"process":{"pid":7,"name":"shop"},"service":{"name":"orders"},"record":{"event":{"action":"gc"}}}` + "\n"
	if string(body) != want {
		s.t.Errorf("the body is %s", body)
	}
	if s.began.IsZero() {
		s.began = time.Now()
	}
	s.times = append(s.times, time.Since(s.began).Round(time.Second))
	s.ids = append(s.ids, r.Header.Get("X-Gclog-Delivery"))
	next := s.steps[0]
	s.steps = s.steps[min(1, len(s.steps)-1):]
	return next.answer(r)
}

// A step is how a request is answered.
type step struct {
	code   int
	header map[string]string
	err    error
	silent bool // until the request is given up
	text   string
}

func (x step) answer(r *http.Request) (*http.Response, error) {
	if x.silent {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if x.err != nil {
		return nil, x.err
	}
	h := http.Header{}
	for name, value := range x.header {
		h.Set(name, value)
	}
	return &http.Response{Request: r, StatusCode: x.code, Status: fmt.Sprint(x.code, " ", cmp.Or(x.text, http.StatusText(x.code))), Header: h, Body: io.NopCloser(strings.NewReader("x"))}, nil
}

// asksFor returns an answer with the header Retry-After.
func asksFor(code int, after string) step {
	return step{code: code, header: map[string]string{"Retry-After": after}}
}

func redirects(code int, to string) step {
	return step{code: code, header: map[string]string{"Location": to}}
}

var (
	refused = step{err: errors.New("connection refused")}
	silent  = step{silent: true}
)

func TestWebhook(t *testing.T) {
	type steps = []step
	for name, c := range map[string]struct {
		steps    steps
		attempts int
		err      string
		after    time.Duration // the second attempt, if that is certain
	}{
		"answers":                        {steps{{code: 204}}, 1, "", 0},
		"answers the third time":         {steps{refused, {code: 503}, {code: 200}}, 3, "", 0},
		"is overloaded":                  {steps{asksFor(429, "17"), {code: 200}}, 2, "", 17 * time.Second},
		"is overloaded for hours":        {steps{asksFor(503, "7200"), {code: 200}}, 2, "", time.Minute},
		"is overloaded until a time":     {steps{asksFor(503, "Sat, 01 Jan 2000 00:00:30 GMT"), {code: 200}}, 2, "", 30 * time.Second},
		"does not know the path":         {steps{{code: 404}}, 1, "https://hooks.example: it answered 404 Not Found", 0},
		"redirects elsewhere":            {steps{redirects(302, "https://evil.example/a?token=t")}, 1, `it answered 302 Found to "https://evil.example", which gclog does not follow`, 0},
		"redirects and keeps the method": {steps{redirects(307, "/b")}, 1, `it answered 307 Temporary Redirect to "https://hooks.example", which`, 0},
		"redirects nowhere":              {steps{redirects(308, "")}, 1, `it answered 308 Permanent Redirect to an address that is none, which`, 0},
		"asks for no pause":              {steps{asksFor(503, "0"), {code: 200}}, 2, "", time.Second},
		"asks for the past":              {steps{asksFor(429, "Sat, 01 Jan 1999 00:00:30 GMT"), {code: 200}}, 2, "", time.Second},
		"asks for more than fits":        {steps{asksFor(429, "9223372036854775807"), {code: 200}}, 2, "", time.Minute},
		"asks again and again":           {steps{asksFor(503, "60")}, 0, "https://hooks.example: it answered 503 Service Unavailable: retry after 1m0s", 0},
		"answers with a long text":       {steps{{code: 404, text: strings.Repeat("\x1b[2J", 1e5)}}, 1, "https://hooks.example: it answered 404 Not Found", 0},
		"is slow":                        {steps{silent, {code: 200}}, 2, "", 0},
		"is down":                        {steps{refused}, 0, "https://hooks.example: connection refused", 0},
		"is broken":                      {steps{{code: 500}}, 0, "https://hooks.example: it answered 500", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{t: t, steps: c.steps}
				w := NewWebhook("https://user:pass@hooks.example/a?token=t", "geheim", 10*time.Second, "gclog/1")
				w.client.Transport = s
				began := time.Now()
				err := w.Do(t.Context(), call())
				if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), "https://hooks.example: ") || !strings.Contains(err.Error(), c.err)) {
					t.Errorf("%v, want %q", err, c.err)
				}
				if err != nil && len(err.Error()) > 500 {
					t.Errorf("the message has %d bytes", len(err.Error()))
				}
				if n := len(s.times); c.attempts != 0 && n != c.attempts || c.attempts == 0 && (n < 5 || time.Since(began) > retryFor) {
					t.Errorf("%d attempts in %v", n, time.Since(began))
				}
				if c.after != 0 && s.times[1] != c.after {
					t.Errorf("the attempts were at %v", s.times)
				}
				if s.ids[0] == "" || len(slices.Compact(s.ids)) != 1 {
					t.Errorf("the deliveries are %q", s.ids)
				}
			})
		})
	}
}

// TestWebhookEnds: at the end of gclog nothing is tried any more, and the URL stays secret.
func TestWebhookEnds(t *testing.T) {
	for why, x := range map[string]step{"it answered 503": {code: 503}, "connection refused": refused, "context canceled": silent} {
		synctest.Test(t, func(t *testing.T) {
			w := NewWebhook("https://user:pass@hooks.example/secret?token=t", "geheim", 10*time.Minute, "gclog/1")
			w.client.Transport = &script{t: t, steps: []step{x}}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(90*time.Second, cancel)
			if err := w.Do(ctx, call()); err == nil || !strings.HasPrefix(err.Error(), "https://hooks.example: not delivered before gclog ended: "+why) || strings.Contains(err.Error(), "token") || strings.Contains(err.Error(), "/secret") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestWebhookCertificate: an untrusted certificate is not tried again.
func TestWebhookCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it has received the record") }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	w := NewWebhook(server.URL, "", time.Minute, "gclog/1")
	if err := w.Do(t.Context(), call()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%v", err)
	}
	w.client.CloseIdleConnections()
}

// TestExec: a command gets the record and what it is about, whatever that contains.
func TestExec(t *testing.T) {
	var lines []string
	e := &Exec{Args: []string{"sh", "-c", `cat; echo "$GCLOG_RULE/$GCLOG_PID/$GCLOG_PROCESS/$GCLOG_TEXT/$GCLOG_TIME"; exit ${1:-0}`, "sh"}, Timeout: time.Minute, Say: func(_ *Call, s string) { lines = append(lines, s) }}
	c := call()
	c.Process = "$(touch x)\x00`y`"
	if err := e.Do(t.Context(), c); err != nil {
		t.Error(err)
	}
	if want := []string{`{"event":{"action":"gc"}}`, "long/7/$(touch x)`y`/gen2 collection 2: pause 750 ms/2026-11-24T12:00:00.005Z"}; !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
	e.Args = append(e.Args, "3")
	if err := e.Do(t.Context(), call()); err == nil || err.Error() != "sh: exit status 3" {
		t.Errorf("%v", err)
	}
	for name, want := range map[string]string{"/no/such": "/no/such: no such file or directory", "no-such": "no-such: executable file not found in $PATH"} {
		e.Args = []string{name}
		if err := e.Do(t.Context(), call()); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	e.Args, e.Timeout = []string{"sleep", "60"}, 50*time.Millisecond
	if err := e.Do(t.Context(), call()); err == nil || err.Error() != "sleep: it did not end in time, and was killed" {
		t.Errorf("%v", err)
	}
}

// TestExecUnended: when too many runs of a command could not be ended, it is not started.
func TestExecUnended(t *testing.T) {
	e := &Exec{Args: []string{"true"}, Timeout: time.Minute, Say: func(*Call, string) {}}
	e.unended.Store(maxUnended)
	if err := e.Do(t.Context(), call()); err == nil || err.Error() != "true: not started: 3 earlier ones could not be ended, and are still running" {
		t.Errorf("%v", err)
	}
	e.unended.Add(-1)
	if err := e.Do(t.Context(), call()); err != nil {
		t.Error(err)
	}
}
