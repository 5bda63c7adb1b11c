package parse_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
)

// TestTrace: every field of the head, in both containers.
func TestTrace(t *testing.T) {
	clock := nettracetest.Clock{
		Time:  time.Date(2023, 11, 7, 13, 45, 59, 123e6, time.UTC),
		Ticks: 987_654_321, PerSecond: 10_000_000, PointerSize: 4, ProcessID: 4242, Processors: 12,
	}
	v4, v6 := &nettracetest.V4{}, &nettracetest.V6{}
	v4.Begin(clock)
	v6.Begin(clock, "HardwareThreadCount", "12", "Other", "1", "ProcessId", "4242")
	v6.Bytes[16] = 3 // minor version
	for _, c := range []struct {
		stream []byte
		want   parse.Trace
	}{
		{v4.Bytes, parse.Trace{Major: 4}},
		{v6.Bytes, parse.Trace{Major: 6, Minor: 3}},
	} {
		c.want.SyncTime, c.want.SyncTicks, c.want.TicksPerSecond = clock.Time, clock.Ticks, clock.PerSecond
		c.want.PointerSize, c.want.ProcessID, c.want.Processors = 4, 4242, 12
		r := parse.NewReader(bytes.NewReader(c.stream), parse.All)
		got, err := r.ReadTrace()
		if err != nil || *got != c.want {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, c.want)
		}
		if at := got.SyncTime.Add(time.Duration(got.Nanoseconds(clock.Ticks + 5))); !at.Equal(clock.Time.Add(500)) {
			t.Errorf("5 ticks behind the start it is %v", at)
		}
	}
	clock.Processors = 1<<16 + 5
	v4 = &nettracetest.V4{}
	v4.Begin(clock)
	if got, err := parse.NewReader(bytes.NewReader(v4.Bytes), parse.All).ReadTrace(); err != nil || got.Processors != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	huge := &nettracetest.V6{}
	huge.Begin(clock, "ProcessId", "9223372036854775807", "HardwareThreadCount", "none")
	if got, err := parse.NewReader(bytes.NewReader(huge.Bytes), parse.All).ReadTrace(); err != nil || got.ProcessID != 1<<63-1 || got.Processors != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestUndated: a time of the head that is none is unknown.
func TestUndated(t *testing.T) {
	const valid = "2026 11 1 30 12 34 56 789" // the third is the day of the week, which does not matter
	read := func(fields string, v6 bool) *parse.Trace {
		clock := nettracetest.DefaultClock()
		v := &nettracetest.V4{}
		v.Begin(clock)
		b, at := v.Bytes, bytes.Index(v.Bytes, binary.LittleEndian.AppendUint16(nil, uint16(clock.Time.Year())))
		if v6 {
			w := &nettracetest.V6{}
			w.Begin(clock)
			b, at = w.Bytes, bytes.Index(w.Bytes, binary.LittleEndian.AppendUint16(nil, uint16(clock.Time.Year())))
		}
		for i, s := range strings.Fields(fields) {
			n, err := strconv.Atoi(s)
			if err != nil {
				t.Fatal(err)
			}
			binary.LittleEndian.PutUint16(b[at+2*i:], uint16(n))
		}
		trace, err := parse.NewReader(bytes.NewReader(b), parse.All).ReadTrace()
		if err != nil {
			t.Fatal(fields, err)
		}
		return trace
	}
	for _, v6 := range []bool{false, true} {
		for _, dated := range []string{valid, "2024 2 0 29 0 0 0 0", "1971 1 0 1 0 0 0 0", "9000 12 6 31 23 59 59 999"} {
			if x := read(dated, v6); !x.Dated() {
				t.Errorf("%s: %v", dated, x.SyncTime)
			}
		}
		if x := read(valid, v6); !x.SyncTime.Equal(time.Date(2026, 11, 30, 12, 34, 56, 789e6, time.UTC)) {
			t.Errorf("%v", x.SyncTime)
		}
		for _, undated := range []string{
			"0 0 0 0 0 0 0 0", "2026 13 1 1 0 0 0 0", "2026 0 1 1 0 0 0 0", "30000 1 1 1 0 0 0 0", "9001 1 1 1 0 0 0 0", "1970 1 1 1 0 0 0 0", "1969 7 0 20 0 0 0 0",
			"2026 2 0 31 0 0 0 0", "2023 2 0 29 0 0 0 0", "2026 11 1 0 0 0 0 0", "2026 11 1 30 24 0 0 0", "2026 11 1 30 0 60 0 0", "2026 11 1 30 0 0 60 0", "2026 11 1 30 0 0 0 60000", "2026 11 1 30 0 0 0 1000",
			"-1 1 1 1 0 0 0 0", "2026 11 1 30 -1 0 0 0",
		} {
			if x := read(undated, v6); x.Dated() || !x.SyncTime.Equal(time.Unix(0, 0)) {
				t.Errorf("%s: %v", undated, x.SyncTime)
			}
		}
	}
}

