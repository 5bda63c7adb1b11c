package parse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
)

// TestMessages: every error reports what was found, what was expected, and where.
func TestMessages(t *testing.T) {
	v4 := func(write func(w *nettracetest.V4)) []byte {
		w := begin()
		write(w)
		return w.Bytes
	}
	v6 := func(write func(w *nettracetest.V6)) []byte {
		w := startV6()
		write(w)
		return w.Bytes
	}
	patched := func(b []byte, at int, value ...byte) []byte {
		copy(b[at:], value)
		return b
	}
	emptyV4 := func() []byte {
		w := &nettracetest.V4{}
		w.Begin(nettracetest.DefaultClock())
		return w.Bytes
	}
	emptyV6 := func() []byte {
		w := &nettracetest.V6{}
		w.Begin(nettracetest.DefaultClock(), "ProcessId", "7")
		return w.Bytes
	}
	started4 := len(begin().Bytes)
	const corrupt, truncated = "nettrace stream is corrupt at byte ", "nettrace stream is truncated at byte "
	const (
		traceV4 = 32  // offset of the Trace object of V4
		headV4  = 53  // offset of its content
		firstV4 = 102 // offset of its end
		traceV6 = 24  // offset of the content of the Trace block of V6
	)
	for _, c := range []struct {
		stream []byte
		want   string
	}{
		{[]byte("Nettrace\x14\x00"), truncated + "10: it ends in the preamble"},
		{[]byte("Nettrace\x14\x00\x00\x00!FastSer"), truncated + "20: it ends in the preamble"},
		{[]byte("Nettrace\x00\x00\x00\x00\x06\x00"), truncated + "14: it ends in the preamble"},
		{[]byte("Nettrace\x15\x00\x00\x00!FastSerialization.1"), corrupt + "8: the preamble has 21 where V4 has 20 and V6 has 0"},
		{[]byte("Nettrace\x14\x00\x00\x00!FastSerialization.2"), corrupt + `12: the preamble lacks "!FastSerialization.1"`},

		// Objects of V4.
		{emptyV4()[:traceV4], truncated + "32: it ends without its end tag: the recording was cut off"},
		{emptyV4()[:traceV4+3], truncated + "35: it ends without its end tag: the recording was cut off"},
		{emptyV4()[:traceV4+17], truncated + "49: it ends without its end tag: the recording was cut off"},
		{emptyV4()[:traceV4+30], truncated + "62 in a block of kind Trace: it ends inside the Trace object"},
		{emptyV4()[:firstV4-1], truncated + "101 in a block of kind Trace: it ends inside the Trace object"},
		{append(emptyV4()[:traceV4], 1), corrupt + "32: the end of the stream before the Trace object"},
		{patched(emptyV4(), traceV4, 4), corrupt + "32: tag 4 where an object or the end of the stream must follow"},
		{patched(emptyV4(), traceV4+1, 1), corrupt + "32: tags 05 01 01 where an object starts"},
		{patched(emptyV4(), traceV4+2, 5), corrupt + "32: tags 05 05 05 where an object starts"},
		{patched(emptyV4(), traceV4+11, 0), corrupt + "43: an object name of 0 bytes"},
		{patched(emptyV4(), headV4-1, 7), corrupt + "52: tag 7 after the name of an object, expected 6"},
		{patched(emptyV4(), traceV4+3, 5), corrupt + "32 in a block of kind Trace: version 5, the highest known is 4"},
		{patched(emptyV4(), headV4+24, make([]byte, 8)...), corrupt + "53 in a block of kind Trace: the clock has 0 ticks per second"},
		{patched(emptyV4(), headV4+31, 0x80), corrupt + "53 in a block of kind Trace: the clock has -9223372035854775808 ticks per second"},
		{patched(emptyV4(), headV4+32, 5), corrupt + "53 in a block of kind Trace: pointers of 5 bytes, expected 4 or 8"},
		{patched(emptyV4(), firstV4-1, 5), corrupt + "101 in a block of kind Trace: tag 5 after the object, expected 6"},
		{append(emptyV4(), emptyV4()[traceV4:]...), corrupt + "102 in a block of kind Trace: a second Trace object"},
		{append(emptyV4()[:traceV4], begin().Bytes[firstV4:]...), corrupt + "32 in a block of kind Metadata: a block before the Trace object"},
		{patched(begin().Bytes, firstV4+3, 3), corrupt + "102 in a block of kind Metadata: version 3 of the block, the highest known is 2"},
		{patched(begin().Bytes, started4-1, 9), corrupt + "274 in a block of kind Metadata: tag 9 after the block, expected 6"},
		{begin().Bytes[:firstV4+30], truncated + "132 in a block of kind Metadata: it ends inside a block: the recording was cut off"},
		{begin().Bytes[:started4-1], truncated + "274 in a block of kind Metadata: it ends inside a block: the recording was cut off"},
		{begin().Bytes, truncated + "275: it ends without its end tag: the recording was cut off"},

		// Blocks of V6.
		{patched(emptyV6(), 12, 17), "not a nettrace stream: this is nettrace of major version 17, this program reads 4, 5 and 6; a newer gclog may read it"},
		{emptyV6()[:22], truncated + "22: it ends without its end block: the recording was cut off"},
		{emptyV6()[:60], truncated + "60 in a block of kind Trace: it ends inside a block: the recording was cut off"},
		{patched(emptyV6(), 23, nettracetest.BlockThread), corrupt + "20 in a block of kind Thread: a block before the Trace block"},
		{append(emptyV6()[:20], 0, 0, 0, nettracetest.BlockEnd), corrupt + "20 in a block of kind EndOfStream: a block before the Trace block"},
		{patched(emptyV6(), traceV6+32, 6), corrupt + "24 in a block of kind Trace: pointers of 6 bytes, expected 4 or 8"},
		{patched(emptyV6(), traceV6+36, 2), corrupt + "24 in a block of kind Trace: the Trace block ends in the middle of a field"},
		{append(emptyV6(), emptyV6()[20:]...), corrupt + "76 in a block of kind Trace: a second Trace block"},
		{patched(emptyV6(), 20, 10), corrupt + "24 in a block of kind Trace: the Trace block ends in the middle of a field"},
		{startV6().Bytes, truncated + "94: it ends without its end block: the recording was cut off"},

		// The content of blocks.
		{v4(func(w *nettracetest.V4) { w.Block("EventBlock", make([]byte, 19)) }), corrupt + "308 in a block of kind Event: 19 bytes, but the header alone has 20"},
		{v4(func(w *nettracetest.V4) { w.Block("EventBlock", append([]byte{19}, make([]byte, 19)...)) }), corrupt + "308 in a block of kind Event: a header of 19 bytes in a block of 20"},
		{v4(func(w *nettracetest.V4) { w.Block("EventBlock", append([]byte{21}, make([]byte, 19)...)) }), corrupt + "308 in a block of kind Event: a header of 21 bytes in a block of 20"},
		{v4(func(w *nettracetest.V4) { w.Block("EventBlock", append(w.Rows(), 0x80, 1, 2, 7)) }), corrupt + "328 in a block of kind Event: a row goes beyond the end of its block"},
		{v4(func(w *nettracetest.V4) { w.Block("EventBlock", append(w.Rows(row(1, 1, true)), 0x80, 1, 2, 7)) }), corrupt + "346 in a block of kind Event: a row goes beyond the end of its block"},
		{v4(func(w *nettracetest.V4) { w.Block("MetadataBlock", make([]byte, 19)) }), corrupt + "308 in a block of kind Metadata: the block is shorter than its header"},
		{v4(func(w *nettracetest.V4) { w.Block("MetadataBlock", make([]byte, 1)) }), corrupt + "308 in a block of kind Metadata: the block is shorter than its header"},
		{v4(func(w *nettracetest.V4) { w.Block("MetadataBlock", append([]byte{19}, make([]byte, 30)...)) }), corrupt + "308 in a block of kind Metadata: the block is shorter than its header"},
		{v4(func(w *nettracetest.V4) { w.Block("MetadataBlock", append([]byte{51}, make([]byte, 49)...)) }), corrupt + "308 in a block of kind Metadata: the block is shorter than its header"},
		{v4(func(w *nettracetest.V4) { w.Block("MetadataBlock", append(w.Rows(), 0x80, 0, 9, 1)) }), corrupt + "308 in a block of kind Metadata: a row goes beyond the end of its block"},
		{v4(func(w *nettracetest.V4) { w.Block("StackBlock", []byte{1, 0, 0, 0, 1, 0, 0, 0}) }), corrupt + "308 in a block of kind Stack: a stack goes beyond the end of its block"},
		{v4(func(w *nettracetest.V4) { w.Block("SPBlock", append(make([]byte, 8), 1, 0, 0, 0)) }), corrupt + "304 in a block of kind SequencePoint: the list of threads ends after the end of the block"},
		{v6(func(w *nettracetest.V6) { w.Block(nettracetest.BlockMetadata, []byte{0, 0, 3, 0, 1, 2}) }), corrupt + "98 in a block of kind Metadata: a metadata row goes beyond the end of its block"},
		{v6(func(w *nettracetest.V6) { w.Block(nettracetest.BlockMetadata, []byte{0, 0, 1}) }), corrupt + "98 in a block of kind Metadata: a metadata row goes beyond the end of its block"},
		{v6(func(w *nettracetest.V6) { w.Block(nettracetest.BlockMetadata, []byte{2, 0, 1}) }), corrupt + "98 in a block of kind Metadata: a metadata row goes beyond the end of its block"},
		{v6(func(w *nettracetest.V6) { w.Block(nettracetest.BlockMetadata, []byte{0, 0, 2, 0, 1, 2}) }), corrupt + "98 in a block of kind Metadata: a metadata row ends in the middle of a field"},
		{v6(func(w *nettracetest.V6) { w.Block(nettracetest.BlockThread, []byte{2, 0, 1}) }), corrupt + "98 in a block of kind Thread: a thread row ends after the end of the block"},
		{v6(func(w *nettracetest.V6) { w.Block(nettracetest.BlockThread, []byte{1, 0, 0x80}) }), corrupt + "98 in a block of kind Thread: a thread row ends after the end of the block"},
		{v6(func(w *nettracetest.V6) { w.Block(nettracetest.BlockThread, []byte{0}) }), corrupt + "98 in a block of kind Thread: a thread row ends after the end of the block"},
		{v6(func(w *nettracetest.V6) { w.Block(nettracetest.BlockRemoveThread, []byte{1}) }), corrupt + "98 in a block of kind RemoveThread: the list of threads ends after the end of the block"},
		{v6(func(w *nettracetest.V6) {
			w.Block(nettracetest.BlockSequencePoint, append(make([]byte, 12), 1, 0, 0, 0))
		}), corrupt + "98 in a block of kind SequencePoint: the list of threads ends after the end of the block"},
		{v6(func(w *nettracetest.V6) { w.Block(nettracetest.BlockLabels, []byte{1, 0, 0, 0, 1, 0, 0}) }), corrupt + "98 in a block of kind LabelList: the head of the block is incomplete"},
		{v6(func(w *nettracetest.V6) { w.Block(nettracetest.BlockLabels, []byte{1, 0, 0, 0, 1, 0, 0, 0, 1}) }), corrupt + "98 in a block of kind LabelList: a label list ends after the end of the block"},
		{v6(func(w *nettracetest.V6) { w.Events(row(5, 1, true)) }), corrupt + "118 in a block of kind Event: thread index 5 was never declared"},
		{v6(func(w *nettracetest.V6) {
			w.Threads(nettracetest.Thread{Index: 5})
			r := row(5, 1, true)
			r.Capture = 6
			w.Events(r)
		}), corrupt + "125 in a block of kind Event: thread index 6 was never declared"},
	} {
		_, r := read(c.stream, parse.All)
		if r.Err() == nil || r.Err().Error() != c.want {
			t.Errorf("ended with %v\nwant       %s", r.Err(), c.want)
		}
		if errors.Is(r.Err(), io.ErrUnexpectedEOF) != strings.HasPrefix(c.want, truncated) {
			t.Errorf("%v: %v", r.Err(), errors.Is(r.Err(), io.ErrUnexpectedEOF))
		}
	}
}

