package metrics

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/common/expfmt"
)

const (
	// scrapesMost is how many scrapes are answered at a time: each may keep an answer in memory for as
	// long as its client takes to read it.
	scrapesMost = 4
	// scrapeShare is the share of time that making answers may take, as a divisor: more frequent
	// scrapes share an answer.
	scrapeShare = 10
)

// A Handler answers scrapes, however many there are, with at most a tenth of a processor.
type Handler struct {
	slots chan struct{}

	mu      sync.Mutex // held while an answer is made
	exposer *Exposer
	answers map[variant]*answer // each is used for some time
}

// A variant is what answers differ in: what else a client may ask for, a version or how names are
// escaped, changes nothing in them.
type variant struct {
	format expfmt.FormatType
	zip    bool
}

// offered are the formats that can be asked for.
var offered = slices.DeleteFunc(expfmt.DefaultOpenMetricsAcceptedFormats(), func(f expfmt.Format) bool {
	switch f.FormatType() {
	case expfmt.TypeTextPlain, expfmt.TypeOpenMetrics, expfmt.TypeProtoDelim:
		return false
	}
	return true
})

// An answer to a scrape.
type answer struct {
	body    []byte
	reading Reading
	until   time.Time // until which it is used again
}

// NewHandler returns a Handler for what an Exposer writes.
func NewHandler(e *Exposer) *Handler {
	return &Handler{slots: make(chan struct{}, scrapesMost), exposer: e, answers: map[variant]*answer{}}
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many scrapes at the same time", http.StatusServiceUnavailable)
		return
	}
	format := expfmt.NegotiateAccept(r.Header, offered...)
	zip := acceptsGzip(r.Header)
	a, err := h.answer(format, zip)
	if err != nil {
		http.Error(w, "gathering metrics: "+err.Error(), http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", string(format))
	header.Set("Content-Length", strconv.Itoa(len(a.body)))
	header.Add("Vary", "Accept, Accept-Encoding")
	if zip {
		header.Set("Content-Encoding", "gzip")
	}
	if _, err := w.Write(a.body); err == nil && r.Method != http.MethodHead {
		a.reading.Done()
	}
}

// answer returns an answer that is recent enough, or makes one.
func (h *Handler) answer(format expfmt.Format, zip bool) (*answer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := variant{format.FormatType(), zip}
	began := time.Now()
	if a := h.answers[key]; a != nil && began.Before(a.until) {
		return a, nil
	}
	a := &answer{}
	var err error
	var b bytes.Buffer
	if zip {
		z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is valid
		if a.reading, err = h.exposer.Write(z, format); err == nil {
			err = z.Close()
		}
	} else {
		a.reading, err = h.exposer.Write(&b, format)
	}
	if err != nil {
		return nil, err
	}
	a.body = b.Bytes()
	ended := time.Now()
	maps.DeleteFunc(h.answers, func(_ variant, old *answer) bool { return ended.After(old.until) })
	h.answers[key] = a
	share := scrapeShare * time.Duration(len(h.answers)) // all variants together have one
	a.until = ended.Add((share - 1) * ended.Sub(began))
	return a, nil
}

// acceptsGzip reports whether an answer may be compressed.
func acceptsGzip(h http.Header) bool {
	for coding := range strings.SplitSeq(h.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if strings.TrimSpace(name) != "gzip" {
			continue
		}
		_, value, _ := strings.Cut(weight, "q=")
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return err != nil || q > 0
	}
	return false
}
