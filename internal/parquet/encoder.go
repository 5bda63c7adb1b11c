package parquet

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// magic is at the start and at the end of a file.
const magic = "PAR1"

// An encoder compresses pages and writes row groups, in a goroutine of its own.
type encoder struct {
	to     io.Writer
	at     int64 // in the file
	meta   format.FileMetaData
	leaves []leaf // their kinds
	chunks []chunk
	zstd   *zstd.Encoder
	plain  []byte
	levels []byte
	packed []byte

	jobs    chan func() error
	data    chan []byte // buffers of pages that are not used any more
	indexes chan []int32
	ended   sync.WaitGroup
	err     error // set by the goroutine; read when it has ended
	wrong   atomic.Bool
	waiting atomic.Int64 // bytes of the pages of the row group
}

// A chunk is the pages of a column in a row group.
type chunk struct {
	pages        [][]byte
	values       int64 // nulls included
	nulls        int64
	uncompressed int64
	limits       limits
}

// waitingPages is how many pages may wait for the encoder.
const waitingPages = 32

func newEncoder(to io.Writer, meta format.FileMetaData, leaves []leaf) *encoder {
	e := &encoder{
		to: to, meta: meta, leaves: leaves, chunks: make([]chunk, len(leaves)),
		jobs: make(chan func() error, waitingPages), data: make(chan []byte, waitingPages),
		indexes: make(chan []int32, waitingPages),
	}
	// The options are valid. Ids have nothing to repeat, but are hexadecimal, hence AllLitEntropyCompression.
	e.zstd, _ = zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithAllLitEntropyCompression(true),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(64<<10), zstd.WithEncoderCRC(false),
		zstd.WithLowerEncoderMem(true))
	e.ended.Go(func() {
		e.err = e.write([]byte(magic))
		for job := range e.jobs {
			if e.err == nil {
				e.err = job()
			}
			if e.err != nil {
				e.wrong.Store(true)
			}
		}
	})
	return e
}

// failed returns an error if something has failed.
func (e *encoder) failed() error {
	if e.wrong.Load() {
		return errFailed
	}
	return nil
}

// errFailed stops whoever writes to an encoder; close returns the reason.
var errFailed = errors.New("writing has failed")

func (e *encoder) write(b []byte) error {
	n, err := e.to.Write(b)
	e.at += int64(n)
	return err
}

// page adds a page to the row group.
func (e *encoder) page(p page) {
	e.jobs <- func() error {
		err := e.addPage(&p)
		recycle(e.data, p.data)
		recycle(e.indexes, p.indexes)
		return err
	}
}

// emptyPage returns a page to be filled after another one of the column, with its own buffer if that
// one needed a large one.
func (e *encoder) emptyPage(before *page) page {
	return page{data: reuse(e.data, before.data), indexes: reuse(e.indexes, before.indexes)}
}

// reuse returns an empty buffer of the size of another one; nil if that is small.
func reuse[T any](from chan []T, before []T) []T {
	if cap(before) < pageBytes/8 {
		return nil
	}
	select {
	case b := <-from:
		return b[:0]
	default:
		return make([]T, 0, cap(before))
	}
}

func recycle[T any](to chan []T, b []T) {
	if cap(b) >= pageBytes/8 {
		select {
		case to <- b:
		default:
		}
	}
}

func (e *encoder) addPage(p *page) (err error) {
	e.plain = e.plain[:0]
	switch {
	case p.definitions != nil:
		e.levels, err = (&rle.Encoding{BitWidth: 1}).EncodeLevels(e.levels, p.repetitions)
		e.plain = append(binary.LittleEndian.AppendUint32(e.plain, uint32(len(e.levels))), e.levels...)
		if err == nil {
			e.levels, err = (&rle.Encoding{BitWidth: 2}).EncodeLevels(e.levels, p.definitions)
			e.plain = append(binary.LittleEndian.AppendUint32(e.plain, uint32(len(e.levels))), e.levels...)
		}
	case p.leaf > columnID: // the first ones have no nulls
		e.levels = appendLevels(e.levels[:0], p.known, p.rows, p.values)
		e.plain = append(binary.LittleEndian.AppendUint32(e.plain, uint32(len(e.levels))), e.levels...)
	}
	encoding := format.Plain
	if len(p.indexes) > 0 {
		encoding = format.RLEDictionary
		if err == nil {
			e.packed, err = (&rle.DictionaryEncoding{}).EncodeInt32(e.packed, p.indexes)
		}
		e.plain = append(e.plain, e.packed...)
	} else {
		e.plain = append(e.plain, p.data...)
	}
	if err != nil {
		return err
	}
	c := &e.chunks[p.leaf]
	c.limits.addPage(e.leaves[p.leaf].kind, p.data, p.values)
	c.values += int64(p.rows)
	c.nulls += int64(p.rows - p.values)
	head := format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
		NumValues:               int32(p.rows),
		Encoding:                encoding,
		DefinitionLevelEncoding: format.RLE,
		RepetitionLevelEncoding: format.RLE,
	})}
	return e.appendPage(c, &head, e.plain)
}

