package logs

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

const csvLacks = "csv has no pauses without a collection, gaps, stalls or sessions, and only totals of the heaps of " +
	"server GC"

// A csvSpecial is a column that takes more than setting a field of the record. Columns with
// milliseconds come first, then those with texts, then those with whole numbers.
type csvSpecial uint8

const (
	csvStart csvSpecial = iota
	csvSuspension
	csvPause
	csvFinalPause
	csvFinalSuspension
	csvResume
	csvFinalResume
	csvDuration
	csvPauseStart
	csvFinalStart

	csvType
	csvReason
	csvCompacting
	csvStartTime
	csvKind
	csvComplete
	csvHeapDump

	csvProcess
	csvHeapBefore
	csvNumber
	csvGeneration
	csvBefore
	csvPlain // all others

	csvTexts, csvWhole = csvType, csvProcess
)

var csvNames = [csvPlain]string{
	"StartRelativeMSec", "SuspensionDurationInMilliSeconds", "PauseDurationInMilliSeconds",
	"FinalPauseDurationInMilliSeconds", "FinalSuspensionDurationInMilliSeconds", "ResumeDurationInMilliSeconds",
	"FinalResumeDurationInMilliSeconds", "DurationInMilliSeconds", "PauseStartRelativeMSec",
	"FinalPauseStartRelativeMSec", "Type", "Reason", "IsCompacting", "StartTime", "Kind", "Complete",
	"HeapDumpBy", "ProcessID", "HeapBefore", "Number", "Generation", "Gen0Before",
}

// A csvColumn is a column of a file: a field of a collection, a process or an end. For one of another program,
// all are nil.
type csvColumn struct {
	field   *fields.Field
	process *fields.Fact
	end     *fields.Row[gclog.End]
	special csvSpecial
}

// maxColumns limits the number of columns in a file.
const maxColumns = 1024

// A csvParser reads the rows of the format csv, and of programs whose columns have the same names.
// The header of a file defines the columns; there may be further headers if files were
// concatenated.
type csvParser struct {
	processes processes
	heads     int // number of headers read
	columns   []csvColumn
	there     uint64 // one bit for each special in columns
	row       csvRow
	facts     gclog.Process // of the row
	key       []byte
	days      calendar
}

// A csvRow is the non-empty special fields of a row.
type csvRow struct {
	there uint64 // one bit for each field that is set
	ns    [csvTexts]int64
	texts [csvWhole][]byte
	whole [csvPlain]uint64
	ended bool // it has fields of an end
	facts bool // it has some about the process
}

func (r *csvRow) has(c csvSpecial) bool { return r.there&(1<<c) != 0 }

func newCSV(observe func(*gclog.Process) gclog.Observer, at *reading) parser {
	return &csvParser{processes: processes{pool: pool{at: at, observe: observe}}}
}

// recognizeCSV recognizes the header, and rows that look like ours, for the sake of their time.
func recognizeCSV(b []byte) (at time.Time, ok bool) {
	var c csvParser
	if c.head(b) {
		return time.Time{}, true
	}
	if !bytes.Contains(b, []byte("GC,")) { // NonConcurrentGC and the other types
		return time.Time{}, false
	}
	begin := int64(0)
	for field := range bytes.SplitSeq(b, []byte{','}) {
		if begin != 0 { // the field after the start is the duration; the row is written when it has elapsed
			took, length := int64(0), 0
			if len(field) > 0 {
				took, length = csvMillis(field)
			}
			if length < len(field) || took < 0 {
				took = 0
			}
			return unixTime(begin + took), true
		}
		if ns, rest, ok := c.days.date(field); ok && len(rest) == 0 && ns > 0 && ns < farthest {
			begin = ns
		}
	}
	return time.Time{}, false
}

func (c *csvParser) finish() { c.processes.finish() }

func (c *csvParser) line(b []byte) bool {
	r := c.processes.record()
	read := c.read(b, r)
	if read && c.settle(r) {
		r.of.order.put(r)
		return true
	}
	c.processes.drop(r)
	return !read && c.head(b)
}

// head reads the names of the columns. Without columns for start, number and generation the line is
// not the header of a log.
func (c *csvParser) head(b []byte) bool {
	const needed = 1<<csvStart | 1<<csvNumber | 1<<csvGeneration
	if !bytes.Contains(b, []byte(csvNames[csvStart])) || bytes.Count(b, []byte{','}) >= maxColumns {
		return false
	}
	var columns []csvColumn
	there := uint64(0)
	for name := range bytes.SplitSeq(b, []byte{','}) {
		name = bytes.Trim(name, `" `)
		column := csvColumn{
			field:   fields.Column(string(name)),
			process: fields.ColumnOf(fields.Process(), string(name)),
			end:     fields.ColumnOf(fields.End(), string(name)),
			special: csvPlain,
		}
		if i := slices.Index(csvNames[:], string(name)); i >= 0 {
			column.special = csvSpecial(i)
			there |= 1 << i
		}
		if column != (csvColumn{special: csvPlain}) && slices.Contains(columns, column) {
			return false
		}
		columns = append(columns, column)
	}
	if there&needed != needed {
		return false
	}
	c.columns, c.there = columns, there
	c.heads++
	return true
}

