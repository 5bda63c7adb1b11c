package formats

import (
	"crypto/sha256"
	"strconv"

	"github.com/gclog/gclog/gclog"
)

// A DocID identifies a fact about a process: readers can recognize what they already have. Facts that
// differ have different ids. A fact that several sessions have seen completely has the same id in all
// of them.
type DocID [16]byte

// AppendText appends the id in hexadecimal, as it is in records.
func (id DocID) AppendText(dst []byte) ([]byte, error) {
	for _, c := range id {
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst, nil
}

// DocIDs returns the ids of the facts about one process.
type DocIDs struct {
	entity []byte // identifies the process
	key    []byte
	sync   int64 // wall clock at the sync point, in nanoseconds
	began  int64 // start of the session in ticks
}

// NewDocIDs returns the DocIDs of a process that runs on a host.
//
// Host, pid and start time identify the process, and the cookie its runtime, which changes at an
// exec. The cookie alone would suffice, but a process could claim that of another one, and its
// records would replace the other's. .NET Core 3.1 has no cookie.
func NewDocIDs(p *gclog.Process, host string) *DocIDs {
	b := append([]byte(nil), p.Cookie...)
	b = append(b, '/')
	b = append(b, host...)
	b = append(b, '/')
	b = strconv.AppendInt(b, p.ID, 10)
	b = append(b, '/')
	if p.StartKey == 0 && p.Cookie == "" {
		b = strconv.AppendInt(b, p.Sync.UnixNano(), 10) // nothing better is known
	} else {
		b = strconv.AppendUint(b, p.StartKey, 10)
	}
	return &DocIDs{entity: b, sync: p.Sync.UnixNano()}
}

func (i *DocIDs) id(action string, fact ...uint64) DocID {
	i.key = append(i.key[:0], i.entity...)
	i.key = append(i.key, '/')
	i.key = append(i.key, action...)
	for _, f := range fact {
		i.key = append(i.key, '/')
		i.key = strconv.AppendUint(i.key, f, 10)
	}
	sum := sha256.Sum256(i.key)
	return DocID(sum[:16])
}

// GC returns the id of a collection. Of one that is not complete another session may know more, or
// another part: such a record has an id of its own. It follows from what the record contains, so that
// it is the same when a log is converted.
func (i *DocIDs) GC(d *gclog.GCDetails) DocID {
	if d.Flaws == 0 && d.HasNumber {
		return i.id("gc", uint64(d.Number))
	}
	var end int64
	if d.HasEnd {
		end = i.sync + d.End
	}
	return i.id("gc-part", uint64(d.Number), uint64(d.Flaws), uint64(i.sync+d.PauseStart()), uint64(end), d.LostEvents)
}

// Start returns the id of the start of a session.
func (i *DocIDs) Start(s *Start) DocID {
	i.began = s.Ticks
	return i.id("gc-session-start", uint64(s.Ticks))
}

// End returns the id of the end of the session that started last: two sessions may have seen the same
// last event.
func (i *DocIDs) End(e *End) DocID {
	return i.id("gc-session-end", uint64(e.Ticks), uint64(i.began))
}

// Pause returns the id of a pause without a collection.
func (i *DocIDs) Pause(p *gclog.Pause) DocID { return i.id("gc-suspension", uint64(p.Ticks)) }

// Gap returns the id of a gap.
func (i *DocIDs) Gap(g *gclog.Gap) DocID {
	return i.id("gc-gap", uint64(g.Ticks), uint64(g.Reason), uint64(g.Since), g.LostEvents, uint64(g.From), g.Thread, uint64(g.To), g.Records)
}

// Stall returns the id of a stall. Two collections may have been seen first at the same time.
func (i *DocIDs) Stall(s *gclog.Stall) DocID {
	return i.id("gc-stall", uint64(s.Ticks), uint64(s.Kind), uint64(s.Threshold), uint64(s.Number))
}

// Summary returns the id of a summary of the session that started last.
func (i *DocIDs) Summary(s *Summary) DocID {
	return i.id("gc-summary", uint64(s.Ticks), uint64(i.began))
}

// HeapGrowth returns the id of what grew between heap snapshots.
func (i *DocIDs) HeapGrowth(g *HeapGrowth) DocID { return i.id("gc-heap-growth", uint64(g.Ticks)) }
