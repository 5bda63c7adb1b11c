package daemon

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/control"
	"github.com/gclog/gclog/internal/metrics"
)

// The daemon answers HTTP in two places. The control socket is for its administrators: root and the
// daemon's own user. A TCP address, which every user of the host can reach, reports whether the
// daemon is alive and ready and, if that is configured, metrics; there is none unless it is
// configured.

const (
	httpTime = 10 * time.Second
	// aliveTime is how long the loop may take to answer.
	aliveTime = 5 * time.Second
	// httpIdle is how long a connection may stay open without a request.
	httpIdle = 10 * time.Second
	// httpMost is how many connections a server has at a time. When there are more, one of the
	// source that has the most is closed: the one that has been idle longest.
	httpMost = 64
	// httpPatience is how long a connection has, at least, to send a request before it is closed in
	// favor of another one, which waits in the kernel meanwhile.
	httpPatience = 20 * time.Millisecond
	// httpHead is how much of a request is read, in bytes.
	httpHead = 4 << 10
)

// A server is an HTTP server at one address.
type server struct {
	http     *http.Server
	listener net.Listener
	address  string // that it listens on
}

// newServer serves requests at a listener until it is closed; nil: nowhere.
func (d *Daemon) newServer(l net.Listener, h http.Handler) *server {
	if l == nil {
		return nil
	}
	crowd := &crowd{most: d.limits.requests}
	s := &server{listener: l, address: l.Addr().String(), http: &http.Server{
		Handler: h, ReadHeaderTimeout: httpTime, ReadTimeout: httpTime, WriteTimeout: 2 * httpTime,
		IdleTimeout: httpIdle, MaxHeaderBytes: httpHead, ConnState: crowd.note, ConnContext: withSource,
		ErrorLog: log.New(&serverLog{d}, "", 0),
	}}
	s.serve(l)
	return s
}

func (s *server) serve(l net.Listener) {
	s.listener = l
	go func() { _ = s.http.Serve(l) }() // returns when it is closed
}

// shutDown accepts no more connections, so that the address is free, and lets requests in progress
// be answered: one of them may have asked for this.
func (s *server) shutDown() {
	if s == nil {
		return
	}
	_ = s.listener.Close()
	go func() { _ = s.http.Shutdown(context.Background()) }() // connections have limits of their own
}

func (s *server) close() {
	if s != nil {
		_ = s.http.Close()
	}
}

// crowd contains the connections of a server, ordered by how long their state has not changed, the
// longest first.
type crowd struct {
	most  int
	mu    sync.Mutex
	conns []crowdConn
}

type crowdConn struct {
	net.Conn
	source source
	since  time.Time
}

// note records the state of a connection, and closes one when there are too many. The server calls
// it for a new connection before it accepts the next one.
func (c *crowd) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = slices.DeleteFunc(c.conns, func(x crowdConn) bool { return x.Conn == conn })
	if state == http.StateClosed || state == http.StateHijacked {
		return
	}
	c.conns = append(c.conns, crowdConn{conn, sourceOfConn(conn), time.Now()})
	if state != http.StateNew || len(c.conns) <= c.most {
		return
	}
	wait := httpPatience - time.Since(c.conns[c.surplus()].since)
	c.mu.Unlock()
	time.Sleep(wait)
	c.mu.Lock()
	if len(c.conns) > c.most {
		i := c.surplus()
		_ = c.conns[i].Close()
		c.conns = slices.Delete(c.conns, i, i+1)
	}
}

// surplus returns the connection to close: of those of the source that has the most, the one that
// has been idle longest.
func (c *crowd) surplus() int {
	count := map[source]int{}
	for _, x := range c.conns {
		count[x.source]++
	}
	first := 0
	for i, x := range c.conns {
		if count[x.source] > count[c.conns[first].source] {
			first = i
		}
	}
	return first
}

// A serverLog writes a server's messages to the daemon's own log.
type serverLog struct{ d *Daemon }

// Write implements io.Writer.
func (s *serverLog) Write(b []byte) (int, error) {
	line := string(b)
	s.d.post(func() { s.d.limiter.warn("http", "http: "+line[:len(line)-1], nil) })
	return len(b), nil
}

