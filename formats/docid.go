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

// Of returns the id of a record. It follows from what the record contains, so that it is the same
// when a log is converted.
func (i *DocIDs) Of(r gclog.Record) DocID {
	switch r := r.(type) {
	case *gclog.Start:
		i.began = r.Ticks
		return i.id("gc-session-start", uint64(r.Ticks))
	case *gclog.End: // of the session that started last: two sessions may have seen the same last event
		return i.id("gc-session-end", uint64(r.Ticks), uint64(i.began))
	case *gclog.GCDetails:
		return i.collection(r)
	case *gclog.Pause: // without a collection
		return i.id("gc-suspension", uint64(r.Ticks))
	case *gclog.Gap:
		return i.id("gc-gap", uint64(r.Ticks), uint64(r.Reason), uint64(r.Since), r.LostEvents, uint64(r.From),
			r.Thread, uint64(r.To), r.Records)
	case *gclog.Stall: // two collections may have been seen first at the same time
		return i.id("gc-stall", uint64(r.Ticks), uint64(r.Kind), uint64(r.Threshold), uint64(r.Number))
	case *gclog.Summary: // of the session that started last
		return i.id("gc-summary", uint64(r.Ticks), uint64(i.began))
	case *gclog.HeapGrowth:
		return i.id("gc-heap-growth", uint64(r.Ticks))
	case *gclog.Counters:
		return i.id("gc-counters", uint64(r.Ticks))
	}
	return DocID{}
}

// collection returns the id of a collection. Of one that is not complete another session may know
// more, or another part: such a record has an id of its own.
func (i *DocIDs) collection(d *gclog.GCDetails) DocID {
	if d.Flaws == 0 && d.Known.Has(gclog.GroupNumber) {
		return i.id("gc", uint64(d.Number))
	}
	var end int64
	if d.Known.Has(gclog.GroupEnd) {
		end = i.sync + d.End
	}
	return i.id("gc-part", uint64(d.Number), uint64(d.Flaws), uint64(i.sync+d.PauseStart()), uint64(end), d.LostEvents)
}
