package parquet

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
)

// A Sorter sorts rows: first by the file that they belong to, then by service, process and time. That
// keeps what is equal next to each other, which makes files small, and lets engines skip the services
// that a query is not about. It has a limited part of the rows in memory; the others are in
// temporary files.
type Sorter struct {
	path func(*Process) string // the file of a process, without its time
	span time.Duration         // rows of different spans of time are in different files; 0: they are not
	temp func() (f *os.File, remove func(), err error)

	// mostSpans is how many spans the rows of a process are in, at most; 0: any number. Of one that sends
	// false times, each row could be in a file of its own.
	mostSpans int
	spans     []spans // of the processes

	processes []*Process
	byKey     map[string]int
	ranks     []int // order of the processes; not longer than processes if some are new

	inMemory, fanIn, batch, window int // sortBytes, mergedRuns, batchBytes and windowRows, except in tests

	rows     []byte // not yet in a run
	entries  []entry
	spare    []byte // buffers that are not used
	spares   []entry
	rowsIn   int64
	spilling chan error // receives the result of writing a run
	levels   []level    // belongs to the goroutine that writes a run, while there is one
}

// An entry is a row in memory.
type entry struct {
	span, at  int64
	process   uint32
	from, end uint32
}

const (
	// sortBytes is how many bytes of rows are sorted in memory, while as many are being written.
	sortBytes = 2 << 20
	// mergedRuns is how many sorted runs are merged at a time.
	mergedRuns = 256
	// runBuffer is the buffer for reading a run, in bytes.
	runBuffer = 8 << 10
)

// newSorter returns a Sorter. temp creates a temporary file.
func newSorter(path func(*Process) string, span time.Duration, temp func() (*os.File, func(), error)) *Sorter {
	return &Sorter{
		path: path, span: span, temp: temp, byKey: map[string]int{}, inMemory: sortBytes, fanIn: mergedRuns,
		batch: batchBytes, window: windowRows,
	}
}

// process returns the number of a process. Instances that several inputs contain are one: what is
// known of it is combined.
func (s *Sorter) process(p *Process) int {
	key := p.key()
	if i, known := s.byKey[key]; known {
		s.learn(i, p)
		return i
	}
	i := len(s.processes)
	s.byKey[key] = i
	s.processes, s.spans = append(s.processes, p), append(s.spans, spans{})
	return i
}

// learn completes what is known of a process. The path of its files must not change any more.
func (s *Sorter) learn(i int, p *Process) {
	known := s.processes[i]
	known.Merge(&p.Process)
	if known.Processors == 0 {
		known.Processors = p.Processors
	}
}

// Recorder returns an observer of a process whose records are to be sorted. failed is called when a
// row cannot be stored.
func (s *Sorter) Recorder(p *gclog.Process, host string, failed func(error)) *Recorder {
	x := newProcess(p, host)
	number := s.process(x)
	return newRecorder(x, func(r row, _ *fact) {
		if err := s.add(number, r); err != nil {
			failed(err)
		}
	}, func() { s.learn(number, x) })
}

// Rows returns how many rows were added.
func (s *Sorter) Rows() int64 { return s.rowsIn }

// add adds a row.
func (s *Sorter) add(process int, r row) error {
	if len(s.rows)+len(r) > s.inMemory {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.rowsIn++
	from := len(s.rows)
	s.rows = append(s.rows, r...)
	s.entries = append(s.entries, entry{
		span:    s.spanOf(process, r),
		at:      r.time(),
		process: uint32(process),
		from:    uint32(from),
		end:     uint32(len(s.rows)),
	})
	return nil
}

// spans are the spans that the rows of a process are in.
type spans struct {
	first, last int64 // that were added
	all         map[int64]bool
}

// spanOf returns the number of the span of time that a row is in. If its process has too many, that is
// the first one.
func (s *Sorter) spanOf(process int, r row) int64 {
	if s.span == 0 {
		return 0
	}
	span := r.time() / int64(s.span)
	if r.time() < 0 {
		span--
	}
	if s.mostSpans == 0 {
		return span
	}
	of := &s.spans[process]
	switch {
	case of.all == nil:
		of.first, of.all = span, map[int64]bool{}
	case span == of.last, of.all[span]:
		return span
	case len(of.all) == s.mostSpans:
		return of.first
	}
	of.last, of.all[span] = span, true
	return span
}

// rank determines the order of the processes.
func (s *Sorter) rank() {
	if len(s.ranks) == len(s.processes) {
		return
	}
	type key struct{ path, name string }
	keys := make([]key, len(s.processes))
	order := make([]int, len(s.processes))
	for i, p := range s.processes {
		name := []string{
			p.service(), p.Namespace, p.Pod, p.Host, fmt.Sprintf("%020d", p.ID), fmt.Sprintf("%020d", p.StartKey),
			p.Cookie, fmt.Sprintf("%020d", p.sync),
		}
		keys[i] = key{s.path(p), strings.Join(name, "\x00")}
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(strings.Compare(keys[a].path, keys[b].path), strings.Compare(keys[a].name, keys[b].name),
			cmp.Compare(a, b))
	})
	s.ranks = make([]int, len(order))
	for at, i := range order {
		s.ranks[i] = at
	}
}

