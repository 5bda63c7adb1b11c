package logs_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// TestHeapDumps: the formats that are read back contain which collections are those of heap
// snapshots, and who requested them. What a later version of gclog may write in its place is
// another tool.
func TestHeapDumps(t *testing.T) {
	for format, later := range map[string][2]string{
		"json":    {`"heap_dump_by":"gclog"`, `"heap_dump_by":"somebody"`},
		"csv":     {",gclog,", ",somebody,"},
		"unified": {"heap_dump=gclog,", "heap_dump=somebody,"},
	} {
		p := gclog.Process{ID: 7, Sync: time.Unix(1e9, 0).UTC()}
		var out memory
		x := &observed{}
		x.writeTo(format, &out, &p)
		marks := []gclog.GCDetails{{}, {HeapDump: true}, {HeapDump: true, HeapDumpBy: gclog.RequesterGclog}}
		for i, mark := range marks {
			start := int64(i+1) * 1e9
			d := &gclog.GCDetails{
				Number: uint32(i + 1), Known: gclog.GroupNumber | gclog.GroupReason | gclog.GroupEnd | gclog.GroupAfter | gclog.GroupBefore, Generation: 2, Reason: clr.ReasonInduced, Complete: true,
				HeapDump: mark.HeapDump, HeapDumpBy: mark.HeapDumpBy, Start: start + 1e6, End: start + 9e6, Suspended: start,
				Pauses: []gclog.PausePart{{Start: start, Duration: 1e7, HasSuspend: true}}, GenerationCount: 5,
			}
			x.Observe(&gclog.Pause{PausePart: d.Pauses[0], GC: d})
			x.Observe(d)
		}
		expect := func(text []byte, want []gclog.GCDetails) {
			t.Helper()
			_, back, skipped := read(t, text)
			if len(back) != 1 || skipped.Count != 0 || len(back[0].gcs()) != len(want) {
				t.Fatalf("%s: %d processes, lines %v skipped of\n%s", format, len(back), skipped.Lines, text)
			}
			for i, d := range back[0].gcs() {
				if d.HeapDump != want[i].HeapDump || d.HeapDumpBy != want[i].HeapDumpBy {
					t.Errorf("%s: collection %d is a snapshot %v of %v, want %v of %v", format, d.Number, d.HeapDump, d.HeapDumpBy, want[i].HeapDump, want[i].HeapDumpBy)
				}
			}
		}
		expect(out.text, marks)
		changed := bytes.ReplaceAll(out.text, []byte(later[0]), []byte(later[1]))
		if bytes.Equal(changed, out.text) {
			t.Errorf("%s: no %s in\n%s", format, later[0], out.text)
		}
		marks[2].HeapDumpBy = gclog.RequesterOther
		expect(changed, marks)
	}
}
