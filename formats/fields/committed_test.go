package fields_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// A collecting passes every collection to a function.
type collecting struct {
	each func(*gclog.GCDetails)
}

// Observe takes a record.
func (x *collecting) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		x.each(d)
	}
}

// TestCommittedAfter: what is committed after a collection has room for the heap after it. A
// background collection reports only what was committed when it started.
func TestCommittedAfter(t *testing.T) {
	all := fields.All()
	committed := all[slices.IndexFunc(all, func(f fields.Field) bool { return f.JSON == "heap.committed" })]
	after, background := 0, 0
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		_ = gclog.Read(bytes.NewReader(recordings.Read(t, tr.Path)), func(*gclog.Process) gclog.Observer {
			return (&collecting{each: func(d *gclog.GCDetails) {
				bytes, known := committed.Get(d)
				switch {
				case !known:
				case d.Kind == gclog.KindBackground:
					t.Errorf("#%d is a background collection with %d bytes after it", d.Number, bytes)
				case bytes < d.SizeAfter():
					t.Errorf("#%d has a heap of %d bytes, of which %d are committed", d.Number, d.SizeAfter(), bytes)
				default:
					after++
				}
				if d.Kind == gclog.KindBackground && d.Known.Has(gclog.GroupCommittedBefore) {
					background++
				}
			}}).Observe
		}) // some recordings are damaged
	})
	if after == 0 || background == 0 {
		t.Errorf("%d with committed memory after them, %d background ones with it before them", after, background)
	}
}
