package fakeruntime

import (
	"encoding/binary"
	"time"
)

// A piece is one object of a recorded stream, with the time at which the runtime had completed it,
// relative to the start of the recording.
type piece struct {
	b  []byte
	at time.Duration
}

const (
	preamble  = 32
	traceSize = 48
	endOfFile = 1
)

// split divides a V4 stream into its objects. The recording must be complete: it is one of ours.
func split(stream []byte) (head []byte, pieces []piece) {
	nameLen := int(binary.LittleEndian.Uint32(stream[preamble+11:]))
	body := preamble + 15 + nameLen + 1
	off := body + traceSize + 1
	head = append(head, stream[:off]...)
	sync := int64(binary.LittleEndian.Uint64(stream[body+16:]))
	perSecond := int64(binary.LittleEndian.Uint64(stream[body+24:]))
	var last time.Duration
	for off < len(stream) && stream[off] != endOfFile {
		begin := off
		nameLen := int(binary.LittleEndian.Uint32(stream[off+11:]))
		name := string(stream[off+15 : off+15+nameLen])
		off += 15 + nameLen + 1
		size := int(binary.LittleEndian.Uint32(stream[off:]))
		off += 4
		off += -off & 3
		if name == "EventBlock" {
			newest := int64(binary.LittleEndian.Uint64(stream[off+12:]))
			last = max(last, time.Duration(float64(newest-sync)/float64(perSecond)*float64(time.Second)))
		}
		off += size + 1
		pieces = append(pieces, piece{stream[begin:off], last})
	}
	return head, pieces
}

// stampNow sets the start of the recording to the present time.
func stampNow(head []byte) {
	nameLen := int(binary.LittleEndian.Uint32(head[preamble+11:]))
	b := head[preamble+15+nameLen+1:]
	t := time.Now().UTC()
	for i, v := range []int{
		t.Year(), int(t.Month()), int(t.Weekday()), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond() / int(time.Millisecond),
	} {
		binary.LittleEndian.PutUint16(b[2*i:], uint16(v))
	}
}

// replay writes the stream at its speed, then waits until the session is stopped. It returns how
// the session ended.
func (r *Runtime) replay(s *Session) (how string) {
	const (
		stopped = "was stopped"
		left    = "was left by its reader"
		cut     = "was cut"
		over    = "ended with the runtime"
	)
	head, pieces := split(r.cfg.Stream)
	stampNow(head)
	sent := 0
	send := func(b []byte) (failed string) {
		if r.cfg.Cut > 0 && sent+len(b) >= r.cfg.Cut && !s.Rundown {
			_, _ = s.Conn.Write(b[:r.cfg.Cut-sent])
			if r.cfg.OnCut != nil {
				r.cfg.OnCut()
			}
			return cut
		}
		n, err := s.Conn.Write(b)
		sent += n
		if err != nil {
			return left
		}
		return ""
	}
	finish := func() string {
		if failed := send([]byte{endOfFile}); failed != "" {
			return failed
		}
		return stopped
	}
	if failed := send(head); failed != "" {
		return failed
	}
	began := time.Now()
	for _, p := range pieces {
		if r.cfg.Speed > 0 {
			wait := time.Duration(float64(p.at)/r.cfg.Speed) - time.Since(began)
			select {
			case <-time.After(wait):
			case <-s.Stopped:
				return finish()
			case <-r.closed:
				return over
			}
		}
		if failed := send(p.b); failed != "" {
			return failed
		}
	}
	if r.cfg.OnSent != nil && !s.Rundown {
		r.cfg.OnSent()
	}
	select {
	case <-s.Stopped:
		return finish()
	case <-r.closed:
		return over
	}
}