// A broken is a source that fails after some bytes.
type broken struct {
	b   []byte
	err error
}

func (s *broken) Read(p []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, s.err
	}
	n := copy(p, s.b)
	s.b = s.b[n:]
	return n, nil
}

// TestSourceFails: an error of the source is reported unchanged, with the offset, and the rows in
// front of it are delivered.
func TestSourceFails(t *testing.T) {
	failure := errors.New("the cable is cut")
	w := begin()
	w.Events(row(1, 10, true), row(1, 20, false))
	whole := len(w.Bytes)
	w.Events(row(1, 30, true), row(1, 40, false))
	for _, c := range []struct {
		n      int
		events []string
		want   string
	}{
		{0, nil, "reading the nettrace stream: the cable is cut"},
		{5, nil, "reading the nettrace stream: the cable is cut"},
		{8, nil, "reading the nettrace stream at byte 8: the cable is cut"},
		{20, nil, "reading the nettrace stream at byte 20: the cable is cut"},
		{whole, []string{"10/1", "20/1"}, fmt.Sprintf("reading the nettrace stream at byte %d: the cable is cut", whole)},
		{len(w.Bytes) - 2, []string{"10/1", "20/1", "30/1"}, fmt.Sprintf("reading the nettrace stream at byte %d: the cable is cut", len(w.Bytes)-2)},
	} {
		r := parse.NewReader(&broken{w.Bytes[:c.n], failure}, parse.All)
		var got []string
		for r.Scan() {
			got = append(got, short(r))
		}
		want(t, got, c.events...)
		if !errors.Is(r.Err(), failure) || r.Err().Error() != c.want {
			t.Errorf("ended with %v\nwant       %s", r.Err(), c.want)
		}
		if r.Scan() || !errors.Is(r.Err(), failure) {
			t.Errorf("asked again it ends with %v", r.Err())
		}
	}

	_, err := parse.NewReader(&broken{w.Bytes[:40], failure}, parse.All).ReadTrace()
	if !errors.Is(err, failure) {
		t.Errorf("ReadTrace: %v", err)
	}
	r := parse.NewReader(&slow{pieces: [][]byte{w.Bytes[:40], w.Bytes[40:]}}, parse.All)
	if _, err := r.ReadTrace(); err == nil {
		t.Error("ReadTrace has a head before the source had it")
	}
	if trace, err := r.ReadTrace(); err != nil || trace != r.Trace() || trace.ProcessID != 4711 {
		t.Errorf("ReadTrace: %+v, %v", trace, err)
	}
}

