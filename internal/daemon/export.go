package daemon

import (
	"context"
	"os"
	"reflect"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/metrics"
	"github.com/gclog/gclog/internal/otlp"
)

// exports is what is sent to OpenTelemetry.
type exports struct {
	exporter *otlp.Exporter // nil: nothing is sent
	// What the exporter was made of.
	settings *otlp.Settings
	naming   metrics.Naming
}

// exportTime is how long sending what is left may take when an exporter is replaced.
const exportTime = 5 * time.Second

// exportSettings returns what a configuration and the environment say about OpenTelemetry.
func (d *Daemon) exportSettings(c *config.Loaded) (*otlp.Settings, error) {
	return otlp.Resolve(&c.OTLP, append(os.Environ(), d.o.Environ...))
}

// CheckFiles returns an error for what a configuration takes from other files and from the standard
// variables of OpenTelemetry.
func CheckFiles(c *config.Loaded, environ []string) error {
	if _, err := loadWeb(c.HTTP.WebConfig); err != nil {
		return err
	}
	_, err := otlp.Resolve(&c.OTLP, environ)
	return err
}

// export sends to OpenTelemetry what a configuration asks for, instead of what was sent before. An
// exporter whose settings have not changed stays.
func (d *Daemon) export(s *otlp.Settings, c *config.Loaded) {
	x := &d.exports
	naming := metrics.Naming{Attributes: c.Metrics.Attributes}
	if x.exporter != nil && reflect.DeepEqual(s, x.settings) && !s.HasFiles() && naming == x.naming {
		return
	}
	if old := x.exporter; old != nil {
		x.exporter = nil
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), exportTime)
			defer cancel()
			lost := old.Close(ctx)
			d.post(func() { d.sayUnsent(lost) })
		}()
	}
	x.settings, x.naming = s, naming
	if !s.On() {
		return
	}
	format := d.format()
	self := d.selfMetrics(d.measured.registry)
	x.exporter = otlp.New(otlp.Options{
		Settings: s, Registry: d.measured.registry, Naming: naming, Format: format,
		Self: func() []*dto.MetricFamily {
			list, _ := self.Gather() // what it could gather
			return list
		},
		Warn: func(about, text string) { go d.post(func() { d.limiter.warn("otlp "+about, text, nil) }) },
	})
}

// sayUnsent logs how many records were not sent.
func (d *Daemon) sayUnsent(lost uint64) {
	if lost > 0 {
		d.log.Warn().Uint64("records", lost).Msg("otlp: records were not sent in time")
	}
}

// endExport sends what is left until ctx is done. The loop must not call it.
func (d *Daemon) endExport(ctx context.Context) {
	if d.exports.exporter == nil {
		return
	}
	lost := d.exports.exporter.Close(ctx)
	d.post(func() { d.sayUnsent(lost) })
}

// exportNumbers returns what was sent so far; zero if nothing is.
func (d *Daemon) exportNumbers() (n otlp.Numbers) {
	if d.exports.exporter != nil {
		n = d.exports.exporter.Numbers()
	}
	return n
}