// sortRows sorts rows.
func sortRows(rows []byte, entries []entry, ranks []int) {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.span, b.span), cmp.Compare(ranks[a.process], ranks[b.process]),
			cmp.Compare(a.at, b.at),
			bytes.Compare(rows[a.from+8:a.from+uint32(rowHead)], rows[b.from+8:b.from+uint32(rowHead)]))
	})
}

// A level is runs in a temporary file. Those of a level were merged from runs of the one below it.
type level struct {
	file   *os.File
	remove func()
	size   int64
	runs   []int64 // where they start
}

// spill has the rows in memory written to a run, by another goroutine. The error is that of the run
// before.
func (s *Sorter) spill() error {
	if err := s.wait(); err != nil {
		return err
	}
	s.rank()
	rows, entries, ranks, done := s.rows, s.entries, s.ranks, make(chan error, 1)
	go func() {
		sortRows(rows, entries, ranks)
		done <- s.write(0, ranks, func(w *runWriter) error {
			for _, e := range entries {
				if err := w.add(int(e.process), e.span, rows[e.from:e.end]); err != nil {
					return err
				}
			}
			return nil
		})
	}()
	s.spilling = done
	s.rows, s.entries, s.spare, s.spares = s.spare[:0], s.spares[:0], rows, entries
	return nil
}

// wait waits for the run that is being written.
func (s *Sorter) wait() error {
	if s.spilling == nil {
		return nil
	}
	err := <-s.spilling
	s.spilling = nil
	return err
}

// write writes a run of a level, and merges those of the level if there are many.
func (s *Sorter) write(n int, ranks []int, rows func(*runWriter) error) error {
	if n == len(s.levels) {
		f, remove, err := s.temp()
		if err != nil {
			return err
		}
		s.levels = append(s.levels, level{file: f, remove: remove})
	}
	l := &s.levels[n]
	w := &runWriter{w: bufio.NewWriterSize(io.NewOffsetWriter(l.file, l.size), 256<<10)}
	if err := rows(w); err != nil {
		return err
	}
	if err := w.w.Flush(); err != nil {
		return err
	}
	l.runs = append(l.runs, l.size)
	l.size += w.size
	if len(l.runs) < s.fanIn {
		return nil
	}
	err := s.write(n+1, ranks, func(w *runWriter) error {
		return merge(s.readers(n), ranks, w.add)
	})
	l = &s.levels[n]
	l.runs, l.size = nil, 0
	return cmp.Or(err, l.file.Truncate(0))
}

// A runWriter writes a run.
type runWriter struct {
	w    *bufio.Writer
	size int64
	head []byte
}

func (w *runWriter) add(process int, span int64, r row) error {
	w.head = binary.AppendVarint(binary.AppendUvarint(w.head[:0], uint64(process)), span)
	w.head = binary.AppendUvarint(w.head, uint64(len(r)))
	w.size += int64(len(w.head) + len(r))
	_, _ = w.w.Write(w.head) // an error stays
	_, err := w.w.Write(r)
	return err
}

// A runReader reads a run.
type runReader struct {
	r       *bufio.Reader
	process int
	row     row
	span    int64
}

// readers returns readers of the runs of a level.
func (s *Sorter) readers(n int) (list []*runReader) {
	l := &s.levels[n]
	for i, from := range l.runs {
		end := l.size
		if i+1 < len(l.runs) {
			end = l.runs[i+1]
		}
		list = append(list, &runReader{r: bufio.NewReaderSize(io.NewSectionReader(l.file, from, end-from), runBuffer)})
	}
	return list
}

// next reads the next row. The error is io.EOF at the end.
func (r *runReader) next() error {
	process, err := binary.ReadUvarint(r.r)
	if err != nil {
		return err
	}
	if r.span, err = binary.ReadVarint(r.r); err != nil {
		return err
	}
	n, err := binary.ReadUvarint(r.r)
	if err != nil {
		return err
	}
	r.process = int(process)
	r.row = slices.Grow(r.row[:0], int(n))[:n]
	_, err = io.ReadFull(r.r, r.row)
	return err
}

