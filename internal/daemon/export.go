package daemon

import (
	"context"
	"os"
	"reflect"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/metrics"
	"github.com/gclog/gclog/internal/otlp"
)

// exports is what is sent to OpenTelemetry.
type exports struct {
	idle
	d        *Daemon
	exporter *otlp.Exporter // nil: nothing is sent
	// The inputs of the exporter:
	settings *otlp.Settings
	naming   metrics.Naming
}

// exportTime is how long sending what is left may take when an exporter is replaced.
const exportTime = 5 * time.Second

// CheckFiles returns an error for what a configuration takes from other files and from the standard
// variables of OpenTelemetry.
func CheckFiles(c *config.Loaded, environ []string) error {
	if _, err := loadWeb(c.HTTP.WebConfig); err != nil {
		return err
	}
	_, err := otlp.Resolve(&c.OTLP, environ)
	return err
}

// prepare implements part. An exporter whose settings do not change stays. It decides whether metrics are
// counted for it.
func (x *exports) prepare(next *config.Loaded) (change, error) {
	s, err := otlp.Resolve(&next.OTLP, append(os.Environ(), x.d.o.Environ...))
	if err != nil {
		return change{}, err
	}
	return change{func() {
		x.d.metrics.measure(next, s.Metrics())
		x.use(s, metrics.Naming{Attributes: next.Metrics.Attributes})
	}, nothing}, nil
}

func (x *exports) use(s *otlp.Settings, naming metrics.Naming) {
	d := x.d
	if x.exporter != nil && reflect.DeepEqual(s, x.settings) && !s.HasFiles() && naming == x.naming {
		return
	}
	if old := x.exporter; old != nil {
		x.exporter = nil
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), exportTime)
			defer cancel()
			x.close(ctx, old)
		}()
	}
	x.settings, x.naming = s, naming
	if !s.On() {
		return
	}
	self := d.selfMetrics(d.metrics.registry)
	x.exporter = otlp.New(otlp.Options{
		Settings: s, Registry: d.metrics.registry, Naming: naming, Format: d.format(),
		Self: func() []*dto.MetricFamily {
			list, _ := self.Gather() // what it could gather
			return list
		},
		Warn: func(about, text string) { go d.post(func() { d.limiter.warn("otlp "+about, text, nil) }) },
	})
}

// observe implements part.
func (x *exports) observe(*process) func(*gclog.Process) gclog.Observer {
	if x.exporter == nil || !x.exporter.SendsRecords() {
		return nil
	}
	return x.exporter.Observe
}

// settle implements part: it sends what is left.
func (x *exports) settle(ctx context.Context, all *sync.WaitGroup) {
	if e := x.exporter; e != nil {
		all.Go(func() { x.close(ctx, e) })
	}
}

// close sends what is left until ctx is done, and logs how many records were not sent.
func (x *exports) close(ctx context.Context, e *otlp.Exporter) {
	if lost := e.Close(ctx); lost > 0 {
		x.d.post(func() { x.d.log.Warn().Uint64("records", lost).Msg("otlp: records were not sent in time") })
	}
}

// numbers returns what was sent so far; zero if nothing is.
func (x *exports) numbers() (n otlp.Numbers) {
	if x.exporter != nil {
		n = x.exporter.Numbers()
	}
	return n
}
