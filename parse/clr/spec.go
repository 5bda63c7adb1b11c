package clr

// A decodeFunc decodes p into the Decoder's struct for the event. If the payload is too short, it
// leaves p.bad set.
type decodeFunc func(d *Decoder, p *payload, version int) Event

// A spec describes a kind of event. A new event needs a row in the table below, a struct, and a
// function that fills the struct in.
type spec struct {
	provider string
	id       int
	name     string // its name in the runtime's manifest
	bytes    int    // minimum length of the payload, without its pointers
	pointers int    // number of pointers in it
	decode   decodeFunc
}

func (s *spec) least(pointerSize int) int { return s.bytes + s.pointers*pointerSize }

func find(provider string, id int) *spec {
	for i := range specs {
		if s := &specs[i]; s.id == id && s.provider == provider {
			return s
		}
	}
	return nil
}

// Name returns the runtime's name of an event, or "" if this package does not know the event.
// Native runtime events do not contain their names.
func Name(provider string, id int) string {
	if s := find(provider, id); s != nil {
		return s.name
	}
	return ""
}

const (
	rt = RuntimeProvider
	pv = PrivateProvider
	rd = RundownProvider
	rc = RecordingProvider
)

var specs = [...]spec{
	{rt, IDGCStart, "GCStart", 8, 0, (*Decoder).gcStart},
	{rt, IDGCEnd, "GCEnd", 6, 0, (*Decoder).gcEnd},
	{rt, IDGCRestartEEEnd, "GCRestartEEEnd", 0, 0, (*Decoder).restartEnd},
	{rt, IDGCHeapStats, "GCHeapStats", 92, 0, (*Decoder).heapStats},
	{rt, IDGCCreateSegment, "GCCreateSegment", 20, 0, (*Decoder).createSegment},
	{rt, IDGCFreeSegment, "GCFreeSegment", 8, 0, (*Decoder).freeSegment},
	{rt, IDGCRestartEEBegin, "GCRestartEEBegin", 0, 0, (*Decoder).restartBegin},
	{rt, IDGCSuspendEEEnd, "GCSuspendEEEnd", 0, 0, (*Decoder).suspendEnd},
	{rt, IDGCSuspendEEBegin, "GCSuspendEEBegin", 2, 0, (*Decoder).suspendBegin},
	{rt, IDGCAllocationTick, "GCAllocationTick", 8, 0, (*Decoder).allocationTick},
	{rt, IDGCCreateConcurrentThread, "GCCreateConcurrentThread", 0, 0, (*Decoder).createThread},
	{rt, IDGCTerminateConcurrentThread, "GCTerminateConcurrentThread", 0, 0, (*Decoder).terminateThread},
	{rt, IDGCFinalizersEnd, "GCFinalizersEnd", 4, 0, (*Decoder).finalizersEnd},
	{rt, IDGCFinalizersBegin, "GCFinalizersBegin", 0, 0, (*Decoder).finalizersBegin},
	{rt, IDBulkType, "BulkType", 6, 0, (*Decoder).bulkType},
	{rt, IDGCBulkRootEdge, "GCBulkRootEdge", 10, 0, (*Decoder).bulkRootEdge},
	{rt, IDGCBulkRootConditionalEdge, "GCBulkRootConditionalWeakTableElementEdge", 10, 0, (*Decoder).bulkConditionalEdge},
	{rt, IDGCBulkNode, "GCBulkNode", 10, 0, (*Decoder).bulkNode},
	{rt, IDGCBulkEdge, "GCBulkEdge", 10, 0, (*Decoder).bulkEdge},
	{rt, IDGCSampledObjectHigh, "GCSampledObjectAllocationHigh", 14, 2, (*Decoder).sampledObject},
	{rt, IDGCBulkSurvivingRanges, "GCBulkSurvivingObjectRanges", 10, 0, (*Decoder).bulkSurvivingRanges},
	{rt, IDGCBulkMovedRanges, "GCBulkMovedObjectRanges", 10, 0, (*Decoder).bulkMovedRanges},
	{rt, IDGCGenerationRange, "GCGenerationRange", 19, 1, (*Decoder).generationRange},
	{rt, IDGCMarkStackRoots, "GCMarkStackRoots", 6, 0, markRoots(MarkStack)},
	{rt, IDGCMarkFinalizeQueueRoots, "GCMarkFinalizeQueueRoots", 6, 0, markRoots(MarkFinalizerQueue)},
	{rt, IDGCMarkHandles, "GCMarkHandles", 6, 0, markRoots(MarkHandles)},
	{rt, IDGCMarkOlderGenRoots, "GCMarkOlderGenerationRoots", 6, 0, markRoots(MarkOlderGenerations)},
	{rt, IDFinalizeObject, "FinalizeObject", 2, 2, (*Decoder).finalizeObject},
	{rt, IDSetGCHandle, "SetGCHandle", 18, 2, (*Decoder).setHandle},
	{rt, IDDestroyGCHandle, "DestroyGCHandle", 2, 1, (*Decoder).destroyHandle},
	{rt, IDGCSampledObjectLow, "GCSampledObjectAllocationLow", 14, 2, (*Decoder).sampledObject},
	{rt, IDPinObjectAtGCTime, "PinObjectAtGCTime", 12, 2, (*Decoder).pinObject},
	{rt, IDPinPlugAtGCTime, "PinPlugAtGCTime", 2, 3, (*Decoder).pinPlug},
	{rt, IDGCTriggered, "GCTriggered", 6, 0, (*Decoder).triggered},
	{rt, IDGCBulkRootCCW, "GCBulkRootCCW", 6, 0, (*Decoder).bulkRootCCW},
	{rt, IDGCBulkRCW, "GCBulkRCW", 6, 0, (*Decoder).bulkRCW},
	{rt, IDGCBulkRootStaticVar, "GCBulkRootStaticVar", 14, 0, (*Decoder).bulkRootStaticVar},
	{rt, IDGCDynamicEvent, "GCDynamicEvent", 6, 0, (*Decoder).dynamicEvent},
	{rt, IDRuntimeInformation, "RuntimeInformationStart", 45, 0, (*Decoder).runtimeInformation},
	{rt, IDIncreaseMemoryPressure, "IncreaseMemoryPressure", 10, 0, memoryPressure(false)},
	{rt, IDDecreaseMemoryPressure, "DecreaseMemoryPressure", 10, 0, memoryPressure(true)},
	{rt, IDGCMarkWithType, "GCMarkWithType", 18, 0, (*Decoder).markWithType},
	{rt, IDGCJoin, "GCJoin", 14, 0, (*Decoder).join},
	{rt, IDGCPerHeapHistory, "GCPerHeapHistory", 30, 17, (*Decoder).perHeapHistory},
	{rt, IDGCGlobalHeapHistory, "GCGlobalHeapHistory", 28, 0, (*Decoder).globalHistory},
	{rt, IDGenAwareBegin, "GenAwareBegin", 6, 0, genAware(false)},
	{rt, IDGenAwareEnd, "GenAwareEnd", 6, 0, genAware(true)},
	{rt, IDGCLOHCompact, "GCLOHCompact", 4, 0, (*Decoder).lohCompact},
	{rt, IDGCFitBucketInfo, "GCFitBucketInfo", 14, 0, (*Decoder).fitBucketInfo},
	{rt, IDAllocationSampled, "AllocationSampled", 24, 2, (*Decoder).allocationSampled},

	{pv, IDPrvGCSettings, "PrvGCSettings", 20, 0, (*Decoder).privateSettings},
	{pv, IDPrvBGCBegin, "BGCBegin", 0, 0, bgcPhase(BGCBegin)},
	{pv, IDPrvBGC1stNonConEnd, "BGC1stNonConEnd", 0, 0, bgcPhase(BGCInitialPauseEnd)},
	{pv, IDPrvBGC1stConEnd, "BGC1stConEnd", 0, 0, bgcPhase(BGCConcurrentMarkEnd)},
	{pv, IDPrvBGC2ndNonConBegin, "BGC2ndNonConBegin", 0, 0, bgcPhase(BGCFinalPauseBegin)},
	{pv, IDPrvBGC2ndNonConEnd, "BGC2ndNonConEnd", 0, 0, bgcPhase(BGCFinalPauseEnd)},
	{pv, IDPrvBGC2ndConBegin, "BGC2ndConBegin", 0, 0, bgcPhase(BGCSweepBegin)},
	{pv, IDPrvBGC2ndConEnd, "BGC2ndConEnd", 0, 0, bgcPhase(BGCSweepEnd)},
	{pv, IDPrvBGCPlanEnd, "BGCPlanEnd", 0, 0, bgcPhase(BGCPlanEnd)},
	{pv, IDPrvBGCSweepEnd, "BGCSweepEnd", 0, 0, bgcPhase(BGCOldSweepEnd)},
	{pv, IDPrvBGCDrainMark, "BGCDrainMark", 10, 0, (*Decoder).bgcDrainMark},
	{pv, IDPrvBGCRevisit, "BGCRevisit", 22, 0, (*Decoder).bgcRevisit},
	{pv, IDPrvBGCOverflow, "BGCOverflow", 30, 0, (*Decoder).bgcOverflow},
	{pv, IDPrvBGCAllocWaitBegin, "BGCAllocWaitBegin", 6, 0, bgcAllocWait(false)},
	{pv, IDPrvBGCAllocWaitEnd, "BGCAllocWaitEnd", 6, 0, bgcAllocWait(true)},
	{pv, IDPrvGCFullNotify, "GCFullNotify", 8, 0, (*Decoder).fullNotify},
	{pv, IDPrvBGC1stSweepEnd, "BGC1stSweepEnd", 6, 0, (*Decoder).bgcSweepEnd},
	{pv, IDPrvFinalizeObject, "PrvFinalizeObject", 4, 2, (*Decoder).privateFinalizeObject},
	{pv, IDPrvSetGCHandle, "PrvSetGCHandle", 18, 2, (*Decoder).setHandle},
	{pv, IDPrvDestroyGCHandle, "PrvDestroyGCHandle", 2, 1, (*Decoder).destroyHandle},
	{pv, IDPrvPinPlugAtGCTime, "PinPlugAtGCTime", 2, 3, (*Decoder).pinPlug},

	{rd, IDRundownGCSettings, "GCSettingsRundown", 50, 0, (*Decoder).gcSettings},
	{rd, IDRundownRuntimeInformation, "RuntimeInformationDCStart", 45, 0, (*Decoder).runtimeInformation},
	{rc, IDRecordedProcess, "RecordedProcess", 16, 0, (*Decoder).recordedProcess},
}
