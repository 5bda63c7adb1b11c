package parquet

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// A row is what is known of a fact: its time in nanoseconds since 1970, its action, its id, and then
// each known value with the distance of its column from that of the value before it. It has no values
// that are those of the process.
//
//	time      8 bytes
//	action    1 byte
//	id        16 bytes
//	columns   of each: distance, value
type row []byte

const rowHead = 8 + 1 + len(formats.DocID{})

func (r row) time() int64 { return int64(binary.LittleEndian.Uint64(r)) }
func (r row) action() int { return int(r[8]) }
func (r row) id() []byte  { return r[9:rowHead] }

// A Process is a process with the host that it runs on.
type Process struct {
	gclog.Process

	sync int64 // Sync in nanoseconds since 1970
}

func newProcess(p *gclog.Process, host string) *Process {
	x := &Process{Process: *p, sync: p.Sync.UnixNano()}
	if host != "" {
		x.Host = host
	}
	return x
}

// service returns the name of the service that the process belongs to.
func (p *Process) service() string {
	if p.Service != "" {
		return p.Service
	}
	return p.Name
}

// key returns what identifies the process, and its runtime, among all others: as for document ids.
func (p *Process) key() string {
	var at int64
	if p.StartKey == 0 && p.Cookie == "" {
		at = p.sync
	}
	return fmt.Sprintf("%s/%d/%d/%d/%s", p.Host, p.ID, p.StartKey, at, p.Cookie)
}

// unmarshalProcess reads a process of a journal, which has it as JSON.
func unmarshalProcess(b []byte) (*Process, error) {
	var p *gclog.Process
	if err := json.Unmarshal(b, &p); err != nil || p == nil {
		return nil, fmt.Errorf("a damaged process: %w", err)
	}
	return newProcess(p, ""), nil
}

// A step appends the value of a column to a row. It has what that takes of a Column, so that all steps
// fit into the CPU's cache.
type step struct {
	column   int32
	double   bool
	unsigned bool
	field    func(*gclog.GCDetails) (v uint64, known bool)
	get      func(*fact) (v uint64, known bool)
	text     func(*fact) string
	list     func(*fact, []string) (names []string, known bool)
}

// steps are what encodes a fact, by its action.
var steps = plan()

func plan() (steps [actions][]step) {
	for action, name := range actionNames {
		for i := range table {
			if c := &table[i]; c.In == name {
				steps[action] = append(steps[action], step{
					column: int32(i), double: c.Type == Double, unsigned: c.Type == Integer && !c.signed,
					field: c.field, get: c.get, text: c.text, list: c.list,
				})
			}
		}
	}
	return steps
}

// A Recorder is the observer of a process: it passes its records on as rows, which are valid during
// the call.
type Recorder struct {
	f     fact
	ids   *formats.DocIDs
	lost  uint64
	names []string
	buf   row
	put   func(row, *fact)
	learn func() // what is known of the process has changed
}

func newRecorder(p *Process, put func(row, *fact), learn func()) *Recorder {
	return &Recorder{f: fact{process: p}, ids: formats.NewDocIDs(&p.Process, p.Host), put: put, learn: learn}
}

// Observe records what has a row.
func (r *Recorder) Observe(x gclog.Record) {
	f := fact{process: r.f.process, record: x}
	switch x := x.(type) {
	case *gclog.GCDetails:
		f.gc, f.lost, r.lost = x, r.lost, 0
	case *gclog.Start, *gclog.Stall:
	case *gclog.Pause:
		if x.GC != nil {
			return // it is in the record of its collection
		}
	case *gclog.Gap:
		r.lost += x.LostEvents
	case *gclog.End:
		if x.Process != nil {
			r.f.process.Merge(x.Process)
			r.learn()
		}
		if x.Reason == gclog.EndOfLog {
			return // the end of a log is not that of a session
		}
	default:
		return
	}
	r.f = f
	r.buf = r.encode(r.buf[:0], &r.f, r.ids.Of(x))
	r.put(r.buf, &r.f)
}

// encode appends the row of a fact.
func (r *Recorder) encode(dst row, f *fact, id formats.DocID) row {
	action := f.action()
	dst = binary.LittleEndian.AppendUint64(dst, f.time(f.at()))
	dst = append(append(dst, byte(action)), id[:]...)
	before := int32(0)
	list := steps[action]
	for i := range list {
		x := &list[i]
		switch {
		case x.field != nil, x.get != nil:
			var v uint64
			var known bool
			if x.field != nil {
				v, known = x.field(f.gc)
			} else {
				v, known = x.get(f)
			}
			if !known {
				continue
			}
			dst = appendDistance(dst, x.column-before)
			switch {
			case x.double:
				dst = binary.LittleEndian.AppendUint64(dst, v)
			case v < 0x80:
				dst = append(dst, byte(v))
			case x.unsigned:
				dst = binary.AppendUvarint(dst, min(v, math.MaxInt64))
			default:
				dst = binary.AppendUvarint(dst, v)
			}
		case x.text != nil:
			text := x.text(f)
			if text == "" {
				continue
			}
			dst = appendDistance(dst, x.column-before)
			dst = appendText(dst, text)
		default:
			var known bool
			if r.names, known = x.list(f, r.names[:0]); !known {
				continue
			}
			dst = appendDistance(dst, x.column-before)
			dst = binary.AppendUvarint(dst, uint64(len(r.names)))
			for _, name := range r.names {
				dst = appendText(dst, name)
			}
		}
		before = x.column
	}
	return dst
}

func appendDistance(dst row, n int32) row {
	if n < 0x80 {
		return append(dst, byte(n))
	}
	return binary.AppendUvarint(dst, uint64(n))
}

// maxText is the maximum length of a text, in bytes.
const maxText = 1024

func appendText(dst []byte, s string) []byte {
	s = cleanText(s)
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// cleanText returns text that a column may contain: it is valid UTF-8, and not too long.
func cleanText(s string) string {
	if len(s) <= maxText && isPlain(s) {
		return s
	}
	return strings.ToValidUTF8(s[:min(len(s), maxText)], "\uFFFD")
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// valid reports whether a row can be decoded.
func (r row) valid() bool {
	_, ok := r.values()
	return ok
}

// columnFromLog is the column that is set in rows that were read from a log which contains less than
// the runtime reported.
var columnFromLog = slices.IndexFunc(table, func(c Column) bool { return c.Name == "gc_from_log" })

// values returns how much a row says: the number of its values, one less if it is from a log that
// contains less. It also reports whether the row can be decoded.
func (r row) values() (n int, ok bool) {
	if len(r) < rowHead || r.action() >= actions {
		return 0, false
	}
	column, rest := 0, r[rowHead:]
	ok = true
	uvarint := func() uint64 {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			ok = false
			return 0
		}
		rest = rest[n:]
		return v
	}
	text := func() {
		if n := uvarint(); n <= uint64(len(rest)) {
			rest = rest[n:]
		} else {
			ok = false
		}
	}
	for ok && len(rest) > 0 {
		distance := uvarint()
		if distance > uint64(len(table)) || column+int(distance) >= len(table) {
			return 0, false
		}
		column += int(distance)
		if column == columnFromLog {
			n--
		} else {
			n++
		}
		switch table[column].Type {
		case Text:
			text()
		case Texts:
			for n := uvarint(); ok && n > 0; n-- {
				text()
			}
		case Double:
			if len(rest) < 8 {
				return 0, false
			}
			rest = rest[8:]
		case Labels:
			return 0, false
		default:
			uvarint()
		}
	}
	return n, ok
}
