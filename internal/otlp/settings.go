package otlp

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/config"
)

// A signal is a kind of data, with its own path at an endpoint.
type signal uint8

const (
	ofMetrics signal = iota
	ofLogs
	ofTraces
	signals
)

var signalNames = [signals]string{"metrics", "logs", "traces"}

func (s signal) String() string { return signalNames[s] }

// Settings are a configuration completed by the standard variables.
type Settings struct {
	on          [signals]bool
	targets     [signals]target
	interval    time.Duration
	histograms  string
	temporality string
	queue       int64
	resource    []attribute // of every resource
}

// A target is where a signal goes, and how.
type target struct {
	url     string
	headers []attribute
	timeout time.Duration
	gzip    bool
	tls     *tls.Config
	files   bool // tls was read from files
}

// An attribute is a name and a value: of a header, or of a resource.
type attribute struct{ name, value string }

// Temporalities and histograms of the configuration.
const (
	temporalityDelta     = "delta"
	temporalityLow       = "lowmemory"
	temporalityCumulated = "cumulative"
	exponential          = "exponential"
)

const (
	defaultEndpoint = "http://localhost:4318"
	defaultTimeout  = 10 * time.Second
	defaultInterval = time.Minute
	prefix          = "OTEL_EXPORTER_OTLP_"
)

// Resolve completes a configuration by the variables of environ, which has the form of os.Environ.
// The error is a sentence that names the key or the variable.
func Resolve(c *config.OTLP, environ []string) (*Settings, error) {
	env := variables(environ)
	s := &Settings{on: [signals]bool{c.Metrics, c.Logs, c.Traces}, queue: c.Queue}
	if !slices.Contains(s.on[:], true) {
		return s, nil
	}
	var err error
	for i := range signals {
		if s.on[i] {
			if s.targets[i], err = env.target(c, i); err != nil {
				return nil, err
			}
		}
	}
	if s.interval, err = env.duration(c.Interval, defaultInterval, "OTEL_METRIC_EXPORT_INTERVAL"); err != nil {
		return nil, err
	}
	s.temporality, err = env.word(c.Temporality, "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
		temporalityCumulated, temporalityDelta, temporalityLow)
	if err != nil {
		return nil, err
	}
	s.histograms, err = env.word(c.Histograms, "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION",
		"explicit_bucket_histogram", "base2_exponential_bucket_histogram")
	if s.histograms == "base2_exponential_bucket_histogram" {
		s.histograms = exponential
	}
	if err != nil {
		return nil, err
	}
	s.resource, err = list("OTEL_RESOURCE_ATTRIBUTES", env["OTEL_RESOURCE_ATTRIBUTES"])
	return s, err
}

// On reports whether anything is sent.
func (s *Settings) On() bool { return slices.Contains(s.on[:], true) }

// Metrics reports whether metrics are sent.
func (s *Settings) Metrics() bool { return s.on[ofMetrics] }

// HasFiles reports whether certificates were read from files, which may have changed since.
func (s *Settings) HasFiles() bool {
	return slices.ContainsFunc(s.targets[:], func(t target) bool { return t.files })
}

type env map[string]string

func variables(environ []string) env {
	all := env{}
	for _, e := range environ {
		if name, value, _ := strings.Cut(e, "="); strings.HasPrefix(name, "OTEL_") {
			all[name] = strings.TrimSpace(value)
		}
	}
	return all
}

// of returns the name and the value of a variable of a signal, or of all signals; "" if neither is
// set.
func (e env) of(s signal, what string) (name, value string) {
	for _, name := range []string{prefix + strings.ToUpper(s.String()) + "_" + what, prefix + what} {
		if value := e[name]; value != "" {
			return name, value
		}
	}
	return prefix + what, ""
}