// TestUntil: a stream lasts until its last row, wanted or not, or its last sequence point, but not
// while it describes what was recorded.
func TestUntil(t *testing.T) {
	const wanted, unwanted, rundown = 1, 2, 3
	filter := func(m *parse.Metadata) parse.Want {
		return parse.Want{Deliver: m.EventID == wanted, Rundown: m.EventID == rundown}
	}
	clock := nettracetest.DefaultClock()
	point := func(w *nettracetest.V4, at int64) { w.SequencePoint(clock.Ticks + at) }
	add := func(w *nettracetest.V4, id uint32, at ...int64) {
		for i, at := range at {
			w.Events(nettracetest.Row{Kind: id, Thread: 7, Ticks: clock.Ticks + at, Sorted: i%2 == 0})
		}
	}
	for name, c := range map[string]struct {
		fill func(*nettracetest.V4)
		want int64
	}{
		"nothing":              {func(w *nettracetest.V4) {}, 0},
		"wanted":               {func(w *nettracetest.V4) { add(w, wanted, 10, 20) }, 20},
		"unwanted":             {func(w *nettracetest.V4) { add(w, wanted, 10); add(w, unwanted, 30, 40) }, 40},
		"out of order":         {func(w *nettracetest.V4) { add(w, unwanted, 30); add(w, wanted, 10) }, 30},
		"a sequence point":     {func(w *nettracetest.V4) { add(w, wanted, 10); point(w, 50) }, 50},
		"rundown":              {func(w *nettracetest.V4) { add(w, wanted, 10); add(w, rundown, 20, 90); point(w, 95) }, 20},
		"rundown at the start": {func(w *nettracetest.V4) { add(w, rundown, 20, 90); add(w, unwanted, 100); point(w, 150) }, 150},
		"rundown, point, rundown": {func(w *nettracetest.V4) {
			add(w, unwanted, 5)
			point(w, 15)
			add(w, rundown, 20)
			point(w, 25)
			add(w, rundown, 30)
		}, 20},
		"a damaged point":          {func(w *nettracetest.V4) { add(w, wanted, 10); point(w, 1<<62); point(w, 40) }, 40},
		"a damaged row":            {func(w *nettracetest.V4) { add(w, wanted, 10); add(w, unwanted, 1<<61) }, 10},
		"a day of silence":         {func(w *nettracetest.V4) { add(w, wanted, 10); point(w, 864e11) }, 864e11},
		"of a kind never declared": {func(w *nettracetest.V4) { add(w, 77, 60) }, 60},
	} {
		for _, ahead := range []bool{false, true} {
			w := &nettracetest.V4{}
			w.Begin(clock)
			for id := uint32(1); id <= 3; id++ {
				w.Metadata(nettracetest.Kind{ID: id, Provider: "P", EventID: id})
			}
			c.fill(w)
			w.End()
			r := parse.NewReader(bytes.NewReader(w.Bytes), filter)
			if ahead {
				defer r.ReadAhead()()
			}
			for r.Scan() {
			}
			if r.Err() != nil || r.Stats().Until != c.want {
				t.Errorf("%s, ahead %v: until %d, want %d: %v", name, ahead, r.Stats().Until, c.want, r.Err())
			}
		}
	}
}

