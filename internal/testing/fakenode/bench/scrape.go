//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"
)

// A scraper scrapes the daemon as Prometheus does.
type scraper struct {
	address string
	stop    chan struct{}
	done    chan struct{}
	took    []time.Duration
	size    int64 // of the last answer
	err     error
}

// freeAddress returns an address at which nothing listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (s *scraper) start(every time.Duration) {
	s.stop, s.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(s.done)
		for {
			select {
			case <-time.After(every):
				if s.err = s.scrape(); s.err != nil {
					return
				}
			case <-s.stop:
				return
			}
		}
	}()
}

func (s *scraper) scrape() error {
	r, err := http.NewRequest(http.MethodGet, "http://"+s.address+"/metrics", http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5")
	r.Header.Set("Accept-Encoding", "gzip")
	began := time.Now()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if s.size, err = io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("a scrape: %s, %w", answer.Status, err)
	}
	s.took = append(s.took, time.Since(began))
	return nil
}

// end stops it, and prints how long scrapes took.
func (s *scraper) end() error {
	close(s.stop)
	<-s.done
	if s.err != nil || len(s.took) == 0 {
		return s.err
	}
	slices.Sort(s.took)
	fmt.Printf("%-30s %d scrapes, %.0f ms (median) to %.0f ms, %.2f MB each\n", "", len(s.took), millisOf(s.took[len(s.took)/2]), millisOf(s.took[len(s.took)-1]), float64(s.size)/1e6)
	return nil
}

func millisOf(d time.Duration) float64 { return d.Seconds() * 1e3 }