// appendLevels appends the definition levels of a column without lists: whether each value is known.
func appendLevels(dst []byte, known bitmap, rows, values int) []byte {
	if values == 0 || values == rows { // a run
		return append(binary.AppendUvarint(dst, uint64(rows)<<1), byte(min(values, 1)))
	}
	return append(binary.AppendUvarint(dst, uint64((rows+7)/8)<<1|1), known[:(rows+7)/8]...)
}

// appendPage appends a page with its header.
func (e *encoder) appendPage(c *chunk, head *format.PageHeader, plain []byte) error {
	e.packed = e.zstd.EncodeAll(plain, e.packed[:0])
	head.UncompressedPageSize, head.CompressedPageSize = int32(len(plain)), int32(len(e.packed))
	b, err := thrift.Marshal(new(thrift.CompactProtocol), head)
	c.uncompressed += int64(len(b) + len(plain))
	c.pages = append(c.pages, slices.Concat(b, e.packed))
	e.waiting.Add(int64(len(b) + len(e.packed)))
	return err
}

// group writes the row group. The dictionaries of leaves belong to the encoder from now on.
func (e *encoder) group(leaves []leaf, rows int) {
	leaves = slices.Clone(leaves)
	e.jobs <- func() error { return e.writeGroup(leaves, rows) }
}

func (e *encoder) writeGroup(leaves []leaf, rows int) error {
	g := format.RowGroup{NumRows: int64(rows), FileOffset: e.at, Ordinal: int16(len(e.meta.RowGroups))}
	for i := range leaves {
		x, c := &leaves[i], &e.chunks[i]
		m := format.ColumnMetaData{
			Type: physical(x.kind), PathInSchema: x.path, Codec: format.Zstd, NumValues: c.values,
			Encoding: thrift.Slice[format.Encoding]{format.Plain, format.RLE},
		}
		from := e.at
		if len(x.dictionary) > 0 {
			c.limits.addTexts(x.texts)
			m.Encoding = append(m.Encoding, format.RLEDictionary)
			m.DictionaryPageOffset = e.at
			head := format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(
				format.DictionaryPageHeader{
					NumValues: int32(len(x.dictionary)), Encoding: format.Plain,
				})}
			if err := e.appendPage(c, &head, x.texts); err != nil {
				return err
			}
			last := len(c.pages) - 1
			if err := e.write(c.pages[last]); err != nil {
				return err
			}
			c.pages = c.pages[:last]
		}
		m.DataPageOffset = e.at
		for _, b := range c.pages {
			if err := e.write(b); err != nil {
				return err
			}
		}
		m.Statistics = c.limits.statistics(x.kind, c.nulls)
		m.TotalCompressedSize, m.TotalUncompressedSize = e.at-from, c.uncompressed
		g.TotalByteSize += m.TotalUncompressedSize
		g.TotalCompressedSize += m.TotalCompressedSize
		g.Columns = append(g.Columns, format.ColumnChunk{MetaData: m})
		if len(x.path) == 1 && slices.Contains(sortedBy, x.path[0]) {
			g.SortingColumns = append(g.SortingColumns, format.SortingColumn{ColumnIdx: int32(i), NullsFirst: true})
		}
		clear(c.pages)
		*c = chunk{pages: c.pages[:0]}
	}
	e.waiting.Store(0)
	slices.SortFunc(g.SortingColumns, func(a, b format.SortingColumn) int {
		place := func(c format.SortingColumn) int { return slices.Index(sortedBy, leaves[c.ColumnIdx].path[0]) }
		return place(a) - place(b)
	})
	e.meta.RowGroups = append(e.meta.RowGroups, g)
	e.meta.NumRows += int64(rows)
	return nil
}

// close writes the footer, and returns what has failed.
func (e *encoder) close() error {
	e.jobs <- e.writeFooter
	close(e.jobs)
	e.ended.Wait()
	return e.err
}

func (e *encoder) writeFooter() error {
	b, err := thrift.Marshal(new(thrift.CompactProtocol), &e.meta)
	if err != nil {
		return err
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(b)))
	return e.write(append(b, magic...))
}
