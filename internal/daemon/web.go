package daemon

import (
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
}

// maxWebConfig is the maximum length of the file, in bytes.
const maxWebConfig = 1 << 20

// loadWeb reads a file; "" is none.
func loadWeb(path string) (*web, error) {
	w := &web{}
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
		// The message leaves out the line, which may contain a secret.
		return wrong(errors.New(strings.TrimSpace(yaml.FormatError(err, false, false))))
	}
	for _, user := range slices.Sorted(maps.Keys(c.Users)) {
		if _, err := bcrypt.Cost([]byte(c.Users[user])); err != nil {
			return wrong(fmt.Errorf("basic_auth_users: the value of %q is not the bcrypt hash of a password, as "+
				"htpasswd -nBC 10 prints it", user))
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

// protect answers what is not allowed, and passes the rest to h. The passwords are those of the users.
func (w *web) protect(h http.Handler, p *passwords, to http.ResponseWriter, r *http.Request) {
	for name, value := range w.headers {
		to.Header().Set(name, value)
	}
	if w.limit != nil && !w.limit.Allow() {
		http.Error(to, "too many requests: see rate_limit in http.web_config", http.StatusTooManyRequests)
		return
	}
	if len(w.users) > 0 {
		v := wrong // at once, if none was sent
		if user, password, sent := r.BasicAuth(); sent {
			v = p.judge(r.Context(), sourceIn(r.Context()), user, password)
		}
		switch v {
		case wrong:
			to.Header().Set("WWW-Authenticate", `Basic realm="gclog"`)
			http.Error(to, "a user of http.web_config and the password are required", http.StatusUnauthorized)
			return
		case unchecked:
			to.Header().Set("Retry-After", "1")
			http.Error(to, "too many passwords from this address wait to be checked: try again",
				http.StatusTooManyRequests)
			return
		}
	}
	h.ServeHTTP(to, r)
}

// A webListener accepts connections as the configuration requires when they arrive.
type webListener struct {
	net.Listener
	web func() *web
}

// Accept implements net.Listener.
func (l *webListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	conn = &client{conn, sourceOf(conn.RemoteAddr(), conn.LocalAddr())}
	if c := l.web().tls; c != nil {
		conn = tls.Server(conn, c)
	}
	return conn, nil
}