// TestFarTimes: a time too far away to be plausible becomes the farthest time, at any frequency. A
// time before the start is as exact as one after it.
func TestFarTimes(t *testing.T) {
	const farthest = 1 << 61
	for _, perSecond := range []int64{1, 7, 1000, 24_000_000, 1e9, 1e9 + 1, 20e9} {
		tr := parse.Trace{TicksPerSecond: perSecond}
		last := int64(-1 << 62)
		for _, ticks := range []int64{-1 << 63, -1 << 62, -farthest / 1_000_000_000 * perSecond / 2, -1000 * perSecond, -perSecond, -1, 0, 1, perSecond, 1000 * perSecond, farthest / 1_000_000_000 * perSecond / 2, 1 << 62, 1<<63 - 1} {
			if perSecond > 1e9 && (ticks < -1000*perSecond || ticks > 1000*perSecond) {
				continue // the product above wraps
			}
			got := tr.Nanoseconds(ticks)
			if got < -farthest || got > farthest || got < last {
				t.Errorf("%d ticks at %d/s: %d, those before: %d", ticks, perSecond, got, last)
			}
			if ticks > -1<<62 && ticks < 1<<62 && got != -tr.Nanoseconds(-ticks) {
				t.Errorf("%d ticks at %d/s: %d and %d", ticks, perSecond, got, tr.Nanoseconds(-ticks))
			}
			last = got
		}
	}
	// Around the limit: the last second below it is still exact.
	for _, c := range []struct{ seconds, want int64 }{
		{farthest/1_000_000_000 - 1, (farthest/1_000_000_000 - 1) * 1e9},
		{farthest / 1_000_000_000, farthest},
	} {
		tr := parse.Trace{TicksPerSecond: 10}
		if got := tr.Nanoseconds(c.seconds * 10); got != c.want {
			t.Errorf("%d s: %d", c.seconds, got)
		}
		if got := tr.Nanoseconds(-c.seconds * 10); got != -c.want {
			t.Errorf("-%d s: %d", c.seconds, got)
		}
	}
}

func u16(v int) []byte { return binary.LittleEndian.AppendUint16(nil, uint16(v)) }

func u32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }

func str(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }

// sized prefixes b with its length.
func sized(b ...byte) []byte { return append(u16(len(b)), b...) }

