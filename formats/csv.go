package formats

import (
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
)

// csvFormat writes one row per collection, and one for the end of the process. The first 21 columns are those of
// Criteo's GcLog, for spreadsheets that use them; gclog's own follow. Unknown values are empty.
type csvFormat struct {
	stateless
	clock   *clock
	o       *Options
	columns []csvColumn
}

// A csvColumn has a field of one of these; the others are nil.
type csvColumn struct {
	gc      *fields.Field
	process *fields.Fact
	end     *fields.Row[gclog.End]
}

const csvHeader = "StartRelativeMSec,Number,Generation,Type,Reason,IsCompacting,SuspensionDurationInMilliSeconds," +
	"PauseDurationInMilliSeconds,FinalPauseDurationInMilliSeconds,Gen0Size,Gen1Size,Gen2Size,LOHSize," +
	"ObjGen0Before,ObjGen1Before,ObjGen2Before,ObjLOHBefore,ObjGen0After,ObjGen1After,ObjGen2After,ObjLOHAfter," +
	"ProcessID,StartTime,DurationInMilliSeconds,Kind,PauseStartRelativeMSec,POHSize,ObjPOHBefore,ObjPOHAfter," +
	"HeapBefore,HeapAfter,HeapPeak,Promoted,Fragmentation,CommittedBefore,CommittedAfter,Allocated,Gen0Budget," +
	"HeapCount,MemoryLoadPercent,PinnedObjects,Handles,FinalizationCount,Complete,LostEvents," +
	"Gen0Before,Gen1Before,Gen2Before,LOHBefore,POHBefore,FinalPauseStartRelativeMSec," +
	"Resident,CgroupMemory,CgroupLimit,FinalSuspensionDurationInMilliSeconds,HeapDumpBy," +
	"ResumeDurationInMilliSeconds,FinalResumeDurationInMilliSeconds,Mechanisms,Provisional," +
	"CondemnedGenerations,CondemnedReasons," +
	"Gen0In,Gen1In,Gen2In,LOHIn,POHIn,Gen0Survived,Gen1Survived,Gen2Survived,LOHSurvived,POHSurvived," +
	"Gen0SurvivedPinned,Gen1SurvivedPinned,Gen2SurvivedPinned,LOHSurvivedPinned,POHSurvivedPinned," +
	"Gen0Fragmentation,Gen1Fragmentation,Gen2Fragmentation,LOHFragmentation,POHFragmentation," +
	"Gen1Budget,Gen2Budget,LOHBudget,POHBudget,Gen0Allocated,LOHAllocated,POHAllocated," +
	"FinalizationSize,FinalizerRuns,FinalizerObjects,FinalizerLongestMSec,FinalizerRunningMSec," +
	"MarkStackMSec,MarkFinalizerQueueMSec,MarkHandlesMSec,MarkOlderGenerationsMSec,MarkSizedRefMSec,MarkOverflowMSec," +
	"MarkDependentHandlesMSec,MarkNewFinalizableMSec,MarkStealMSec,MarkBackgroundRootsMSec,MemoryReadRelativeMSec," +
	"Processors,HardLimit,EndReason,ExitCode,ExitSignal\n"

func newCSV(o *Options) formatter {
	c := &csvFormat{clock: newClock(o.Process.Sync, o.Process.UptimeAtSync), o: o}
	for name := range strings.SplitSeq(strings.TrimSuffix(csvHeader, "\n"), ",") {
		c.columns = append(c.columns, csvColumn{
			fields.Column(name), fields.ColumnOf(fields.Process(), name), fields.ColumnOf(fields.End(), name),
		})
	}
	return c
}

func (c *csvFormat) header(dst []byte, _ int64, _ int) []byte { return append(dst, csvHeader...) }

func (c *csvFormat) append(dst []byte, r gclog.Record, _ uint64) []byte {
	var d *gclog.GCDetails
	var e *gclog.End
	switch r := r.(type) {
	case *gclog.GCDetails:
		d = r
	case *gclog.End:
		if r.Process != nil {
			c.o.Process.Merge(r.Process)
		}
		if e = r; !e.Reason.OfProcess() {
			return dst
		}
	default:
		return dst
	}
	for i := range c.columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch x := &c.columns[i]; {
		case x.process != nil:
			dst = appendCSV(dst, x.process, &c.o.Process)
		case x.end != nil && e != nil:
			dst = appendCSV(dst, x.end, e)
		case x.gc == nil:
		case x.gc.CSV == "ProcessID":
			dst = strconv.AppendInt(dst, c.o.Process.ID, 10)
		case x.gc.CSV == "StartTime":
			dst = c.start(dst, d, e)
		case d != nil:
			dst = appendCSV(dst, x.gc, d)
		case x.gc.CSV == "StartRelativeMSec":
			dst = appendMillis(dst, e.At)
		}
	}
	return append(dst, '\n')
}

// start appends when a collection started, or the process ended.
func (c *csvFormat) start(dst []byte, d *gclog.GCDetails, e *gclog.End) []byte {
	switch {
	case d == nil:
		dst = c.clock.appendClock(dst, e.At, 6)
	case d.Flaws&gclog.FlawNoStart == 0:
		dst = c.clock.appendClock(dst, d.Start, 6)
	default:
		return dst
	}
	return append(dst, 'Z')
}

// appendCSV appends a field, if it is known.
func appendCSV[R any](dst []byte, f *fields.Row[R], r *R) []byte {
	v, text, known := f.Of(r)
	switch {
	case !known:
	case f.Unit == fields.Text:
		dst = append(dst, text...)
	case f.Unit == fields.Nanoseconds, f.Unit == fields.Time:
		dst = appendMillis(dst, int64(v))
	case f.Unit == fields.Signed:
		dst = strconv.AppendInt(dst, int64(v), 10)
	case f.Unit != fields.Flag:
		dst = appendUint(dst, v)
	case v == 0:
		dst = append(dst, "False"...)
	default:
		dst = append(dst, "True"...)
	}
	return dst
}