func (e env) target(c *config.OTLP, s signal) (t target, err error) {
	if t.url, err = e.url(c, s); err != nil {
		return t, err
	}
	name, text := e.of(s, "HEADERS")
	if t.headers, err = list(name, text); err != nil {
		return t, err
	}
	for key, secret := range c.Headers {
		value, err := secret.Value()
		if err != nil {
			return t, fmt.Errorf("otlp.headers.%s: %w", key, err)
		}
		t.headers = append(slices.DeleteFunc(t.headers,
			func(h attribute) bool { return strings.EqualFold(h.name, key) }), attribute{key, value})
	}
	slices.SortFunc(t.headers, func(a, b attribute) int { return cmp.Compare(a.name, b.name) })
	name, _ = e.of(s, "TIMEOUT")
	if t.timeout, err = e.duration(c.Timeout, defaultTimeout, name); err != nil {
		return t, err
	}
	name, _ = e.of(s, "COMPRESSION")
	compression, err := e.word(c.Compression, name, "gzip", "none")
	if err != nil {
		return t, err
	}
	t.gzip = compression == "gzip"
	t.tls, t.files, err = e.certificates(c, s)
	return t, err
}

// url returns where a signal is sent to.
func (e env) url(c *config.OTLP, s signal) (string, error) {
	path := "/v1/" + s.String()
	endpoint, err := c.Endpoint.Value()
	if err != nil {
		return "", fmt.Errorf("otlp.endpoint: %w", err)
	}
	if endpoint != "" {
		return strings.TrimSuffix(endpoint, "/") + path, nil
	}
	if name, protocol := e.of(s, "PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return "", fmt.Errorf("%s=%s: gclog sends only http/protobuf: set otlp.endpoint to the collector's port for "+
			"that, usually 4318", name, protocol)
	}
	name, value := e.of(s, "ENDPOINT")
	if value == "" {
		return defaultEndpoint + path, nil
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%s: it is not the URL of a collector, such as %s", name, defaultEndpoint)
	}
	if name == prefix+"ENDPOINT" { // that of a signal is complete
		value = strings.TrimSuffix(value, "/") + path
	}
	return value, nil
}

// duration returns a configured duration, or else that of a variable in milliseconds.
func (e env) duration(configured, otherwise time.Duration, name string) (time.Duration, error) {
	if configured > 0 {
		return configured, nil
	}
	value := e[name]
	if value == "" {
		return otherwise, nil
	}
	ms, err := strconv.ParseUint(value, 10, 31)
	if err != nil || ms == 0 {
		return 0, fmt.Errorf("%s: %q is not a number of milliseconds", name, value)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// word returns a configured word, or else that of a variable, or the first of those that it can be.
func (e env) word(configured, name string, words ...string) (string, error) {
	if configured != "" {
		return configured, nil
	}
	value := strings.ToLower(e[name])
	if value == "" {
		return words[0], nil
	}
	if !slices.Contains(words, value) {
		return "", fmt.Errorf("%s: %q: it must be %s", name, value, strings.Join(words, ", "))
	}
	return value, nil
}

// list parses name=value pairs separated by commas, whose values are percent-encoded.
func list(variable, text string) (all []attribute, err error) {
	for pair := range strings.SplitSeq(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		plain, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || err != nil || name == "" || strings.ContainsAny(plain, "\r\n") {
			// The message leaves out the value, which may be a secret.
			return nil, fmt.Errorf(
				"%s must be a list of NAME=VALUE separated by commas, with special characters as %%20",
				variable)
		}
		all = append(all, attribute{name, plain})
	}
	return all, nil
}

// certificates returns the TLS configuration; nil: the system's.
func (e env) certificates(c *config.OTLP, s signal) (_ *tls.Config, files bool, _ error) {
	file := func(configured, what string) (name, path string) {
		if configured != "" {
			return "otlp." + strings.ToLower(what), configured
		}
		return e.of(s, what)
	}
	caName, ca := file(c.Certificate, "CERTIFICATE")
	certName, cert := file(c.ClientCertificate, "CLIENT_CERTIFICATE")
	keyName, key := file(c.ClientKey, "CLIENT_KEY")
	if ca == "" && cert == "" && key == "" {
		return nil, false, nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		b, err := os.ReadFile(ca)
		if err != nil {
			return nil, false, fmt.Errorf("%s: %s: %w", caName, ca, cause.Of(err))
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(b) {
			return nil, false, fmt.Errorf("%s: %s contains no certificate in PEM", caName, ca)
		}
	}
	if cert == "" != (key == "") {
		return nil, false, fmt.Errorf("%s and %s belong together: set both", certName, keyName)
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, false, fmt.Errorf("%s and %s: %w", certName, keyName, cause.Of(err))
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, true, nil
}
