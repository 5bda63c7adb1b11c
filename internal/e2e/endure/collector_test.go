//go:build linux

package endure

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A collector receives OTLP and webhooks. It does what servers do: it answers, refuses, is slow,
// hangs up, or lies.
type collector struct {
	server   *httptest.Server
	requests atomic.Int64

	mu   sync.Mutex
	rand *rand.Rand
}

func newCollector(t *testing.T, seed uint64) *collector {
	c := &collector{rand: rand.New(rand.NewPCG(seed, 1))}
	c.server = httptest.NewServer(c)
	t.Cleanup(c.server.Close)
	return c
}

func (c *collector) dice(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rand.IntN(n)
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.requests.Add(1)
	_, _ = io.Copy(io.Discard, r.Body)
	switch c.dice(10) {
	case 0:
		w.Header().Set("Retry-After", "999999999")
		w.WriteHeader(http.StatusServiceUnavailable)
	case 1:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte("\x1b[2J\x00"))
	case 2:
		time.Sleep(3 * time.Second) // longer than the timeout
	case 3:
		panic(http.ErrAbortHandler)
	case 4: // endless
		for range 1000 {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	case 5: // partial_success with absurd numbers
		_, _ = w.Write([]byte("\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x12\x00"))
	}
}
