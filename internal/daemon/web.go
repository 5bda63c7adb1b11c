package daemon

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"
	toolkit "github.com/prometheus/exporter-toolkit/web"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/time/rate"

	"github.com/gclog/gclog/internal/cause"
)

// A web is how the TCP address is protected: TLS, passwords and a rate limit, in the format of
// Prometheus's exporters. Their own handler is not used: it would also ask probes for a password,
// and let anyone who tries passwords use up a processor.
type web struct {
	tls     *tls.Config // nil: none
	users   map[string]string
	headers map[string]string
	limit   *rate.Limiter // nil: none

	turn chan struct{} // has a value while a password is checked
	next time.Time     // when the next password is checked

	mu      sync.Mutex
	allowed map[[sha256.Size]byte]bool // passwords that were right
}

// maxWebConfig is the maximum length of the file, in bytes.
const maxWebConfig = 1 << 20

// loadWeb reads a file; "" is none.
func loadWeb(path string) (*web, error) {
	w := &web{turn: make(chan struct{}, 1), allowed: map[[sha256.Size]byte]bool{}}
	if path == "" {
		return w, nil
	}
	wrong := func(err error) (*web, error) {
		return nil, fmt.Errorf("http.web_config: %s: %w", path, err)
	}
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxWebConfig) {
		err = errors.New("it is not a file of at most 1 MB")
	}
	if err != nil {
		return wrong(cause.Of(err))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return wrong(cause.Of(err))
	}
	c := toolkit.Config{TLSConfig: toolkit.TLSConfig{MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS13}}
	if err := yaml.UnmarshalWithOptions(text, &c, yaml.Strict()); err != nil {
		return wrong(errors.New(strings.TrimSpace(yaml.FormatError(err, false, false)))) // without the line, which may contain a secret
	}
	for _, user := range slices.Sorted(maps.Keys(c.Users)) {
		if _, err := bcrypt.Cost([]byte(c.Users[user])); err != nil {
			return wrong(fmt.Errorf("basic_auth_users: the value of %q is not the bcrypt hash of a password, as htpasswd -nBC 10 prints it", user))
		}
	}
	if err := toolkit.Validate(path); err != nil {
		return wrong(err)
	}
	c.TLSConfig.SetDirectory(filepath.Dir(path))
	if c.TLSConfig.IsEnabled() {
		if w.tls, err = toolkit.ConfigToTLSConfig(&c.TLSConfig); err != nil {
			return wrong(err)
		}
	}
	w.headers, w.users = c.HTTPConfig.Header, map[string]string{}
	for user, hash := range c.Users {
		w.users[user] = string(hash)
	}
	if l := c.RateLimiterConfig; l.Interval > 0 {
		w.limit = rate.NewLimiter(rate.Every(l.Interval), l.Burst)
	}
	return w, nil
}

// protect answers what is not allowed, and passes the rest to h.
func (w *web) protect(h http.Handler, to http.ResponseWriter, r *http.Request) {
	for name, value := range w.headers {
		to.Header().Set(name, value)
	}
	if w.limit != nil && !w.limit.Allow() {
		http.Error(to, "too many requests: see rate_limit in http.web_config", http.StatusTooManyRequests)
		return
	}
	if user, password, _ := r.BasicAuth(); len(w.users) > 0 && !w.allows(r.Context(), user, password) {
		to.Header().Set("WWW-Authenticate", `Basic realm="gclog"`)
		http.Error(to, "a user of http.web_config and the password are required", http.StatusUnauthorized)
		return
	}
	h.ServeHTTP(to, r)
}

const (
	// noUser is the hash of a password that nobody has. Checking it for an unknown user takes as long as
	// checking that of a known one.
	noUser = "$2a$10$HfunJNok4WE4dwy2O0CLiu8JPiDszu83w0B5PkB.ZhFpBz8WlqXm."
	// passwordShare is the share of time that checking wrong passwords may take, as a divisor.
	passwordShare = 4
)

// allows reports whether the password is that of the user. One that was right is not checked again:
// a check takes as long as 50 scrapes, and others may be trying passwords all the time. ctx is that of
// the request: who has gone does not wait for a check.
func (w *web) allows(ctx context.Context, user, password string) bool {
	hash, known := w.users[user]
	if !known {
		hash = noUser
	}
	key := sha256.Sum256([]byte(hash + "\x00" + user + "\x00" + password))
	if w.isAllowed(key) {
		return true
	}
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return false
	}
	select {
	case <-time.After(time.Until(w.next)):
	case <-ctx.Done():
		return false
	}
	if w.isAllowed(key) {
		return true
	}
	began := time.Now()
	if bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil && known {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.allowed[key] = true // as many as there are users
		return true
	}
	ended := time.Now()
	w.next = ended.Add((passwordShare - 1) * ended.Sub(began))
	return false
}

func (w *web) isAllowed(key [sha256.Size]byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.allowed[key]
}

// A webListener accepts connections as the configuration requires when they arrive.
type webListener struct {
	net.Listener
	web func() *web
}

// Accept implements net.Listener.
func (l *webListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		if c := l.web().tls; c != nil {
			conn = tls.Server(conn, c)
		}
	}
	return conn, err
}
