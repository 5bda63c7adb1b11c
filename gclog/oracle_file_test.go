package gclog_test

// oracleFile is TraceEvent's result for a recording.
type oracleFile struct {
	Trace     struct{ Exception *string }
	Processes []*oracleProcess
}

type oracleProcess struct {
	PID int64
	GCs []*oracleGC
}

// oracleGC is one of TraceEvent's collections, with TraceEvent's names; nil is unknown. Left out
// because a record has no counterpart: ProcessCpuMSec, GCCpuMSec, PercentTimeInGC and
// GetTotalGCTime() (from ETW samples), BGCCurrentPhase (as of the moment at which it stopped),
// TotalPinnedPlugSize, TotalUserPinnedPlugSize, GetPinnedObjectSizes() and
// GetPinnedObjectPercentage() (always 0 and -1: it does not read them from a stream). Values that
// HeapStats, GlobalHeapHistory, PerHeapHistories and CondemnedReasonGroups repeat are compared
// once.
type oracleGC struct {
	Number                       uint32
	Type, Reason                 string
	Generation                   int
	GCGenerationName             string
	IsComplete                   bool
	StartRelativeMSec            *float64
	DurationMSec                 *float64
	PauseStartRelativeMSec       *float64
	PauseDurationMSec            *float64
	SuspendDurationMSec          *float64
	BGCFinalPauseMSec            *float64
	DurationSinceLastRestartMSec *float64
	PauseTimePercentage          *float64 `json:"PauseTimePercentageSinceLastGC"`
	TimingInfo                   []*float64
	PerHeapMarkTimes             map[string]struct {
		MarkTimes    []float64
		MarkPromoted []int64
	}

	HeapStats *struct {
		TotalHeapSize, TotalPromoted                               int64
		GenerationSize0, GenerationSize1, GenerationSize2          int64
		GenerationSize3, GenerationSize4                           int64
		TotalPromotedSize0, TotalPromotedSize1, TotalPromotedSize2 int64
		TotalPromotedSize3, TotalPromotedSize4                     int64
		FinalizationPromotedSize, FinalizationPromotedCount        int64
		PinnedObjectCount, SinkBlockCount, GCHandleCount           int64
	}
	GlobalHeapHistory *struct {
		FinalYoungestDesired                                      int64
		NumHeaps, CondemnedGeneration, Gen0ReductionCount         int64
		Reason, GlobalMechanisms, PauseMode                       string
		MemoryPressure                                            int64
		CondemnReasons0, CondemnReasons1                          int64
		HasMemoryPressure, HasCondemnReasons0, HasCondemnReasons1 bool
		Times                                                     []int32
	}
	PerHeapHistories []struct {
		FreeListAllocated, FreeListRejected, EndOfSegAllocated      uint64
		CondemnedAllocated, PinnedAllocated                         uint64
		PinnedAllocatedAdvance                                      int64
		RunningFreeListEfficiency, CondemnReasons0, CondemnReasons1 uint32
		CompactMechanisms, ExpandMechanisms                         int
		ExtraGen0Commit                                             uint64
		GenData                                                     []oracleGeneration
	}
	GlobalCondemnedReasons  *oracleReasons
	PerHeapCondemnedReasons []oracleReasons
	CondemnedReasons        map[string]int `json:"GetCondemnedReasons()"`
	CondemnedHeap           *int           `json:"FindFirstHighestCondemnedHeap()"`
	LowEphemeral            *bool          `json:"IsLowEphemeral()"`
	NotCompacting           *bool          `json:"IsNotCompacting()"`

	HeapCount, GenerationCount           *float64
	HeapSizeBeforeMB, HeapSizeAfterMB    *float64
	HeapSizePeakMB, RatioPeakAfter       *float64
	PromotedMB                           *float64
	GenSizeBeforeMB                      []*float64
	GenSizeAfterMB                       []*float64 `json:"GenSizeAfterMB(gen)"`
	GenFragmentationMB                   []*float64 `json:"GenFragmentationMB(gen)"`
	GenFragmentationPercent              []*float64 `json:"GenFragmentationPercent(gen)"`
	GenInMB                              []*float64 `json:"GenInMB(gen)"`
	GenOutMB                             []*float64 `json:"GenOutMB(gen)"`
	GenPromotedMB                        []*float64 `json:"GenPromotedMB(gen)"`
	GenBudgetMB                          []*float64 `json:"GenBudgetMB(gen)"`
	GenObjSizeAfterMB                    []*float64 `json:"GenObjSizeAfterMB(gen)"`
	SurvivalPercent                      []*float64 `json:"SurvivalPercent(gen)"`
	UserAllocated                        []*float64
	AllocedSinceLastGCMB, AllocRateMBSec *float64
	AllocTicksMB                         []*float64 `json:"AllocedSinceLastGCBasedOnAllocTickMB"`
	CommittedUsageBefore                 *oracleCommitted
	CommittedUsageAfter                  *oracleCommitted
	FreeList                             struct {
		Valid                       bool
		Allocated, FreeListConsumed int64
	}
	LOHCompactInfos []struct {
		TimePlan, TimeCompact, TimeRelocate uint32
		TotalRefs, ZeroRefs                 uint64
	}
	LargestFreeListItemsBuckets []oracleBucket
	PlugsInCondemnedBuckets     []oracleBucket
	BGCRevisitInfoArr           [][]struct{ PagesRevisited, ObjectsRevisited uint64 }
	LOHWaitThreads              map[string]struct {
		WaitStartRelativeMSec, WaitStopRelativeMSec float64
	}
	DynamicEvents []struct{ Name, Payload string }
}

type oracleGeneration struct {
	SizeBefore, SizeAfter, ObjSpaceBefore, Fragmentation, ObjSizeAfter             int64
	FreeListSpaceBefore, FreeObjSpaceBefore, FreeListSpaceAfter, FreeObjSpaceAfter int64
	In, Out, Budget, SurvRate, PinnedSurv, NonePinnedSurv                          int64
}

type oracleReasons struct {
	EncodedReasons struct{ Reasons, ReasonsEx uint32 }
}

type oracleCommitted struct {
	TotalCommittedInUse, TotalCommittedInGlobalDecommit, TotalCommittedInFree uint64
	TotalCommittedInGlobalFree, TotalBookkeepingCommitted                     uint64
}

func (u *oracleCommitted) total() *float64 {
	if u == nil {
		return nil
	}
	v := float64(u.TotalCommittedInUse + u.TotalCommittedInGlobalDecommit + u.TotalCommittedInFree +
		u.TotalCommittedInGlobalFree + u.TotalBookkeepingCommitted)
	return &v
}

type oracleBucket struct {
	Index uint16
	Count uint32
	Size  uint64
}