// TestCutInBlock: if the stream ends inside a block, the block's complete rows are delivered,
// wherever it ends.
func TestCutInBlock(t *testing.T) {
	var rows []nettracetest.Row
	for _, payload := range []string{"first", "second", "third"} {
		r := row(1, int64(len(rows)), true)
		r.Payload = []byte(payload)
		rows = append(rows, r)
	}
	v4, v6, longer := begin(), startV6(), begin()
	v6.Threads(nettracetest.Thread{Index: 1, ID: 1})
	started := []int{len(v4.Bytes), len(v6.Bytes), len(longer.Bytes)}
	v4.Events(rows...)
	v6.Events(rows...)
	block := longer.Rows(rows...)
	block[0] = 30 // size of the block's own header, which may grow in a later version
	longer.Block("EventBlock", slices.Insert(block, 20, make([]byte, 10)...))
	for i, stream := range [][]byte{v4.Bytes, v6.Bytes, longer.Bytes} {
		for n := started[i] + 1; n < len(stream); n++ {
			complete := 0
			for _, r := range rows {
				if bytes.Contains(stream[:n], r.Payload) {
					complete++
				}
			}
			got, r := read(stream[:n], parse.All)
			if len(got) != complete || !errors.Is(r.Err(), io.ErrUnexpectedEOF) {
				t.Errorf("cut at %d of %d: %d rows, want %d: %v", n, len(stream), len(got), complete, r.Err())
			}
			var f *parse.FormatError
			if errors.As(r.Err(), &f) && f.Offset != int64(n) {
				t.Errorf("cut at %d, reported at %d", n, f.Offset)
			}
		}
	}
}
