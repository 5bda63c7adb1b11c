package metrics

import (
	"io"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// An Exposer writes the numbers of a Registry for Prometheus.
type Exposer struct {
	Registry *Registry
	Naming   Naming
	// MaxSeries is how many series of processes are written: a histogram counts as many as its
	// classic buckets, sum and count. 0: no limit.
	MaxSeries int
	// Self gathers further metrics, after those of the processes; nil: there are none.
	Self prometheus.Gatherer
	// Left is called with the number of processes that were left out because of MaxSeries; nil: not
	// needed.
	Left func(processes int)
}

// Write writes all metrics in a format of client_golang's.
func (e *Exposer) Write(w io.Writer, format expfmt.Format) (Reading, error) {
	encoder := expfmt.NewEncoder(w, format)
	var err error
	families := e.Naming.Families()
	reading := e.Registry.Read(Scraper, func(views []View) int {
		n := within(views, families, e.MaxSeries)
		if e.Left != nil {
			e.Left(len(views) - n)
		}
		err = e.write(w, format, families, views[:n])
		return n
	})
	if err == nil && e.Self != nil {
		err = encodeAll(encoder, e.Self)
	}
	if closer, ok := encoder.(expfmt.Closer); ok && err == nil {
		err = closer.Close() // the end of OpenMetrics
	}
	return reading, err
}

// write writes the families of processes.
func (e *Exposer) write(w io.Writer, format expfmt.Format, families []*Family, views []View) error {
	switch format.FormatType() {
	case expfmt.TypeTextPlain, expfmt.TypeOpenMetrics:
		text := &textWriter{
			to:     w,
			naming: e.Naming,
			open:   format.FormatType() == expfmt.TypeOpenMetrics,
			texts:  map[*Set]string{},
			bounds: map[*bounds][]string{},
		}
		for _, f := range families {
			text.family(f, views)
		}
		text.flush()
		return text.err
	}
	messages := newProtoWriter(w, e.Naming)
	for _, f := range families {
		messages.write(f, views)
	}
	return messages.err
}

func encodeAll(encoder expfmt.Encoder, from prometheus.Gatherer) error {
	list, err := from.Gather()
	for _, x := range list {
		if err == nil {
			err = encoder.Encode(x)
		}
	}
	return err
}