// TestMetadataV4: fields and tags of any kind are skipped to reach the opcode.
func TestMetadataV4(t *testing.T) {
	name := func(s string) []byte { return nettracetest.UTF16(s) }
	field := func(kind uint32, s string) []byte { return append(u32(kind), name(s)...) }
	object := func(s string, fields ...[]byte) []byte {
		return slices.Concat(u32(1), u32(uint32(len(fields))), slices.Concat(fields...), name(s))
	}
	nested := func(depth int) []byte {
		f := field(9, "x")
		for range depth {
			f = object("o", f)
		}
		return slices.Concat(u32(1), f)
	}
	opcode := []byte{1, 0, 0, 0, 1, 44}
	for _, c := range []struct {
		name   string
		rest   []byte // after the level
		opcode int
	}{
		{"nothing", nil, 0},
		{"no fields", u32(0), 0},
		{"a tag", slices.Concat(u32(0), opcode), 44},
		{"fields", slices.Concat(u32(2), field(9, "a"), field(14, "bc"), opcode), 44},
		{"an object", slices.Concat(u32(2), object("o", field(9, "a"), field(9, "b")), field(9, "c"), opcode), 44},
		{"objects in objects", append(nested(16), opcode...), 44},
		{"too many objects in objects", append(nested(17), opcode...), 0},
		{"a tag before it", slices.Concat(u32(0), []byte{3, 0, 0, 0, 2, 7, 8, 9}, opcode), 44},
		{"another tag behind it", slices.Concat(u32(0), opcode, []byte{1, 0, 0, 0, 2, 7}), 44},
		{"an empty tag", slices.Concat(u32(0), []byte{0, 0, 0, 0, 1}), 0},
		{"a longer opcode", slices.Concat(u32(0), []byte{2, 0, 0, 0, 1, 44, 45}), 44},
		{"a tag that is cut", slices.Concat(u32(0), opcode[:5]), 0},
		{"a field that is cut", slices.Concat(u32(2), field(9, "a"), opcode), 0},
	} {
		blob := slices.Concat(u32(1), name("P"), u32(10), name("N"), []byte{1, 2, 3, 4, 5, 6, 7, 8}, u32(3), u32(5), c.rest)
		w := &nettracetest.V4{}
		w.Begin(nettracetest.DefaultClock())
		for _, uncompressed := range []bool{false, true} {
			w.Uncompressed = uncompressed
			w.Block("MetadataBlock", w.Rows(nettracetest.Row{Kind: 0, Thread: 7, Payload: blob, Sorted: true}))
		}
		w.Events(row(1, 1, true))
		r := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
		if !r.Scan() {
			t.Fatal(c.name, r.Err())
		}
		got := fmt.Sprintf("%+v", *r.Event().Meta)
		want := fmt.Sprintf("{Index:0 Provider:P EventID:10 Name:N Version:3 Level:5 Keywords:%d Opcode:%d want:{Deliver:true Rundown:false Sum:<nil>}}", uint64(0x0807060504030201), c.opcode)
		if got != want {
			t.Errorf("%s: %s\nwant %s", c.name, got, want)
		}
	}
}

// TestMetadataV6: all optional items, and what remains of a row after an unknown one.
func TestMetadataV6(t *testing.T) {
	const unknown = parse.VersionUnknown
	items := map[string][]byte{
		"opcode": {1, 44}, "keywords": {3, 1, 2, 3, 4, 5, 6, 7, 8}, "template": append([]byte{4}, str("t")...), "description": append([]byte{5}, str("dd")...),
		"pair": slices.Concat([]byte{6}, str("k"), str("vv")), "provider": append([]byte{7}, make([]byte, 16)...), "level": {8, 5}, "version": {9, 3}, "unknown": {2, 99},
	}
	for _, c := range []struct {
		items                  []string
		cut                    int
		opcode, level, version int
		keywords               uint64
	}{
		{nil, 0, 0, 0, unknown, 0},
		{[]string{"opcode", "keywords", "level", "version"}, 0, 44, 5, 3, 0x0807060504030201},
		{[]string{"template", "opcode"}, 0, 44, 0, unknown, 0},
		{[]string{"description", "level"}, 0, 0, 5, unknown, 0},
		{[]string{"pair", "version"}, 0, 0, 0, 3, 0},
		{[]string{"provider", "version"}, 0, 0, 0, 3, 0},
		{[]string{"level", "unknown", "version"}, 0, 0, 5, unknown, 0},
		{[]string{"level", "keywords"}, 1, 0, 5, unknown, 0},
		{[]string{"level", "version"}, 1, 0, 5, unknown, 0},
	} {
		var opt []byte
		for _, name := range c.items {
			opt = append(opt, items[name]...)
		}
		opt = opt[:len(opt)-c.cut]
		line := slices.Concat([]byte{1}, str("P"), []byte{10}, str("N"), u16(2), sized(1, 2, 3), sized(4), sized(opt...))
		w := &nettracetest.V6{}
		w.Begin(nettracetest.DefaultClock())
		// The block's own header has a size too.
		w.Block(nettracetest.BlockMetadata, slices.Concat(sized(1, 2, 3), sized(line...)))
		w.Threads(nettracetest.Thread{Index: 1, ID: 1})
		w.Events(row(1, 1, true))
		r := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
		if !r.Scan() {
			t.Fatal(c.items, r.Err())
		}
		m := r.Event().Meta
		if m.Provider != "P" || m.EventID != 10 || m.Name != "N" || m.Opcode != c.opcode || m.Level != c.level || m.Version != c.version || m.Keywords != c.keywords {
			t.Errorf("%v: %+v", c.items, m)
		}
	}
}

