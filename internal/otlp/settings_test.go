package otlp

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/config"
)

// TestResolve: keys take precedence over variables, those of a signal over those of all, and these
// over the defaults.
func TestResolve(t *testing.T) {
	for _, x := range []struct {
		name   string
		c      config.OTLP
		env    string
		logs   target
		verify func(s *Settings) bool
	}{
		{"defaults", config.OTLP{Metrics: true}, "", target{url: "http://localhost:4318/v1/logs", timeout: 10 * time.Second, gzip: true}, func(s *Settings) bool {
			return s.interval == time.Minute && s.temporality == "cumulative" && s.histograms != exponential && s.resource == nil && s.Metrics()
		}},
		{
			"variables",
			config.OTLP{},
			"OTEL_EXPORTER_OTLP_ENDPOINT=https://c:1/x/ OTEL_EXPORTER_OTLP_HEADERS=a=b%20c,d=e OTEL_EXPORTER_OTLP_TIMEOUT=500 OTEL_EXPORTER_OTLP_COMPRESSION=none OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf OTEL_METRIC_EXPORT_INTERVAL=2000 OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=Delta OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION=base2_exponential_bucket_histogram OTEL_RESOURCE_ATTRIBUTES=env=prod",
			target{url: "https://c:1/x/v1/logs", headers: []attribute{{"a", "b c"}, {"d", "e"}}, timeout: 500 * time.Millisecond},
			func(s *Settings) bool {
				return s.interval == 2*time.Second && s.temporality == "delta" && s.histograms == exponential && reflect.DeepEqual(s.resource, []attribute{{"env", "prod"}})
			},
		},
		{"of a signal", config.OTLP{}, "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:1 OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=http://l:2/logs OTEL_EXPORTER_OTLP_LOGS_TIMEOUT=7 OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=:", target{url: "http://l:2/logs", timeout: 7 * time.Millisecond, gzip: true}, nil},
		{
			"keys",
			config.OTLP{Metrics: true, Endpoint: "http://k:3/", Headers: map[string]config.Secret{"A": "1"}, Timeout: time.Second, Compression: "none", Interval: 3 * time.Second, Temporality: "lowmemory", Histograms: "exponential"},
			"OTEL_EXPORTER_OTLP_ENDPOINT=: OTEL_EXPORTER_OTLP_HEADERS=a=b,d=e OTEL_EXPORTER_OTLP_LOGS_TIMEOUT=x OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_METRIC_EXPORT_INTERVAL=x",
			target{url: "http://k:3/v1/logs", headers: []attribute{{"A", "1"}, {"d", "e"}}, timeout: time.Second},
			func(s *Settings) bool {
				return s.interval == 3*time.Second && s.temporality == "lowmemory" && s.histograms == exponential
			},
		},
	} {
		x.c.Logs = true
		s, err := Resolve(&x.c, strings.Fields(x.env))
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		if !reflect.DeepEqual(s.targets[ofLogs], x.logs) || x.verify != nil && !x.verify(s) {
			t.Errorf("%s: %+v", x.name, s)
		}
	}
	if s, err := Resolve(&config.OTLP{}, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=:"}); err != nil || s.On() {
		t.Errorf("off: %v, %v", s, err)
	}
}

// TestResolveWrong: errors name the key or the variable, and no secret.
func TestResolveWrong(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		env  string
		c    config.OTLP
		want string
	}{
		{"OTEL_EXPORTER_OTLP_PROTOCOL=grpc", config.OTLP{}, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc: gclog sends only http/protobuf: set otlp.endpoint to the collector's port for that, usually 4318"},
		{"OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=http/json", config.OTLP{}, "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=http/json: gclog sends only"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318", config.OTLP{}, "OTEL_EXPORTER_OTLP_ENDPOINT: it is not the URL of a collector, such as http://localhost:4318"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT=10s", config.OTLP{}, `OTEL_EXPORTER_OTLP_TIMEOUT: "10s" is not a number of milliseconds`},
		{"OTEL_EXPORTER_OTLP_COMPRESSION=zstd", config.OTLP{}, `OTEL_EXPORTER_OTLP_COMPRESSION: "zstd": it must be gzip, none`},
		{"OTEL_EXPORTER_OTLP_HEADERS=secret", config.OTLP{}, "OTEL_EXPORTER_OTLP_HEADERS must be a list of NAME=VALUE"},
		{"OTEL_EXPORTER_OTLP_HEADERS=a=secret%0a", config.OTLP{}, "OTEL_EXPORTER_OTLP_HEADERS must be a list of NAME=VALUE"},
		{"OTEL_METRIC_EXPORT_INTERVAL=0", config.OTLP{}, `OTEL_METRIC_EXPORT_INTERVAL: "0" is not`},
		{"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=x", config.OTLP{}, `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "x": it must be cumulative, delta, lowmemory`},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE=/none", config.OTLP{}, "OTEL_EXPORTER_OTLP_CERTIFICATE: /none: no such file or directory"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=ftp://u:secret@h", config.OTLP{}, "OTEL_EXPORTER_OTLP_ENDPOINT: it is not"},
		{"", config.OTLP{Headers: map[string]config.Secret{"a": "file:/none"}}, "otlp.headers.a: cannot read /none: no such file or directory"},
		{"", config.OTLP{Headers: map[string]config.Secret{"a": "env:GCLOG_NONE"}}, "otlp.headers.a: the environment variable GCLOG_NONE is not set"},
		{"", config.OTLP{Endpoint: "file:/none"}, "otlp.endpoint: cannot read /none"},
		{"", config.OTLP{Certificate: empty}, "otlp.certificate: " + empty + " contains no certificate in PEM"},
		{"", config.OTLP{ClientKey: empty}, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and otlp.client_key belong together: set both"},
		{"", config.OTLP{ClientKey: empty, ClientCertificate: empty}, "otlp.client_certificate and otlp.client_key: "},
	} {
		x.c.Logs = true
		_, err := Resolve(&x.c, strings.Fields(x.env))
		if err == nil || !strings.HasPrefix(err.Error(), x.want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %+v: %v", x.env, x.c, err)
		}
	}
}