// servers are where the daemon answers, and how: see public.
type servers struct {
	idle
	d         *Daemon
	tcp       *server // nil: there is none
	control   *server // nil: there is none
	address   string  // of tcp, as configured
	socket    string  // of control
	public    atomic.Pointer[public]
	passwords *passwords
}

func newServers(d *Daemon) *servers {
	s := &servers{d: d, passwords: newPasswords()}
	s.public.Store(&public{web: &web{}})
	return s
}

// prepare implements part. The addresses stay if another part fails, so no other one may come after it.
func (s *servers) prepare(next *config.Loaded) (change, error) {
	w, err := loadWeb(next.HTTP.WebConfig)
	if err != nil {
		return change{}, err
	}
	before := s.address
	if err := s.serve(next.HTTP.Listen); err != nil {
		return change{}, err
	}
	if err := s.administer(next.Control.Socket); err != nil {
		_ = s.serve(before)
		return change{}, err
	}
	return change{func() { s.publish(w) }, nothing}, nil
}

// serve listens on another TCP address, instead of the previous one. "" is none. On an error the
// previous one stays.
func (s *servers) serve(address string) error {
	if address == s.address {
		return nil
	}
	var l net.Listener
	if address != "" {
		var err error
		l, err = whileHeld(s.d.patience(), func() (net.Listener, error) { return s.listen(address) })
		if err != nil {
			return fmt.Errorf("http.listen: %w: another program may be using it; "+
				"choose another address, or \"\" for none", err)
		}
	}
	s.tcp.shutDown()
	s.tcp, s.address = s.d.newServer(l, s.d.publicHandler()), address
	return nil
}

// listen listens on a TCP address. The existing listener may be in the way: on all addresses of
// this host instead of one. Then it is closed first, and opened again if that did not help.
func (s *servers) listen(address string) (net.Listener, error) {
	listen := func(address string) (net.Listener, error) {
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
		return &webListener{l, func() *web { return s.public.Load().web }}, err
	}
	l, err := listen(address)
	if err == nil || s.tcp == nil {
		return l, err
	}
	_, port, _ := net.SplitHostPort(address)
	if _, ours, _ := net.SplitHostPort(s.tcp.address); port != ours {
		return l, err
	}
	_ = s.tcp.listener.Close()
	if l, err = listen(address); err != nil {
		if again, aerr := listen(s.tcp.address); aerr == nil {
			s.tcp.serve(again)
		}
	}
	return l, err
}

// administer listens at another control socket, instead of the previous one. "" is none. The
// default socket may be in use by another daemon: then there is none. On another error the previous
// one stays.
func (s *servers) administer(socket string) error {
	path := control.Path(socket)
	if path == s.socket {
		return nil
	}
	var l net.Listener
	if path != "" {
		var err error
		l, err = whileHeld(s.d.patience(), func() (net.Listener, error) { return control.Listen(path) })
		switch {
		case err != nil && socket == control.Auto:
			s.d.log.Warn().Msg("no control socket, so gclog ctl and gclog health cannot reach this daemon: " +
				err.Error() + ": set control.socket")
		case err != nil:
			return fmt.Errorf("control.socket: %w; choose another path, or \"\" for none", err)
		}
	}
	s.control.shutDown()
	s.control, s.socket = s.d.newServer(l, s.d.controlHandler()), path
	return nil
}

// settle implements part.
func (s *servers) settle(context.Context, *sync.WaitGroup) {
	s.tcp.close()
	s.control.close()
}

// controlHandler serves the requests of the control socket.
func (d *Daemon) controlHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+control.PathHealth, d.healthy)
	mux.HandleFunc("GET "+control.PathReady, d.isReady)
	mux.HandleFunc("GET "+control.PathStatus, d.showStatus)
	mux.HandleFunc("POST "+control.PathReload, func(w http.ResponseWriter, r *http.Request) {
		if err := d.reload(); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
		}
	})
	mux.HandleFunc("POST "+control.PathRotate, func(w http.ResponseWriter, r *http.Request) {
		if !d.ask(r.Context(), d.rotate) {
			http.Error(w, "gclog does not respond", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("POST "+control.PathHold, d.hold)
	mux.HandleFunc("GET "+control.PathRecords, d.records)
	return mux
}

// public is what is served over TCP, and how it is protected.
type public struct {
	web       *web
	passwords *passwords
	metrics   *metrics.Handler // nil: none
}

// publish serves what a configuration asks for.
func (s *servers) publish(w *web) {
	s.passwords.use(w.users)
	s.public.Store(&public{w, s.passwords, s.d.metrics.handler})
}

// publicHandler serves what everybody may know.
func (d *Daemon) publicHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+control.PathHealth, d.healthy)
	mux.HandleFunc("GET "+control.PathReady, d.isReady)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		d.servers.public.Load().serveMetrics(w, r)
	})
	return mux
}