// TestKinds: kinds that differ in anything are different, and low and high ids find their own.
func TestKinds(t *testing.T) {
	base := nettracetest.Kind{ID: 1, Provider: "P", EventID: 10, Name: "N", Version: 1, Level: 4, Keywords: 1, Opcode: 1}
	kinds := []nettracetest.Kind{base}
	for i, change := range []func(k *nettracetest.Kind){
		func(k *nettracetest.Kind) { k.Provider = "Q" },
		func(k *nettracetest.Kind) { k.EventID = 11 },
		func(k *nettracetest.Kind) { k.Name = "M" },
		func(k *nettracetest.Kind) { k.Version = 2 },
		func(k *nettracetest.Kind) { k.Level = 5 },
		func(k *nettracetest.Kind) { k.Keywords = 2 },
		func(k *nettracetest.Kind) { k.Opcode = 2 },
	} {
		k := base
		change(&k)
		k.ID = []uint32{2, 4094, 4095, 4096, 4097, 1 << 16, 1<<32 - 1}[i]
		if k.ID == 1<<32-1 {
			k.ID = 1 << 31 // the highest bit is a flag in an uncompressed row, but not here
		}
		kinds = append(kinds, k)
	}
	same := base
	same.ID = 5000
	kinds = append(kinds, same)
	w := &nettracetest.V4{}
	w.Begin(nettracetest.DefaultClock())
	w.Metadata(kinds...)
	var rows []nettracetest.Row
	for i, k := range kinds {
		r := row(1, int64(i), true)
		r.Kind = k.ID
		rows = append(rows, r)
	}
	strange := row(1, 100, true)
	strange.Kind = 4098
	w.Events(append(rows, strange)...)
	w.End()
	asked := 0
	r := parse.NewReader(bytes.NewReader(w.Bytes), func(*parse.Metadata) parse.Want { asked++; return parse.Want{Deliver: true} })
	for i := 0; r.Scan(); i++ {
		want := i
		if i == len(kinds)-1 {
			want = 0
		}
		m, k := r.Event().Meta, kinds[want]
		if m.Index != want || m.Provider != k.Provider || m.EventID != int(k.EventID) || m.Name != k.Name || m.Version != int(k.Version) || m.Level != int(k.Level) || m.Keywords != k.Keywords || m.Opcode != int(k.Opcode) {
			t.Errorf("id %d: %+v, want %+v", kinds[i].ID, m, k)
		}
	}
	if asked != len(kinds)-1 || r.Stats().UnknownMetadata != 1 || r.Err() != nil {
		t.Errorf("the filter was asked %d times; %+v, %v", asked, r.Stats(), r.Err())
	}
}

// TestThreadRows: the content of a V6 Thread block, and what remains of a row after an item that is
// unknown or truncated.
func TestThreadRows(t *testing.T) {
	const unknown = 1 << 63
	for _, c := range []struct {
		items   []byte
		thread  uint64
		process int64
	}{
		{nil, 7 | unknown, 4711},
		{[]byte{3, 0x80, 4}, 512, 4711},
		{[]byte{2, 5, 3, 9}, 9, 5},
		{slices.Concat([]byte{1}, str("name"), []byte{2, 5}), 7 | unknown, 5},
		{slices.Concat([]byte{4}, str("k"), str("vv"), []byte{3, 9}), 9, 4711},
		{[]byte{2, 5, 99, 3, 9}, 7 | unknown, 5},
		{[]byte{2, 5, 3, 0x80}, 7 | unknown, 5},
		{[]byte{3, 9, 2, 0x80}, 9, 4711},
	} {
		w := &nettracetest.V6{}
		w.Begin(nettracetest.DefaultClock(), "ProcessId", "4711")
		w.Metadata(nettracetest.Kind{ID: 1, Provider: "P", EventID: 10})
		// There is a row in front of it and one after it.
		w.Block(nettracetest.BlockThread, slices.Concat(sized(8), sized(append([]byte{7}, c.items...)...), sized(9, 3, 99)))
		w.Events(row(7, 1, true), row(9, 2, true))
		w.End()
		r := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
		if !r.Scan() || r.Event().Thread != c.thread || r.Event().Process != c.process {
			t.Errorf("% x: %+v, %v", c.items, r.Event(), r.Err())
		}
		if !r.Scan() || r.Event().Thread != 99 || r.Scan() || r.Err() != nil {
			t.Errorf("% x: the row behind: %+v, %v", c.items, r.Event(), r.Err())
		}
	}
}

