package main

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/plog"
)

// settings are the settings of the exporter "arrived".
type settings struct {
	Path string `mapstructure:"path"` // records are appended to this file
}

// arrived writes a line for each log record. It has no queue: when it returns the records are
// written, so that what a killed collector loses was lost by its receiver.
type arrived struct {
	component.StartFunc
	mu   sync.Mutex
	file *os.File
}

// A line is a log record as the receiver parsed it.
type line struct {
	Time       time.Time      `json:"time"`
	Severity   string         `json:"severity"`
	Body       any            `json:"body"`
	Attributes map[string]any `json:"attributes"`
}

func newFactory() exporter.Factory {
	create := func(_ context.Context, _ exporter.Settings, c component.Config) (exporter.Logs, error) {
		file, err := os.OpenFile(c.(*settings).Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		return &arrived{file: file}, err
	}
	return exporter.NewFactory(component.MustNewType("arrived"), func() component.Config { return &settings{} },
		exporter.WithLogs(create, component.StabilityLevelDevelopment))
}

// Capabilities reports that records are not changed here.
func (*arrived) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

// ConsumeLogs writes the records with one write.
func (a *arrived) ConsumeLogs(_ context.Context, logs plog.Logs) error {
	var b []byte
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, r := range scope.LogRecords().All() {
				l, err := json.Marshal(line{r.Timestamp().AsTime(), r.SeverityText(), r.Body().AsRaw(), r.Attributes().AsRaw()})
				if err != nil {
					return err
				}
				b = append(append(b, l...), '\n')
			}
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err := a.file.Write(b)
	return err
}

// Shutdown closes the file.
func (a *arrived) Shutdown(context.Context) error { return a.file.Close() }
