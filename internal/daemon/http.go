package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"
)

// The HTTP endpoints, which answer as those of Prometheus do.

const (
	httpTime = 10 * time.Second
	// aliveTime is how long the loop may take to answer.
	aliveTime = 5 * time.Second
)

// serve listens on another address, instead of the one before. "" is none. On an error
// the one before stays.
func (d *Daemon) serve(address string) error {
	var l net.Listener
	if address != "" {
		var err error
		if l, err = d.listenHTTP(address); err != nil {
			return fmt.Errorf("http.listen: %w: another gclog may have it: choose another address, or \"\" for none", err)
		}
	}
	if before := d.server; before != nil {
		go shutDown(before) // it may be who asked for this
	}
	d.server, d.listener, d.address = nil, nil, ""
	if l == nil {
		return nil
	}
	d.listener, d.address = l, l.Addr().String()
	d.server = &http.Server{
		Handler: d.handler(), ReadHeaderTimeout: httpTime, ReadTimeout: httpTime, WriteTimeout: 2 * httpTime, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10,
	}
	go func(s *http.Server) { _ = s.Serve(l) }(d.server) // until it is closed
	return nil
}

// listenHTTP listens on an address. The listener that there is may be in the way: of all
// addresses of this host instead of one. Then it is closed first, and made again if that
// was of no use.
func (d *Daemon) listenHTTP(address string) (net.Listener, error) {
	listen := func(address string) (net.Listener, error) {
		return new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	}
	l, err := listen(address)
	_, port, _ := net.SplitHostPort(address)
	if _, ours, _ := net.SplitHostPort(d.address); err == nil || d.listener == nil || port != ours {
		return l, err
	}
	_ = d.listener.Close()
	if l, err = listen(address); err != nil {
		if again, aerr := listen(d.address); aerr == nil {
			server := d.server
			d.listener = again
			go func() { _ = server.Serve(again) }()
		}
	}
	return l, err
}

// shutDown takes no more requests, and lets those that are under way be answered.
func shutDown(s *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), httpTime)
	defer cancel()
	_ = s.Shutdown(ctx)
	_ = s.Close()
}

func (d *Daemon) closeServer() {
	if d.server != nil {
		_ = d.server.Close()
	}
}

func (d *Daemon) handler() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"/healthz", "/-/healthy"} {
		mux.HandleFunc("GET "+path, d.healthy)
	}
	for _, path := range []string{"/readyz", "/-/ready"} {
		mux.HandleFunc("GET "+path, d.isReady)
	}
	mux.HandleFunc("GET /debug/sessions", d.showSessions)
	mux.HandleFunc("/-/reload", d.postOnly(func(w http.ResponseWriter, r *http.Request) {
		if err := d.reload(r.Context()); err != nil {
			http.Error(w, fmt.Sprintf("failed to reload config: %v", err), http.StatusInternalServerError)
		}
	}))
	mux.HandleFunc("/-/rotate", d.postOnly(func(w http.ResponseWriter, r *http.Request) {
		if !d.ask(r.Context(), d.rotate) {
			http.Error(w, "gclog does not answer", http.StatusInternalServerError)
		}
	}))
	return mux
}

func (d *Daemon) postOnly(f http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost && r.Method != http.MethodPut {
			w.Header().Set("Allow", "POST, PUT")
			http.Error(w, "Only POST or PUT requests allowed", http.StatusMethodNotAllowed)
			return
		}
		f(w, r)
	}
}

// healthy tells whether the loop turns.
func (d *Daemon) healthy(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), aliveTime)
	defer cancel()
	if !d.ask(ctx, func() {}) {
		http.Error(w, "gclog does not answer", http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintln(w, "gclog is Healthy.")
}

// isReady tells whether all processes have been looked for once, and the end has not begun.
func (d *Daemon) isReady(w http.ResponseWriter, _ *http.Request) {
	if !d.ready.Load() {
		http.Error(w, "gclog is not ready", http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintln(w, "gclog is Ready.")
}

func (d *Daemon) showSessions(w http.ResponseWriter, r *http.Request) {
	var all Processes
	ctx, cancel := context.WithTimeout(r.Context(), aliveTime)
	defer cancel()
	if !d.ask(ctx, func() { all = d.status() }) {
		http.Error(w, "gclog does not answer", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(all)
}

// status is what is known about all processes, in the order of their pids.
func (d *Daemon) status() Processes {
	all := Processes{Processes: []Status{}, Unreachable: []Status{}, Defects: d.defects}
	for _, p := range d.processes {
		all.Processes = append(all.Processes, p.status())
	}
	for i := range d.unreachable {
		all.Unreachable = append(all.Unreachable, unreachableStatus(&d.unreachable[i]))
	}
	byPID := func(a, b Status) int { return a.PID - b.PID }
	slices.SortFunc(all.Processes, byPID)
	slices.SortFunc(all.Unreachable, byPID)
	return all
}

// logStatus writes the same into the daemon's own log.
func (d *Daemon) logStatus() {
	for _, s := range d.status().Processes {
		d.log.Info().Int("pid", s.PID).Str("process", s.Process).Str("service", s.Service).Str("state", s.State).Str("why", s.Why).
			Str("level", s.Level).Int64("gcs", s.GCs).Int64("lost_events", s.LostEvents).Int64("written_bytes", s.Written).Msg("status")
	}
}