// TestLabelLists: all items are walked, including those that are not needed.
func TestLabelLists(t *testing.T) {
	id := make([]byte, 16)
	version := func(v byte) []byte { return []byte{10 | 0x80, v} }
	list := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	items := [][]byte{
		append([]byte{1}, id...), append([]byte{2}, id...), append([]byte{3}, id...),
		append([]byte{4}, id[:8]...), slices.Concat([]byte{5}, str("k"), str("vv")), slices.Concat([]byte{6}, str("k"), []byte{0x80, 1}),
		{7, 9},
		append([]byte{8}, id[:8]...),
		{9, 5},
		{10, 99},
	}
	for i, item := range items {
		last := slices.Clone(item)
		last[0] |= 0x80
		// The item in front of a version, the item as the last of a list, and a list after it.
		w := startV6()
		w.Threads(nettracetest.Thread{Index: 1, ID: 1})
		w.Block(nettracetest.BlockLabels, slices.Concat(u32(5), u32(3), list(item, version(51)), last, version(53)))
		var rows []nettracetest.Row
		for label := range uint32(4) {
			r := row(1, int64(label), true)
			r.Labels = label + 5
			rows = append(rows, r)
		}
		w.Events(rows...)
		w.End()
		r := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
		var got []int
		for r.Scan() {
			got = append(got, r.Event().Version)
		}
		want := []int{51, 3, 53, 3} // 3 is the version in the metadata
		if i == len(items)-1 {
			want[1] = 99
		}
		if !slices.Equal(got, want) || r.Err() != nil || r.Stats().SkippedLabels != 0 {
			t.Errorf("item %d: %v, want %v: %+v, %v", item[0], got, want, r.Stats(), r.Err())
		}
		for n := range item {
			if n == 0 {
				continue
			}
			w := startV6()
			w.Block(nettracetest.BlockLabels, slices.Concat(u32(1), u32(1), item[:n]))
			w.End()
			if _, r := read(w.Bytes, parse.All); r.Err() == nil {
				t.Errorf("item %d cut at %d: no error", item[0], n)
			}
		}
	}
	// After an unknown item the remaining lists of the block are skipped; those of the next block
	// are read.
	w := startV6()
	w.Threads(nettracetest.Thread{Index: 1, ID: 1})
	w.Block(nettracetest.BlockLabels, slices.Concat(u32(1), u32(5), version(51), version(52), []byte{11}, version(54), version(55)))
	w.Block(nettracetest.BlockLabels, slices.Concat(u32(6), u32(1), version(56)))
	var rows []nettracetest.Row
	for label := uint32(1); label <= 6; label++ {
		r := row(1, int64(label), true)
		r.Labels = label
		rows = append(rows, r)
	}
	w.Events(rows...)
	w.End()
	r := parse.NewReader(bytes.NewReader(w.Bytes), parse.All)
	var got []int
	for r.Scan() {
		got = append(got, r.Event().Version)
	}
	if want := []int{51, 52, 3, 3, 3, 56}; !slices.Equal(got, want) || r.Stats().SkippedLabels != 3 || r.Err() != nil {
		t.Errorf("%v, want %v: %+v, %v", got, want, r.Stats(), r.Err())
	}
}

