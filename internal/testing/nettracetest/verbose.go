package nettracetest

import (
	"encoding/binary"
	"io"
)

// Verbose describes a long recording at level full: a workstation GC with a blocking gen0
// collection every millisecond of the clock, among many events that no record needs.
type Verbose struct {
	Size   int64 // bytes, approximately
	Filler int   // events per collection that no record needs
	Pins   int   // pinned objects per collection
}

// IDs of the runtime's events that it contains.
const (
	verboseStart     = 1
	verboseEnd       = 2
	verboseRestart   = 3
	verboseStats     = 4
	verboseBegin     = 7
	verboseSuspended = 8
	verboseSuspend   = 9
	verbosePin       = 33
	verboseFinal     = 29
)

// WriteTo writes the recording. It keeps no more than a block in memory.
func (v Verbose) WriteTo(w io.Writer) (int64, error) {
	const provider = "Microsoft-Windows-DotNETRuntime"
	var out V4
	clock := DefaultClock()
	out.Begin(clock)
	for _, k := range []Kind{
		{EventID: verboseStart, Version: 2},
		{EventID: verboseEnd, Version: 1},
		{EventID: verboseRestart, Version: 1},
		{EventID: verboseStats, Version: 2},
		{EventID: verboseBegin, Version: 1},
		{EventID: verboseSuspended, Version: 1},
		{EventID: verboseSuspend, Version: 1},
		{EventID: verbosePin},
		{EventID: verboseFinal},
	} {
		k.ID, k.Provider, k.Keywords, k.Level = k.EventID, provider, 1, 5
		out.Metadata(k)
	}
	var total int64
	flush := func() error {
		n, err := w.Write(out.Bytes)
		total += int64(n)
		out.Bytes = append(out.Bytes[:0], make([]byte, total%4)...) // blocks are aligned relative to the start of the stream
		return err
	}
	if err := flush(); err != nil {
		return total, err
	}
	ticks := clock.Ticks
	rows := make([]Row, 0, v.Filler+v.Pins+8)
	for number := uint32(1); total < v.Size; number++ {
		rows = rows[:0]
		add := func(id uint32, payload []byte) {
			ticks += 500
			rows = append(rows, Row{Kind: id, Thread: 4711, Ticks: ticks, Payload: payload, Sorted: len(rows) == 0})
		}
		finalize := make([]byte, 18)
		for range v.Filler {
			add(verboseFinal, finalize)
		}
		add(verboseSuspend, append(le32(nil, 1, number-1), 0, 0))
		add(verboseSuspended, []byte{0, 0})
		add(verboseStart, append(le32(nil, number, 0, 0, 0), make([]byte, 10)...))
		pin := append(le64(nil, 1, 2, 64), UTF16("System.Byte[]")...)
		pin = append(pin, 0, 0)
		for range v.Pins {
			add(verbosePin, pin)
		}
		add(verboseEnd, append(le32(nil, number, 0), 0, 0))
		stats := make([]byte, 110)
		binary.LittleEndian.PutUint64(stats, uint64(number)*8)
		add(verboseStats, stats)
		add(verboseBegin, []byte{0, 0})
		add(verboseRestart, []byte{0, 0})
		for part := rows; len(part) > 0; {
			n := min(len(part), 1500)
			block := part[:n]
			part = part[n:]
			skip := int(total % 4)
			out.Events(block...)
			out.Bytes = out.Bytes[skip:]
			if err := flush(); err != nil {
				return total, err
			}
		}
	}
	out.End()
	out.Bytes = out.Bytes[len(out.Bytes)-1:]
	n, err := w.Write(out.Bytes)
	return total + int64(n), err
}