// healthy reports whether the loop responds.
func (d *Daemon) healthy(w http.ResponseWriter, r *http.Request) {
	if d.askFor(w, r, func() {}) {
		_, _ = fmt.Fprintln(w, "gclog is Healthy.")
	}
}

// askFor has the loop do something for a request. If it does not answer, that is the answer.
func (d *Daemon) askFor(w http.ResponseWriter, r *http.Request, f func()) bool {
	ctx, cancel := context.WithTimeout(r.Context(), aliveTime)
	defer cancel()
	answered := d.ask(ctx, f)
	if !answered {
		http.Error(w, "gclog does not respond", http.StatusServiceUnavailable)
	}
	return answered
}

// isReady reports whether all processes have been looked for once, new ones are found, and the
// shutdown has not started.
func (d *Daemon) isReady(w http.ResponseWriter, _ *http.Request) {
	stuck, all := d.o.Processes.Stuck()
	text, ok := readiness(d.ready.Load(), stuck, all)
	if !ok {
		http.Error(w, text, http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintln(w, text)
}

// readiness reports whether a daemon finds processes when stuck looks are stuck; all means that
// there may not be more of them.
func readiness(ready bool, stuck int, all bool) (text string, ok bool) {
	switch {
	case !ready:
		return "gclog is not ready", false
	case all:
		return fmt.Sprintf(
			"gclog is not ready: inspections of %d processes are stuck, and until they end no new processes are found",
			stuck), false
	case stuck > 0:
		return fmt.Sprintf("gclog is Ready.\nInspections of %d processes are stuck; those processes are not logged.",
			stuck), true
	}
	return "gclog is Ready.", true
}

func (d *Daemon) showStatus(w http.ResponseWriter, r *http.Request) {
	var all Processes
	if !d.askFor(w, r, func() { all = d.status() }) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	e := formats.NewJSONEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(all)
}

// status returns what is known about all processes, sorted by pid.
func (d *Daemon) status() Processes {
	all := Processes{Processes: []Status{}, Unreachable: []Status{}, Defects: d.defects, Rules: d.rules.set.status()}
	all.StuckLooks, _ = d.o.Processes.Stuck()
	for _, p := range d.processes {
		all.Processes = append(all.Processes, p.status())
	}
	for _, u := range d.unwritten {
		all.Unwritten = append(all.Unwritten, *u)
	}
	all.Unreachable = append(all.Unreachable, d.discovery.unreachable...)
	byPID := func(a, b Status) int { return a.PID - b.PID }
	slices.SortFunc(all.Processes, byPID)
	slices.SortFunc(all.Unreachable, byPID)
	return all
}

// logStatus writes the status to the daemon's own log.
func (d *Daemon) logStatus(all Processes) {
	if all.StuckLooks > 0 {
		d.log.Warn().Int("stuck_looks", all.StuckLooks).Msg("inspecting some processes timed out; they are not logged")
	}
	excluded := 0
	for _, s := range all.Processes {
		if s.State == stateExcluded.String() {
			excluded++
			continue
		}
		d.log.Info().Int("pid", s.PID).Str("process", s.Process).Str("service", s.Service).
			Str("state", s.State).Str("why", s.Why).Str("session_level", s.Level).
			Int64("gcs", s.GCs).Int64("lost_events", s.LostEvents).Int64("written_bytes", s.Written).Msg("status")
	}
	if excluded > 0 {
		d.log.Info().Int("processes", excluded).Msg("processes excluded: gclog ctl status lists them")
	}
}
