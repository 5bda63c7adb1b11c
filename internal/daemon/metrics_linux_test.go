package daemon

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/control"
	"golang.org/x/crypto/bcrypt"
)

// writeFile writes a file of a test and returns its path.
func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// certify writes a certificate for 127.0.0.1 and its key, and returns the certificate.
func certify(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	writeFile(t, filepath.Join(dir, "cert.pem"), string(certificate))
	writeFile(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	return pool
}

// get requests a page, as a user if one is given.
func get(t *testing.T, client *http.Client, url, user, password string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		r.SetBasicAuth(user, password)
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	b, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(b)
}

// measuring returns a configuration that serves metrics.
func measuring(t *testing.T, address, web string) *config.Loaded {
	c := listens(t, address, "")
	c.Metrics.Enabled, c.HTTP.WebConfig = true, web
	return c
}

// TestMetricsOff: unless they are enabled, there are none, and nothing is counted.
func TestMetricsOff(t *testing.T) {
	d, _ := serving(t, listens(t, "127.0.0.1:0", ""))
	if status, body := get(t, http.DefaultClient, "http://"+d.servers.tcp.address+"/metrics", "", ""); status != http.StatusNotFound || !strings.Contains(body, "metrics.enabled") {
		t.Errorf("%d %s", status, body)
	}
	if p := (&process{d: d}); p.observe() != nil {
		t.Error("its records are counted")
	}
}

// TestMetricsServed: passwords and TLS are for metrics; probes need no password. All of it changes
// when the configuration is read again, and what cannot be read changes nothing.
func TestMetricsServed(t *testing.T) {
	dir := t.TempDir()
	d, _ := serving(t, listens(t, "127.0.0.1:0", ""))
	address := d.servers.tcp.address
	pool := certify(t, dir)
	plain := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	secure := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool}}}
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	users := fmt.Sprintf("basic_auth_users: {prom: '%s'}\nhttp_server_config: {headers: {X-Frame-Options: deny}}\n", hash)
	open := measuring(t, address, "")
	withUsers := measuring(t, address, writeFile(t, filepath.Join(dir, "users.yml"), users))
	withTLS := measuring(t, address, writeFile(t, filepath.Join(dir, "tls.yml"), users+"tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n"))
	use := func(c *config.Loaded) {
		t.Helper()
		if err := apply(t, d, c); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(client *http.Client, scheme, path, user, password string, want int, text string) {
		t.Helper()
		// A busy machine may take longer for a password than the server has for an answer.
		for end := time.Now().Add(2 * time.Minute); ; {
			status, body := get(t, client, scheme+"://"+address+path, user, password)
			if status == 0 && want != 0 && time.Now().Before(end) {
				continue
			}
			if status != want || !strings.Contains(body, text) {
				t.Errorf("%s %s as %s: %d %s", scheme, path, user, status, body)
			}
			return
		}
	}
	const there = "gclog_build_info{"
	use(open)
	expect(plain, "http", "/metrics", "", "", 200, there)
	use(withUsers)
	expect(plain, "http", "/metrics", "", "", 401, "password")
	expect(plain, "http", "/metrics", "prom", "wrong", 401, "password")
	expect(plain, "http", "/metrics", "nobody", "secret", 401, "password")
	expect(plain, "http", "/metrics", "prom", "secret", 200, there)
	expect(plain, "http", "/metrics", "prom", "secret", 200, there)
	expect(plain, "http", control.PathHealth, "", "", 200, "Healthy")
	use(withTLS)
	expect(plain, "http", control.PathHealth, "", "", 400, "HTTP request to an HTTPS server")
	expect(secure, "https", control.PathHealth, "", "", 200, "Healthy")
	expect(secure, "https", "/metrics", "prom", "secret", 200, there)
	expect(&http.Client{}, "https", "/metrics", "prom", "secret", 0, "certificate")
	before := d.config
	for text, want := range map[string]string{
		"basic_auth_user: {}":                            `[1:1] unknown field "basic_auth_user"`,
		"basic_auth_users: {prom: secret}":               `basic_auth_users: the value of "prom" is not the bcrypt hash of a password, as htpasswd -nBC 10 prints it`,
		"tls_server_config: {cert_file: cert.pem}":       "missing one of key or key_file",
		"tls_server_config: {cert_file: x, key_file: y}": "no such file",
		"a: [": "[1:4]",
		"http_server_config: {headers: {X-Other: deny}}": `HTTP header "X-Other" can not be configured`,
	} {
		path := writeFile(t, filepath.Join(dir, "wrong.yml"), text)
		if err := apply(t, d, measuring(t, address, path)); err == nil || !strings.HasPrefix(err.Error(), "http.web_config: "+path+": ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "none"), dir, os.DevNull} {
		if err := apply(t, d, measuring(t, address, path)); err == nil || !strings.HasPrefix(err.Error(), "http.web_config: "+path+": ") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if d.config != before {
		t.Error("a configuration that is wrong was applied")
	}
	expect(secure, "https", "/metrics", "prom", "secret", 200, there)
	use(listens(t, address, ""))
	expect(plain, "http", "/metrics", "", "", 404, "metrics.enabled")
}

// TestRateLimit: the file's rate limit holds for metrics.
func TestRateLimit(t *testing.T) {
	d, _ := serving(t, measuring(t, "127.0.0.1:0", ""))
	w, err := loadWeb(writeFile(t, filepath.Join(t.TempDir(), "web.yml"), "rate_limit: {interval: 1h, burst: 2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	d.servers.publish(w)
	for i, want := range []int{200, 200, 429} {
		if status, _ := get(t, http.DefaultClient, "http://"+d.servers.tcp.address+"/metrics", "", ""); status != want {
			t.Errorf("request %d: %d", i+1, status)
		}
	}
}

// TestMetricsOfProcesses: a scrape has what processes have done, and once more after they have
// exited.
func TestMetricsOfProcesses(t *testing.T) {
	n, _ := newHostNode(t)
	r := startRuntime(t, n, "orders")
	w := runDaemon(t, configured(t, fmt.Sprintf("discovery: {interval: 100ms, include: [{pid: %d}]}\noutputs: [{path: %s/%%p.json}]\nhttp: {listen: \"127.0.0.1:0\"}\nmetrics: {enabled: true}\n", r.PID(), t.TempDir())))
	w.await("a session", func() bool { return r.Sessions() > 0 })
	address := ""
	w.await("its address", func() bool { address = w.servers.tcp.address; return true })
	// await waits for what a scrape contains: not in the loop, which a scrape asks.
	await := func(what string, is func(body string) bool) (body string) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			if _, body = get(t, http.DefaultClient, "http://"+address+"/metrics", "", ""); is(body) {
				return body
			}
			if time.Now().After(deadline) {
				t.Fatalf("it is waited in vain for %s:\n%s", what, body)
			}
		}
	}
	for range 3 {
		r.Collect()
	}
	const three = `gclog_gc_suspend_seconds_count{process_name="orders",service_name="orders"} 3`
	await("three collections", func(body string) bool { return strings.Contains(body, three) })
	r.Exit(0)
	w.await("the end", func() bool { return w.in(r.PID()).State == "" })
	body := await("the end of its session", func(body string) bool { return strings.Contains(body, "gclog_sessions 0") })
	if !strings.Contains(body, three) || !strings.Contains(body, `gclog_sessions_ended_total{reason="exited"} 1`) {
		t.Error(body)
	}
	await("its series to go", func(body string) bool { return !strings.Contains(body, "orders") })
}