// TestLossTimes: a loss extends from the last event that its thread wrote to the moment at which
// the loss was detected.
func TestLossTimes(t *testing.T) {
	seq := func(r nettracetest.Row, n uint32) nettracetest.Row { r.Seq = n; return r }
	for _, c := range []struct {
		name   string
		stream func(w *nettracetest.V6)
		want   []string
	}{
		{"behind another thread's rows", func(w *nettracetest.V6) {
			w.Events(seq(row(1, 10, true), 1), seq(row(2, 50, true), 1))
			w.RemoveThreads(nettracetest.ThreadSeq{Thread: 1, Seq: 3})
		}, []string{"10/11", "50/22", "lost 2 on 11 in 10-50"}},
		{"a thread that never wrote", func(w *nettracetest.V6) {
			w.SequencePoint(t0+70, 0, nettracetest.ThreadSeq{Thread: 2, Seq: 3})
		}, []string{"lost 3 on 22 in 70-70"}},
		{"a number that is not new", func(w *nettracetest.V6) {
			w.Events(seq(row(1, 10, true), 5))
			w.SequencePoint(t0+70, 0, nettracetest.ThreadSeq{Thread: 1, Seq: 5})
			w.SequencePoint(t0+80, 0, nettracetest.ThreadSeq{Thread: 1, Seq: 4})
			w.Events(seq(row(1, 90, true), 6))
		}, []string{"lost 4 on 11 in 10-10", "10/11", "90/11"}},
		{"an id that begins again", func(w *nettracetest.V6) {
			w.Events(seq(row(1, 10, true), 1), seq(row(1, 20, true), 4))
			w.Events(seq(row(1, 30, true), 1)) // V6 does not reuse thread indices, so this is a step back
			w.Events(seq(row(1, 40, true), 2))
		}, []string{"10/11", "lost 2 on 11 in 10-20", "20/11", "30/11", "40/11"}},
		{"a thread that was removed", func(w *nettracetest.V6) {
			w.Events(seq(row(1, 10, true), 1))
			w.RemoveThreads(nettracetest.ThreadSeq{Thread: 1, Seq: 1}, nettracetest.ThreadSeq{Thread: 99, Seq: 7})
			w.Threads(nettracetest.Thread{Index: 1, ID: 33})
			w.Events(seq(row(1, 60, true), 2))
		}, []string{"10/11", "lost 1 on 33 in 10-60", "60/33"}},
		{"all threads end", func(w *nettracetest.V6) {
			w.Events(seq(row(1, 10, true), 1))
			w.SequencePoint(t0+20, 1)
			w.Events(seq(row(1, 30, true), 1))
		}, []string{"10/11", "error"}},
		{"threads stay", func(w *nettracetest.V6) {
			w.Events(seq(row(1, 10, true), 1))
			w.SequencePoint(t0+20, 0)
			w.Events(seq(row(1, 30, true), 2))
		}, []string{"10/11", "30/11"}},
		{"metadata ends", func(w *nettracetest.V6) {
			high := row(1, 15, true)
			high.Kind = 5000
			w.Metadata(nettracetest.Kind{ID: 5000, Provider: "P", EventID: 10})
			w.Events(row(1, 10, true), high)
			w.SequencePoint(t0+20, 2)
			w.Events(row(1, 30, true), high)
		}, []string{"10/11", "15/11", "unknown 2"}},
	} {
		w := startV6()
		w.Threads(nettracetest.Thread{Index: 1, ID: 11}, nettracetest.Thread{Index: 2, ID: 22})
		c.stream(w)
		w.End()
		got, r := read(w.Bytes, parse.All)
		if r.Err() != nil {
			got = append(got, "error")
		}
		if n := r.Stats().UnknownMetadata; n > 0 {
			got = append(got, fmt.Sprint("unknown ", n))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q: %v", c.name, got, c.want, r.Err())
		}
	}
}

