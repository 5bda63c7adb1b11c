package fakeruntime

import (
	"cmp"
	"encoding/binary"
	"net"
	"slices"
	"strings"
	"time"
)

// announce connects to the ports of the configuration, and keeps doing so: a runtime has one
// connection to each port that waits for a command.
//
// .NET Core 3.1 does not support ports.
func (r *Runtime) announce() {
	var paths []string
	for element := range strings.SplitSeq(r.cfg.Ports, ";") {
		parts := strings.Split(element, ",")
		if r.cfg.Version == "" || parts[0] == "" || slices.Contains(parts, "listen") {
			continue
		}
		paths = append(paths, parts[0])
		if !slices.Contains(parts, "nosuspend") { // suspend is a runtime's default
			r.waiting++
		}
	}
	if r.waiting == 0 {
		close(r.running)
	}
	for _, path := range paths {
		r.group.Go(func() { r.connect(path) })
	}
}

// resume resumes the process when every port that suspends it has said so.
func (r *Runtime) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting > 0 {
		if r.waiting--; r.waiting == 0 {
			close(r.running)
		}
	}
}

// connect keeps a connection to a port open. Like a runtime it retries forever, at growing
// intervals, and opens another connection as soon as a command has arrived.
func (r *Runtime) connect(path string) {
	const first, most = 10 * time.Millisecond, 500 * time.Millisecond
	step := first
	for {
		if conn, err := net.Dial("unix", path); err == nil {
			if !r.track(conn) {
				return
			}
			step = first
			_, _ = conn.Write(r.advertise())
			command, payload, err := readRequest(conn)
			if err == nil {
				r.group.Go(func() {
					if !r.handle(conn, command, payload) {
						r.release(conn)
					}
				})
				continue
			}
			r.release(conn)
		}
		select {
		case <-time.After(step):
			step = min(step*5/4, most)
		case <-r.closed:
			return
		}
	}
}

func (r *Runtime) advertise() []byte {
	b := append([]byte("ADVR_V1\x00"), r.cookie()...)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.cfg.PID))
	return append(b, 0, 0)
}

// cookie returns the GUID of this runtime: 0000cefa-0000-0000-0000-PPPPPPPPIIII.
func (r *Runtime) cookie() []byte {
	b := []byte{0xfa, 0xce, 0, 0, 0, 0, 0, 0, 0, 0}
	b = binary.BigEndian.AppendUint32(b, uint32(cmp.Or(r.cfg.CookieOf, r.cfg.PID)))
	return binary.BigEndian.AppendUint16(b, r.cfg.Instance)
}
