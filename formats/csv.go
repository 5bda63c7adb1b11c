package formats

import (
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
)

// csvFormat writes one row per collection. The first 21 columns are those of Criteo's GcLog, for
// spreadsheets that use them; gclog's own follow. Unknown values are empty.
type csvFormat struct {
	stateless
	clock   *clock
	o       *Options
	columns []*fields.Field
}

const csvHeader = "StartRelativeMSec,Number,Generation,Type,Reason,IsCompacting,SuspensionDurationInMilliSeconds," +
	"PauseDurationInMilliSeconds,FinalPauseDurationInMilliSeconds,Gen0Size,Gen1Size,Gen2Size,LOHSize," +
	"ObjGen0Before,ObjGen1Before,ObjGen2Before,ObjLOHBefore,ObjGen0After,ObjGen1After,ObjGen2After,ObjLOHAfter," +
	"ProcessID,StartTime,DurationInMilliSeconds,Kind,PauseStartRelativeMSec,POHSize,ObjPOHBefore,ObjPOHAfter," +
	"HeapBefore,HeapAfter,HeapPeak,Promoted,Fragmentation,CommittedBefore,CommittedAfter,Allocated,Gen0Budget," +
	"HeapCount,MemoryLoadPercent,PinnedObjects,Handles,FinalizationCount,Complete,LostEvents," +
	"Gen0Before,Gen1Before,Gen2Before,LOHBefore,POHBefore,FinalPauseStartRelativeMSec," +
	"Resident,CgroupMemory,CgroupLimit,FinalSuspensionDurationInMilliSeconds,HeapDumpBy\n"

func newCSV(o *Options) formatter {
	c := &csvFormat{clock: newClock(o.Process.Sync, o.Process.UptimeAtSync), o: o}
	for name := range strings.SplitSeq(strings.TrimSuffix(csvHeader, "\n"), ",") {
		c.columns = append(c.columns, fields.Column(name))
	}
	return c
}

func (c *csvFormat) header(dst []byte, _ int64, _ int) []byte { return append(dst, csvHeader...) }

func (c *csvFormat) append(dst []byte, r gclog.Record, _ uint64) []byte {
	d, ok := r.(*gclog.GCDetails)
	if !ok {
		return dst
	}
	for i, f := range c.columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		if f.Get == nil {
			dst = c.text(dst, f, d)
			continue
		}
		switch v, known := f.Get(d); {
		case !known:
		case f.Unit == fields.Nanoseconds:
			dst = appendMillis(dst, int64(v))
		case f.Unit != fields.Flag:
			dst = appendUint(dst, v)
		case v == 0:
			dst = append(dst, "False"...)
		default:
			dst = append(dst, "True"...)
		}
	}
	return append(dst, '\n')
}

func (c *csvFormat) text(dst []byte, f *fields.Field, d *gclog.GCDetails) []byte {
	switch {
	case f.Text != nil:
		return append(dst, f.Text(d)...)
	case f.CSV == "ProcessID":
		return strconv.AppendInt(dst, c.o.Process.ID, 10)
	case d.Flaws&gclog.FlawNoStart == 0: // StartTime
		return append(c.clock.appendClock(dst, d.Start, 6), 'Z')
	}
	return dst
}
