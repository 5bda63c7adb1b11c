package parse

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"time"
)

// A Trace is the head of a stream; it describes the recording.
type Trace struct {
	Major, Minor int // 4 and 0 for the FastSerialization container, 6 and up for V6

	SyncTime       time.Time // UTC, in whole milliseconds; the wall-clock time of SyncTicks. The start of 1970: unknown
	SyncTicks      int64     // the events' clock when the session started
	TicksPerSecond int64     // > 0; on Linux 1e9, from CLOCK_MONOTONIC

	PointerSize int   // 4 or 8: size of a pointer in event payloads
	ProcessID   int64 // in the target's own pid namespace; 0: not in the stream (V6 of a whole machine)
	Processors  int   // 0: unknown
}

// Nanoseconds converts a time stamp of the stream to nanoseconds since SyncTicks. A time stamp more
// than 73 years away is corrupt, and is limited to that distance.
func (t *Trace) Nanoseconds(ticks int64) int64 {
	d := ticks - t.SyncTicks // the writer's arithmetic wraps, so this does too
	const e9 = int64(time.Second)
	f := t.TicksPerSecond
	if f == e9 || f <= 0 {
		return max(-farthest, min(d, farthest))
	}
	sec, rest := d/f, d%f
	if sec > farthest/e9-1 {
		return farthest
	}
	if sec < -farthest/e9+1 {
		return -farthest
	}
	// rest < f, but rest * 1e9 may need more than 64 bits for clocks above 9 GHz.
	neg := rest < 0
	if neg {
		rest = -rest
	}
	hi, lo := bits.Mul64(uint64(rest), uint64(e9))
	q, _ := bits.Div64(hi, lo, uint64(f))
	if neg {
		return sec*e9 - int64(q)
	}
	return sec*e9 + int64(q)
}

// farthest is the maximum distance of a time from the sync point, 73 years. A time stamp farther
// away is corrupt, and the difference of two times must not overflow.
const farthest = int64(1) << 61

// traceV4Size is the size of the Trace object of V4; it has no size prefix.
const traceV4Size = 48

func parseTraceV4(b []byte) (*Trace, string) {
	c := cursor{b: b}
	t := &Trace{Major: 4}
	t.SyncTime = systemTime(&c)
	t.SyncTicks = int64(c.u64())
	t.TicksPerSecond = int64(c.u64())
	t.PointerSize = int(c.u32())
	t.ProcessID = int64(c.u32())
	t.Processors = processors(uint64(c.u32()))
	c.u32() // expected CPU sampling period
	return t, t.check()
}

// processors returns the number of processors in the head of a stream, 0 if it is unknown: NativeAOT
// writes 65535.
func processors(n uint64) int {
	if n >= math.MaxUint16 {
		return 0
	}
	return int(n)
}

// parseTraceV6 reads the Trace block of V6: the fixed part, then key-value pairs, all of them
// optional.
func parseTraceV6(b []byte, major, minor int) (*Trace, string) {
	c := cursor{b: b}
	t := &Trace{Major: major, Minor: minor}
	t.SyncTime = systemTime(&c)
	t.SyncTicks = int64(c.u64())
	t.TicksPerSecond = int64(c.u64())
	t.PointerSize = int(c.u32())
	for n := c.u32(); n > 0 && !c.bad; n-- {
		key, value := c.utf8(), c.utf8()
		switch string(key) {
		case "ProcessId":
			t.ProcessID, _ = strconv.ParseInt(string(value), 10, 64)
		case "HardwareThreadCount":
			n, _ := strconv.ParseUint(string(value), 10, 64)
			t.Processors = processors(n)
		}
	}
	if c.bad {
		return nil, "the Trace block ends in the middle of a field"
	}
	return t, t.check()
}

// check returns what is impossible about the fields, or "" if nothing is.
func (t *Trace) check() string {
	switch {
	case t.TicksPerSecond <= 0:
		return "the clock has " + strconv.FormatInt(t.TicksPerSecond, 10) + " ticks per second"
	case t.PointerSize != 4 && t.PointerSize != 8:
		return "pointers of " + strconv.Itoa(t.PointerSize) + " bytes, expected 4 or 8"
	}
	return ""
}

// Dated reports whether SyncTime is known.
func (t *Trace) Dated() bool { return t.SyncTime.Year() > undated.Year() }

// undated is the time of streams that do not say when they start. lastYear is the last that they may
// name: JSON has four digits for it, and times may be 292 years later.
var undated = time.Unix(0, 0).UTC()

const lastYear = 9000

// systemTime reads a Windows SYSTEMTIME: year, month, day of week, day, hour,
// minute, second, millisecond, each an int16, in UTC. One that is no time, such as February 31, is undated.
func systemTime(c *cursor) time.Time {
	p := c.take(16)
	if p == nil {
		return undated
	}
	f := func(i int) int { return int(int16(binary.LittleEndian.Uint16(p[2*i:]))) }
	said := [...]int{f(0), f(1), f(3), f(4), f(5), f(6), f(7) * int(time.Millisecond)}
	t := time.Date(said[0], time.Month(said[1]), said[2], said[3], said[4], said[5], said[6], time.UTC)
	is := [...]int{t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond()}
	if is != said || t.Year() <= undated.Year() || t.Year() > lastYear {
		return undated
	}
	return t
}