// read reads the fields of a row. It returns false if their number differs from the number of
// columns, or if a field does not match its column.
func (c *csvParser) read(b []byte, r *record) bool {
	row := &c.row
	row.there, row.ended, row.facts = 0, false, false
	i := 0
	for n := range c.columns {
		column := &c.columns[n]
		if n > 0 {
			if i >= len(b) || b[i] != ',' {
				return false
			}
			i++
		}
		if i >= len(b) || b[i] == ',' {
			continue // unknown
		}
		length := c.value(b[i:], column, r)
		if length == 0 {
			return false
		}
		row.there |= 1 << column.special
		i += length
	}
	return i == len(b) && (row.has(csvGeneration) || row.ended)
}

// value reads the field at the start of b. It returns its length, 0 if it does not match its column.
func (c *csvParser) value(b []byte, column *csvColumn, r *record) (length int) {
	row := &c.row
	switch {
	case column.process != nil:
		if !row.facts {
			c.facts, row.facts = gclog.Process{}, true
		}
		return csvField(b, column.process, &c.facts)
	case column.end != nil:
		row.ended = true
		return csvField(b, column.end, &r.End)
	case column.field == nil:
		return textField(b)
	case column.special < csvTexts:
		v, length := csvMillis(b)
		if v < 0 && column.special >= csvSuspension && column.special <= csvDuration {
			return 0
		}
		row.ns[column.special] = v
		return length
	case column.special < csvWhole:
		length = textField(b)
		row.texts[column.special] = b[:length]
		return length
	case column.field.Set == nil:
		v, length := csvWholeNumber(b)
		if column.special < csvPlain { // others are derived
			row.whole[column.special] = v
		}
		return length
	}
	return csvField(b, column.field, &r.GC)
}

// csvField reads a value of a field. It returns its length, 0 if it is none.
func csvField[R any](b []byte, f *fields.Row[R], r *R) (length int) {
	v, most := uint64(0), f.Max
	switch f.Unit {
	case fields.Text:
		if length = textField(b); !f.SetText(r, unquote(b[:length])) {
			return 0
		}
		return length
	case fields.Flag:
		if length = textField(b); isTrue(b[:length]) {
			v = 1
		}
	case fields.Nanoseconds, fields.Time:
		var ns int64
		ns, length = csvMillis(b)
		v = uint64(ns)
	case fields.Signed:
		negative := b[0] == '-'
		if negative {
			b = b[1:]
		}
		if v, length = csvWholeNumber(b); negative && length > 0 {
			v, length, most = -v, length+1, math.MaxUint64
		}
	default:
		v, length = csvWholeNumber(b)
	}
	if length == 0 || v > most {
		return 0
	}
	f.Set(r, v)
	return length
}

// csvWholeNumber reads a whole number. length is 0 if there is none.
func csvWholeNumber(b []byte) (v uint64, length int) {
	for ; length < len(b) && b[length]-'0' <= 9; length++ {
		v = v*10 + uint64(b[length]-'0')
	}
	if length > 19 { // it may overflow
		return 0, 0
	}
	return v, length
}

// textField returns the length of the field at the start of b.
func textField(b []byte) int {
	i := 0
	if b[0] == '"' {
		i = 1 + max(0, bytes.IndexByte(b[1:], '"'))
	}
	for i < len(b) && b[i] != ',' {
		i++
	}
	return i
}

// csvMillis reads milliseconds with decimals as nanoseconds. length is 0 if there are none.
func csvMillis(b []byte) (ns int64, length int) {
	i, sign := 0, int64(1)
	if b[0] == '-' {
		i, sign = 1, -1
	}
	from := i
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		ns = ns*10 + int64(b[i]-'0')
	}
	if i == from || i-from > 12 {
		return 0, 0
	}
	unit := int64(time.Millisecond)
	ns *= unit
	if i < len(b) && b[i] == '.' {
		for i++; i < len(b) && b[i]-'0' <= 9; i++ {
			unit /= 10
			ns += int64(b[i]-'0') * unit
		}
	}
	if ns > fields.MaxSpan {
		return 0, 0
	}
	return sign * ns, i
}

