package daemon

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/gclog/gclog/internal/host"
)

// holdMost is how long a request may keep the daemon from changing its sessions with a process.
const holdMost = time.Hour

// hold holds a process until the client closes the connection: a heap snapshot is taken of it. The
// lock of the snapshot says the same to daemons with the same /proc. This request is for one that
// has mounted its own, in a container: it sees other locks.
func (d *Daemon) hold(w http.ResponseWriter, r *http.Request) {
	pid, _ := strconv.Atoi(r.FormValue("pid"))
	start, _ := strconv.ParseUint(r.FormValue("start"), 10, 64)
	var target *host.Target
	if !d.askFor(w, r, func() { target = d.targetOf(key{pid: pid, start: start}) }) {
		return
	}
	if target == nil {
		http.Error(w, "the daemon does not log the process", http.StatusNotFound)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), aliveTime)
	defer cancel()
	switch h, err := target.Hold(ctx); {
	case err == nil:
		defer h.Release()
	case !target.Held(): // else by the client itself
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	answer := http.NewResponseController(w)
	_ = answer.SetWriteDeadline(time.Time{})
	_ = answer.SetReadDeadline(time.Time{})
	if _, err := w.Write([]byte("held\n")); err != nil || answer.Flush() != nil {
		return
	}
	select {
	case <-r.Context().Done():
	case <-d.stopped:
	case <-time.After(holdMost):
	}
}

// targetOf returns the process as a target of its own, which can be held, or nil.
func (d *Daemon) targetOf(k key) *host.Target {
	p := d.processes[k]
	if p == nil || p.target == nil {
		return nil
	}
	return &host.Target{Process: p.target.Process}
}
