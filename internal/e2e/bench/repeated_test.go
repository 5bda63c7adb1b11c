//go:build linux

package bench

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	library "github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// BenchmarkRecorded reads a recording of a real program at level full, of 320 MB: a third of its events are
// what records need.
func BenchmarkRecorded(b *testing.B) {
	dir := recordings.Find()
	if dir == "" {
		b.Skip("no folder of shared recordings: set GCLOG_SHARED to its path")
	}
	path := filepath.Join(b.TempDir(), "recorded.nettrace")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	short := recordings.Read(b, filepath.Join(dir, "traces", "net10-svr-verbose.nettrace.gz"))
	size, err := repeated{short, 320 << 20}.WriteTo(f)
	if err = errors.Join(err, f.Close()); err != nil {
		b.Fatal(err)
	}
	program := program.Build(b)
	for name, args := range map[string][]string{
		"convert": {"convert", "--format", "unified", "-o", os.DevNull}, "summary": {"summary"},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			memory := int64(0)
			for b.Loop() {
				memory = max(memory, run(b, exec.Command(program, append(args, path)...)))
			}
			b.ReportMetric(float64(memory)/(1<<20), "MB-memory")
		})
	}
}

// A counter counts what a recording contains.
type counter struct {
	collections, gaps int
	latest            uint32
}

// Observe takes a record.
func (c *counter) Observe(r library.Record) {
	switch r := r.(type) {
	case *library.Gap:
		c.gaps++
	case *library.GCDetails:
		c.collections++
		c.latest = max(c.latest, r.Number)
	}
}

// TestRepeated: a repeated recording has all collections each time, with numbers that continue, and
// nothing is missing between them.
func TestRepeated(t *testing.T) {
	for _, tr := range recordings.Repository(t) {
		if tr.Name != "net10-wks-verbose" {
			continue
		}
		short := recordings.Read(t, tr.Path)
		var long bytes.Buffer
		if _, err := (repeated{short, int64(len(short)) * 5 / 2}).WriteTo(&long); err != nil {
			t.Fatal(err)
		}
		var once, thrice counter
		for b, c := range map[*counter][]byte{&once: short, &thrice: long.Bytes()} {
			if err := library.Read(bytes.NewReader(c), func(*library.Process) library.Observer { return b.Observe }); err != nil {
				t.Fatal(err)
			}
		}
		want := counter{collections: 3 * once.collections, gaps: 3 * once.gaps, latest: 3 * once.latest}
		if thrice != want || once.latest == 0 {
			t.Errorf("%+v three times is %+v", once, thrice)
		}
	}
}

// repeated is a recording in V4 that repeats a short real one: with clocks and collection numbers that
// continue, and threads whose events are numbered anew.
type repeated struct {
	recording []byte
	size      int64 // bytes, at least
}

// numbered are the runtime's events that contain a collection's number, with the size of their payload
// and where the number is in it.
var numbered = map[uint32]struct{ size, at int }{
	clr.IDGCStart: {26, 0}, clr.IDGCEnd: {10, 0}, clr.IDGCSuspendEEBegin: {10, 4},
}

// WriteTo writes the recording. It keeps no more than the short one in memory.
func (v repeated) WriteTo(w io.Writer) (total int64, err error) {
	blocks, trace, err := v.blocks()
	if err != nil {
		return 0, err
	}
	var out nettracetest.V4
	out.Bytes = append(out.Bytes, v.recording[:bytes.Index(v.recording, trace)+len(trace)+1]...)
	first, last := int64(0), int64(0)
	for i := range blocks {
		if from, to, ok := blocks[i].Times(); ok {
			if first == 0 {
				first = from
			}
			last = max(last, to)
		}
	}
	flush := func() {
		if err == nil {
			var n int
			n, err = w.Write(out.Take())
			total += int64(n)
		}
	}
	kinds, collections := map[uint32]uint32{}, uint32(0)
	for copies := uint32(0); err == nil && (copies == 0 || total < v.size); copies++ {
		shift, number := int64(copies)*(last-first+1), copies*collections
		for _, b := range blocks {
			switch content := bytes.Clone(b.Content); b.Kind {
			case parse.BlockMetadata:
				if copies == 0 {
					declared(kinds, b)
					out.Block("MetadataBlock", content)
				}
			case parse.BlockStack:
				out.Block("StackBlock", content)
			case parse.BlockSequencePoint:
				later(content, shift)
				out.Block("SPBlock", content)
			case parse.BlockEvent:
				for row := range b.Rows {
					event := kinds[row.Metadata]
					if of, ok := numbered[event]; ok {
						n := content[row.End-of.size+of.at:]
						if copies == 0 && event == clr.IDGCStart {
							collections = max(collections, binary.LittleEndian.Uint32(n))
						}
						binary.LittleEndian.PutUint32(n, binary.LittleEndian.Uint32(n)+number)
					}
				}
				out.Block("EventBlock", laterRows(content, shift))
			}
			flush()
		}
	}
	out.End()
	flush()
	return total, err
}

// blocks returns the blocks of the recording, and the content of its Trace block.
func (v repeated) blocks() (blocks []parse.Block, trace []byte, err error) {
	r := parse.NewReader(bytes.NewReader(v.recording), parse.None)
	r.OnBlock(func(b parse.Block) {
		b.Content = bytes.Clone(b.Content)
		if b.Kind == parse.BlockTrace {
			trace = b.Content
		}
		blocks = append(blocks, b)
	})
	for r.Scan() {
	}
	if r.Err() == nil && r.Trace().Major > 4 {
		return nil, nil, errors.New("only recordings in V4 can be repeated")
	}
	return blocks, trace, r.Err()
}

// declared adds the ids of the runtime's events that a Metadata block declares. A row of it looks like one
// of an Event block.
func declared(kinds map[uint32]uint32, b parse.Block) {
	provider := nettracetest.UTF16("Microsoft-Windows-DotNETRuntime")
	b.Kind = parse.BlockEvent
	at := 0
	for row := range b.Rows {
		content := b.Content[at:row.End]
		if i := bytes.Index(content, provider); i >= 4 {
			kinds[binary.LittleEndian.Uint32(content[i-4:])] = binary.LittleEndian.Uint32(content[i+len(provider):])
		}
		at = row.End
	}
}

// later adds to a time.
func later(b []byte, ticks int64) {
	binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)+uint64(ticks))
}

// laterRows adds to the times of a block with compressed rows: those in its header, and that of the first
// row, to which all others are relative.
func laterRows(b []byte, ticks int64) []byte {
	later(b[4:], ticks)
	later(b[12:], ticks)
	head := int(binary.LittleEndian.Uint16(b))
	if head == len(b) {
		return b
	}
	at := head + 1
	for flag, fields := range []int{1, 3, 1, 1} { // what the flags of a row put in front of its time
		for ; b[head]&(1<<flag) != 0 && fields > 0; fields-- {
			_, n := binary.Uvarint(b[at:])
			at += n
		}
	}
	t, n := binary.Uvarint(b[at:])
	return append(binary.AppendUvarint(b[:at:at], t+uint64(ticks)), b[at+n:]...)
}