// settle makes a record of the row. It returns false if the row is not a record.
func (c *csvParser) settle(r *record) bool {
	row := &c.row
	c.key = strconv.AppendUint(c.key[:0], row.whole[csvProcess]*(row.there>>csvProcess&1), 10)
	p := c.processes.find(c.key)
	if p == nil || !row.ended && !c.identify(&r.GC) {
		return false
	}
	r.of, r.Record = p, &r.GC
	if !c.times(r) {
		return false
	}
	if row.facts {
		p.facts.Merge(&c.facts)
	}
	if row.ended {
		r.Record, r.at, r.End.At, r.End.Ticks = &r.End, r.GC.Start, r.GC.Start, p.ticks(r.GC.Start)
		return true
	}
	c.pauses(&r.GC)
	c.phases(r)
	settleSizes(&r.GC)
	c.estimateBefore(&r.GC)
	r.GC.FromLog = true
	c.flaws(&r.GC)
	if row.has(csvProcess) {
		p.facts.ID = int64(min(row.whole[csvProcess], math.MaxInt64))
	}
	conclude(&p.facts, &r.GC) // csv has no header with facts
	return true
}

func (c *csvParser) identify(d *gclog.GCDetails) (ok bool) {
	row := &c.row
	hasType := row.has(csvType)
	if hasType {
		if d.Type, ok = clr.ParseGCType(unquote(row.texts[csvType])); !ok {
			return false
		}
	}
	switch {
	case row.has(csvKind):
		if d.Kind, ok = named(unquote(row.texts[csvKind]), gclog.KindForeground); !ok {
			return false
		}
		if !hasType {
			d.Type = typeOf(d.Kind)
		}
	case d.Type == clr.TypeBackground:
		d.Kind = gclog.KindBackground
	case d.Type == clr.TypeForeground:
		d.Kind = gclog.KindForeground
	case !hasType:
		return false
	}
	d.DemotedBGC = d.Type == clr.TypeBackground && d.Kind == gclog.KindBlocking
	if row.has(csvReason) {
		d.Reason, ok = clr.ParseReason(unquote(row.texts[csvReason]))
		d.Known.Set(gclog.GroupReason, ok)
	}
	if d.HeapDump = row.has(csvHeapDump); d.HeapDump {
		d.HeapDumpBy, _ = gclog.ParseRequester(unquote(row.texts[csvHeapDump]))
	}
	if row.has(csvCompacting) && d.Kind != gclog.KindBackground {
		d.Known |= gclog.GroupCompaction
		if isTrue(row.texts[csvCompacting]) {
			d.Global.Mechanisms |= clr.MechanismCompaction
		}
	}
	return true
}

func unquote(b []byte) []byte { return bytes.Trim(b, `"`) }

func isTrue(b []byte) bool { return bytes.EqualFold(unquote(b), []byte("true")) }

// sameSession is the maximum difference between the clocks of two rows of one session.
const sameSession = int64(2 * time.Millisecond)

// times sets start and end, and the clock of the process from its first row with a date. Without
// dates, the log starts in 1970.
func (c *csvParser) times(r *record) bool {
	d, p, row := &r.GC, r.of, &c.row
	switch {
	case row.has(csvStart):
		d.Start = row.ns[csvStart]
	case row.has(csvPauseStart):
		d.Start = row.ns[csvPauseStart]
	default:
		d.Start = p.newest - p.session
	}
	if row.has(csvStart) && row.has(csvStartTime) && (!p.synced || p.heads != c.heads) {
		at, rest, ok := c.days.date(unquote(row.texts[csvStartTime]))
		if !ok || len(rest) != 0 || at < 0 || at > farthest {
			return false
		}
		if !p.synced {
			p.sync, p.synced = at-d.Start, true
		}
		p.heads = c.heads
		// Starts count from the start of each session, which has files of its own. Both times are
		// truncated or rounded.
		if off := at - d.Start - p.sync - p.session; off < -sameSession || off > sameSession {
			p.session += off
		}
	}
	if p.session != 0 {
		d.Start += p.session
		row.ns[csvPauseStart] += p.session
		row.ns[csvFinalStart] += p.session
		if d.Memory.At != 0 {
			d.Memory.At += p.session
		}
	}
	p.newest = d.Start
	if row.has(csvDuration) {
		d.End = d.Start + row.ns[csvDuration]
		d.Known |= gclog.GroupEnd
	}
	return true
}

// pauses sets the pauses. For a background collection the row has the last pause, and the others
// are combined into one. If their times are unknown, the first pause ends up in front of the start
// of the collection and the last one after the first.
func (c *csvParser) pauses(d *gclog.GCDetails) {
	row := &c.row
	d.Suspended = d.Start
	if !row.has(csvPause) {
		return
	}
	first := gclog.PausePart{
		Start:      row.ns[csvPauseStart],
		Duration:   row.ns[csvPause],
		HasSuspend: row.has(csvSuspension),
		HasResume:  row.has(csvResume),
	}
	if first.HasSuspend {
		first.Suspend = row.ns[csvSuspension]
	}
	if first.HasResume {
		first.Resume = min(row.ns[csvResume], first.Duration)
	}
	if !row.has(csvPauseStart) {
		first.Start = d.Start - first.Suspend
	}
	d.Suspended = first.Start
	if d.Kind != gclog.KindBackground {
		d.Pauses = append(d.Pauses, first)
		return
	}
	c.backgroundPauses(d, first)
}