// A merging is the runs that are being merged, the one with the first row first.
type merging struct {
	list  []*runReader
	ranks []int
}

func (m *merging) Len() int      { return len(m.list) }
func (m *merging) Swap(i, j int) { m.list[i], m.list[j] = m.list[j], m.list[i] }
func (m *merging) Less(i, j int) bool {
	a, b, ranks := m.list[i], m.list[j], m.ranks
	return cmp.Or(cmp.Compare(a.span, b.span), cmp.Compare(ranks[a.process], ranks[b.process]),
		cmp.Compare(a.row.time(), b.row.time()),
		bytes.Compare(a.row[8:rowHead], b.row[8:rowHead])) < 0
}

// Push and Pop implement heap.Interface.
func (m *merging) Push(x any) { m.list = append(m.list, x.(*runReader)) }

func (m *merging) Pop() any {
	last := m.list[len(m.list)-1]
	m.list = m.list[:len(m.list)-1]
	return last
}

// merge passes on the rows of sorted runs.
func merge(list []*runReader, ranks []int, f func(process int, span int64, r row) error) error {
	m := &merging{ranks: ranks}
	for _, r := range list {
		switch err := r.next(); {
		case errors.Is(err, io.EOF):
		case err != nil:
			return err
		default:
			m.list = append(m.list, r)
		}
	}
	heap.Init(m)
	for len(m.list) > 0 {
		first := m.list[0]
		if err := f(first.process, first.span, first.row); err != nil {
			return err
		}
		switch err := first.next(); {
		case errors.Is(err, io.EOF):
			heap.Pop(m)
		case err != nil:
			return err
		default:
			heap.Fix(m, 0)
		}
	}
	return nil
}

// each passes on all rows in order, each fact once: inputs may overlap.
func (s *Sorter) each(f func(p *Process, span int64, r row) error) error {
	w := newWindow(s.window, func(process int, span int64, r row) error { return f(s.processes[process], span, r) })
	if err := s.inOrder(w.add); err != nil {
		return err
	}
	return w.flush()
}

// inOrder passes on all rows in order.
func (s *Sorter) inOrder(f func(process int, span int64, r row) error) error {
	if err := s.wait(); err != nil {
		return err
	}
	s.rank()
	if len(s.levels) == 0 { // all rows are in memory
		sortRows(s.rows, s.entries, s.ranks)
		for _, e := range s.entries {
			if err := f(int(e.process), e.span, s.rows[e.from:e.end]); err != nil {
				return err
			}
		}
		return nil
	}
	if len(s.entries) > 0 {
		if err := cmp.Or(s.spill(), s.wait()); err != nil {
			return err
		}
	}
	s.rows, s.entries, s.spare, s.spares = nil, nil, nil, nil
	return s.merged(f)
}

// A batch is merged rows. The time of the entries is not set.
type batch struct {
	rows    []byte
	entries []entry
}

// batchBytes is how many bytes of rows a batch has.
const batchBytes = 64 << 10

// merged passes on the rows of all runs. While f has some, another goroutine merges the next ones.
func (s *Sorter) merged(f func(process int, span int64, r row) error) error {
	var list []*runReader
	for n := range s.levels {
		list = append(list, s.readers(n)...)
	}
	full, empty, stop := make(chan batch), make(chan batch, 2), make(chan struct{})
	var mergeErr error // final once full is closed
	go func() {
		defer close(full)
		var b batch
		pass := func() bool {
			select {
			case full <- b:
			case <-stop:
				return false
			}
			select {
			case b = <-empty: // one more than f has
				return true
			case <-stop:
				return false
			}
		}
		mergeErr = merge(list, s.ranks, func(process int, span int64, r row) error {
			from := len(b.rows)
			b.rows = append(b.rows, r...)
			b.entries = append(b.entries,
				entry{span: span, process: uint32(process), from: uint32(from), end: uint32(len(b.rows))})
			if len(b.rows) >= s.batch && !pass() {
				return errFailed
			}
			return nil
		})
		if mergeErr == nil {
			pass()
		}
	}()
	defer func() {
		close(stop)
		for range full { // until the files are not in use any more
		}
	}()
	empty <- batch{}
	for b := range full {
		for _, e := range b.entries {
			if err := f(int(e.process), e.span, b.rows[e.from:e.end]); err != nil {
				return err
			}
		}
		empty <- batch{b.rows[:0], b.entries[:0]}
	}
	return mergeErr
}

// close deletes the temporary files.
func (s *Sorter) close() {
	_ = s.wait()
	for _, l := range s.levels {
		l.remove()
	}
	s.levels = nil
}