// TestSpilledLosses: losses for which there is no room are added up and reported without a thread,
// from the first of them to the last.
func TestSpilledLosses(t *testing.T) {
	w := begin()
	var threads []nettracetest.ThreadSeq
	for i := range uint64(4096 + 3) {
		threads = append(threads, nettracetest.ThreadSeq{Thread: i + 1, Seq: 10})
	}
	var rows []nettracetest.Row
	for i := 4096; i < 4099; i++ { // these have a time, and cause losses for which there is no room
		r := row(uint64(i+1), int64(100-i+4096), true)
		r.Seq = 5
		rows = append(rows, r)
	}
	w.Events(rows...)
	w.SequencePoint(t0+500, threads...)
	w.End()
	r := parse.NewReader(bytes.NewReader(w.Bytes), parse.None)
	n, total := 0, int64(0)
	var last parse.Loss
	for ; r.Scan(); n++ {
		last = *r.Loss()
		total += int64(last.Events)
	}
	if want := (parse.Loss{Events: 15, From: 98, To: 500, Ticks: t0 + 500}); n != 4097 || last != want || total != 4096*10+15 || r.Stats().Lost != total || r.Err() != nil {
		t.Errorf("%d losses of %d events, the last %+v; %v", n, total, last, r.Err())
	}
	if r.Scan() {
		t.Errorf("another: %+v", r.Loss())
	}

	// Losses that are detected at different times.
	v6 := startV6()
	var declared []nettracetest.Thread
	var ends []nettracetest.ThreadSeq
	for i := range uint64(4096 + 3) {
		declared = append(declared, nettracetest.Thread{Index: i})
		ends = append(ends, nettracetest.ThreadSeq{Thread: i, Seq: 10})
	}
	v6.Threads(declared...)
	for i, at := range []int64{50, 70, 60} {
		r := row(uint64(4096+i), at, false)
		r.Seq = 1
		ends[4096+i].Seq = 1 + 5
		v6.Events(r)
	}
	v6.RemoveThreads(ends...)
	v6.End()
	r = parse.NewReader(bytes.NewReader(v6.Bytes), parse.None)
	for n = 0; r.Scan(); n++ {
		last = *r.Loss()
	}
	if want := (parse.Loss{Events: 15, From: 50, To: 70, Ticks: t0 + 70}); n != 4097 || last != want || r.Err() != nil {
		t.Errorf("%d losses, the last %+v, want %+v; %v", n, last, want, r.Err())
	}
}

// TestNoRows: a block may contain no rows.
func TestNoRows(t *testing.T) {
	v4, v6 := begin(), startV6()
	v4.Block("MetadataBlock", v4.Rows())
	v4.Block("EventBlock", v4.Rows())
	v4.Block("StackBlock", make([]byte, 8))
	v4.Events(row(1, 10, true))
	v4.SequencePoint(t0 + 20)
	v4.End()
	v6.Metadata()
	v6.Threads()
	v6.RemoveThreads()
	v6.Threads(nettracetest.Thread{Index: 1, ID: 1})
	v6.Events()
	v6.Events(row(1, 10, true))
	v6.SequencePoint(t0+20, 0)
	v6.End()
	for _, stream := range [][]byte{v4.Bytes, v6.Bytes} {
		got, r := read(stream, parse.All)
		want(t, got, "10/1")
		if r.Err() != nil {
			t.Error(r.Err())
		}
	}
}

// TestSlowClock: one tick per second is the lowest frequency of a clock.
func TestSlowClock(t *testing.T) {
	for perSecond, good := range map[int64]bool{1: true, 0: false, -1: false} {
		clock := nettracetest.DefaultClock()
		clock.PerSecond = perSecond
		var v4 nettracetest.V4
		v4.Begin(clock)
		tr, err := parse.NewReader(bytes.NewReader(v4.Bytes), parse.All).ReadTrace()
		if (err == nil) != good || good && tr.TicksPerSecond != perSecond {
			t.Errorf("%d ticks per second: %+v, error %v", perSecond, tr, err)
		}
	}
}