// backgroundPauses splits the sums of a background collection into its pauses. A collection that
// started before the session has only the last one. The sum of the suspensions is assigned to no
// pause if that of the last pause is unknown, as in logs of other programs.
func (c *csvParser) backgroundPauses(d *gclog.GCDetails, all gclog.PausePart) {
	row := &c.row
	at, known := row.ns[csvFinalStart], row.has(csvFinalStart)
	if known && at == all.Start {
		all.Kind = gclog.PauseFinal
		d.Pauses = append(d.Pauses, all)
		return
	}
	final := gclog.PausePart{Kind: gclog.PauseFinal, Start: at}
	if row.has(csvFinalPause) {
		final.Duration = row.ns[csvFinalPause]
	}
	initial := all
	initial.Kind, initial.Duration = gclog.PauseInitial, max(0, all.Duration-final.Duration)
	if !known {
		final.Start = initial.Start + initial.Duration
	}
	if !known && final.Duration == 0 {
		d.Pauses = append(d.Pauses, initial)
		return
	}
	if initial.HasSuspend = all.HasSuspend && row.has(csvFinalSuspension); initial.HasSuspend {
		final.Suspend, final.HasSuspend = row.ns[csvFinalSuspension], true
		initial.Suspend = max(0, all.Suspend-final.Suspend)
	} else {
		initial.Suspend = 0
	}
	if initial.HasResume = all.HasResume && row.has(csvFinalResume); initial.HasResume {
		final.Resume, final.HasResume = min(row.ns[csvFinalResume], final.Duration), true
		initial.Resume = min(max(0, all.Resume-final.Resume), initial.Duration)
	} else {
		initial.Resume = 0
	}
	d.Pauses = append(d.Pauses, initial, final)
}

// phases derives the concurrent phases of a background collection, which are between and after its
// pauses.
func (c *csvParser) phases(r *record) {
	d, b := &r.GC, &r.background
	if d.Kind != gclog.KindBackground {
		return
	}
	d.Background = b
	initial, final := pauseOf(d, gclog.PauseInitial), pauseOf(d, gclog.PauseFinal)
	if final == nil || !c.row.has(csvFinalStart) {
		return
	}
	if initial != nil {
		b.MarkStart, b.MarkEnd = initial.Start+initial.Duration, final.Start
	}
	if d.Known.Has(gclog.GroupEnd) {
		b.SweepStart, b.SweepEnd = final.Start+final.Duration, d.End
	}
}

// estimateBefore is for files without columns for the sizes of the generations before: the part of
// the heap that is not objects is assumed to be in gen2.
func (c *csvParser) estimateBefore(d *gclog.GCDetails) {
	row := &c.row
	before := row.has(csvHeapBefore)
	known := d.Known.Has(gclog.GroupBefore) || c.there&(1<<csvBefore) != 0
	if known || d.GenerationCount == 0 || !before && !d.Known.Has(gclog.GroupObjects) {
		return
	}
	sum := uint64(0)
	for g := range d.Generations {
		x := &d.Generations[g]
		x.Before = x.ObjectsBefore
		sum += x.Before
	}
	if total := row.whole[csvHeapBefore]; before && total > sum {
		d.Generations[gclog.Gen2].Before += total - sum
	}
	d.BeforeEstimated = true
	d.Known |= gclog.GroupBefore
}

// flaws derives what is missing: csv only reports whether something is.
func (c *csvParser) flaws(d *gclog.GCDetails) {
	row := &c.row
	if row.has(csvComplete) && isTrue(row.texts[csvComplete]) {
		d.Complete = true
		return
	}
	missing := func(column csvSpecial, f gclog.Flaw) {
		if c.there&(1<<column) != 0 && !row.has(column) {
			d.Flaws |= f
		}
	}
	missing(csvStart, gclog.FlawNoStart)
	missing(csvPause, gclog.FlawNoSuspend)
	if d.Flaws&gclog.FlawNoStart == 0 {
		missing(csvDuration, gclog.FlawNoEnd)
	}
	if !d.Known.Has(gclog.GroupAfter) {
		d.Flaws |= gclog.FlawNoSizes
	}
	if d.LostEvents > 0 || d.Flaws == 0 && row.has(csvComplete) {
		d.Flaws |= gclog.FlawLostEvents
	}
	d.Complete = d.Flaws == 0
}
