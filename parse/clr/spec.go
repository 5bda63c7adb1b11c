package clr

import "slices"

// An event is an Event that fills itself in. If the payload is too short, p.bad is set afterwards.
type event interface {
	Event
	decode(p *payload, version int)
}

// A spec describes a kind of event. A new event needs a row in the table below, a struct, and a
// method that fills the struct in.
type spec struct {
	provider string
	id       int
	name     string // its name in the runtime's manifest
	bytes    int    // minimum length of the payload, without its pointers
	pointers int    // number of pointers in it
	event    event  // the struct as it is before it is filled in; each Decoder has its own copy
}

func (s *spec) least(pointerSize int) int { return s.bytes + s.pointers*pointerSize }

// find returns the index in specs of a kind of event, or -1.
func find(provider string, id int) int {
	return slices.IndexFunc(specs[:], func(s spec) bool { return s.id == id && s.provider == provider })
}

// Name returns the runtime's name of an event, or "" if this package does not know the event.
// Native runtime events do not contain their names.
func Name(provider string, id int) string {
	if i := find(provider, id); i >= 0 {
		return specs[i].name
	}
	return ""
}

const (
	rt = RuntimeProvider
	pv = PrivateProvider
	rd = RundownProvider
	ep = EventPipeProvider
	rc = RecordingProvider
	mt = MetricsProvider
)

var specs = [...]spec{
	{rt, IDGCStart, "GCStart", 8, 0, &GCStart{}},
	{rt, IDGCEnd, "GCEnd", 6, 0, &GCEnd{}},
	{rt, IDGCRestartEEEnd, "GCRestartEEEnd", 0, 0, &GCRestartEEEnd{}},
	{rt, IDGCHeapStats, "GCHeapStats", 92, 0, &GCHeapStats{}},
	{rt, IDGCCreateSegment, "GCCreateSegment", 20, 0, &GCCreateSegment{}},
	{rt, IDGCFreeSegment, "GCFreeSegment", 8, 0, &GCFreeSegment{}},
	{rt, IDGCRestartEEBegin, "GCRestartEEBegin", 0, 0, &GCRestartEEBegin{}},
	{rt, IDGCSuspendEEEnd, "GCSuspendEEEnd", 0, 0, &GCSuspendEEEnd{}},
	{rt, IDGCSuspendEEBegin, "GCSuspendEEBegin", 2, 0, &GCSuspendEEBegin{}},
	{rt, IDGCAllocationTick, "GCAllocationTick", 8, 0, &GCAllocationTick{}},
	{rt, IDGCCreateConcurrentThread, "GCCreateConcurrentThread", 0, 0, &GCCreateConcurrentThread{}},
	{rt, IDGCTerminateConcurrentThread, "GCTerminateConcurrentThread", 0, 0, &GCTerminateConcurrentThread{}},
	{rt, IDGCFinalizersEnd, "GCFinalizersEnd", 4, 0, &GCFinalizersEnd{}},
	{rt, IDGCFinalizersBegin, "GCFinalizersBegin", 0, 0, &GCFinalizersBegin{}},
	{rt, IDBulkType, "BulkType", 6, 0, &BulkType{}},
	{rt, IDGCBulkRootEdge, "GCBulkRootEdge", 10, 0, &GCBulkRootEdge{bulk{indexed: true, pointers: 2, bytes: 5}}},
	{
		rt, IDGCBulkRootConditionalEdge, "GCBulkRootConditionalWeakTableElementEdge", 10, 0,
		&GCBulkConditionalEdge{bulk{indexed: true, pointers: 3}},
	},
	{rt, IDGCBulkNode, "GCBulkNode", 10, 0, &GCBulkNode{bulk{indexed: true, pointers: 1, bytes: 24}}},
	{rt, IDGCBulkEdge, "GCBulkEdge", 10, 0, &GCBulkEdge{bulk{indexed: true, pointers: 1, bytes: 4}}},
	{rt, IDGCSampledObjectHigh, "GCSampledObjectAllocationHigh", 14, 2, &SampledObjectAllocation{}},
	{
		rt, IDGCBulkSurvivingRanges, "GCBulkSurvivingObjectRanges", 10, 0,
		&GCBulkSurvivingRanges{bulk{indexed: true, pointers: 1, bytes: 8}},
	},
	{
		rt, IDGCBulkMovedRanges, "GCBulkMovedObjectRanges", 10, 0,
		&GCBulkMovedRanges{bulk{indexed: true, pointers: 2, bytes: 8}},
	},
	{rt, IDGCGenerationRange, "GCGenerationRange", 19, 1, &GCGenerationRange{}},
	{rt, IDGCMarkStackRoots, "GCMarkStackRoots", 6, 0, &GCMarkRoots{Type: MarkStack}},
	{rt, IDGCMarkFinalizeQueueRoots, "GCMarkFinalizeQueueRoots", 6, 0, &GCMarkRoots{Type: MarkFinalizerQueue}},
	{rt, IDGCMarkHandles, "GCMarkHandles", 6, 0, &GCMarkRoots{Type: MarkHandles}},
	{rt, IDGCMarkOlderGenRoots, "GCMarkOlderGenerationRoots", 6, 0, &GCMarkRoots{Type: MarkOlderGenerations}},
	{rt, IDFinalizeObject, "FinalizeObject", 2, 2, &FinalizeObject{}},
	{rt, IDSetGCHandle, "SetGCHandle", 18, 2, &SetGCHandle{}},
	{rt, IDDestroyGCHandle, "DestroyGCHandle", 2, 1, &DestroyGCHandle{}},
	{rt, IDGCSampledObjectLow, "GCSampledObjectAllocationLow", 14, 2, &SampledObjectAllocation{}},
	{rt, IDPinObjectAtGCTime, "PinObjectAtGCTime", 12, 2, &PinObjectAtGCTime{}},
	{rt, IDPinPlugAtGCTime, "PinPlugAtGCTime", 2, 3, &PinPlugAtGCTime{}},
	{rt, IDGCTriggered, "GCTriggered", 6, 0, &GCTriggered{}},
	{rt, IDGCBulkRootCCW, "GCBulkRootCCW", 6, 0, &GCBulkRootCCW{bulk{bytes: 4*8 + 3*4}}},
	{rt, IDGCBulkRCW, "GCBulkRCW", 6, 0, &GCBulkRCW{bulk{bytes: 4*8 + 2*4}}},
	{rt, IDGCBulkRootStaticVar, "GCBulkRootStaticVar", 14, 0, &GCBulkRootStaticVar{}},
	{rt, IDGCDynamicEvent, "GCDynamicEvent", 6, 0, &GCDynamicEvent{}},
	{rt, IDContentionStop, "ContentionStop", 3, 0, &ContentionStop{}},
	{rt, IDMethodLoad, "MethodLoadVerbose", 44, 0, &Method{}},
	{rt, IDMethodUnload, "MethodUnloadVerbose", 44, 0, &Method{}},
	{rt, IDModuleLoad, "ModuleLoad", 30, 0, &Module{}},
	{rt, IDR2REntryPoint, "R2RGetEntryPoint", 24, 0, &R2REntryPoint{}},
	{rt, IDRuntimeInformation, "RuntimeInformationStart", 45, 0, &RuntimeInformation{}},
	{rt, IDIncreaseMemoryPressure, "IncreaseMemoryPressure", 10, 0, &MemoryPressure{}},
	{rt, IDDecreaseMemoryPressure, "DecreaseMemoryPressure", 10, 0, &MemoryPressure{Removed: true}},
	{rt, IDGCMarkWithType, "GCMarkWithType", 18, 0, &GCMarkWithType{}},
	{rt, IDGCJoin, "GCJoin", 14, 0, &GCJoin{}},
	{rt, IDGCPerHeapHistory, "GCPerHeapHistory", 30, 17, &GCPerHeapHistory{}},
	{rt, IDGCGlobalHeapHistory, "GCGlobalHeapHistory", 28, 0, &GCGlobalHeapHistory{}},
	{rt, IDGenAwareBegin, "GenAwareBegin", 6, 0, &GenAware{}},
	{rt, IDGenAwareEnd, "GenAwareEnd", 6, 0, &GenAware{End: true}},
	{rt, IDGCLOHCompact, "GCLOHCompact", 4, 0, &GCLOHCompact{}},
	{rt, IDGCFitBucketInfo, "GCFitBucketInfo", 14, 0, &GCFitBucketInfo{}},
	{rt, IDAllocationSampled, "AllocationSampled", 24, 2, &AllocationSampled{}},

	{pv, IDPrvGCSettings, "PrvGCSettings", 20, 0, &PrvGCSettings{}},
	{pv, IDPrvBGCBegin, "BGCBegin", 0, 0, &BGCPhaseEvent{Phase: BGCBegin}},
	{pv, IDPrvBGC1stNonConEnd, "BGC1stNonConEnd", 0, 0, &BGCPhaseEvent{Phase: BGCInitialPauseEnd}},
	{pv, IDPrvBGC1stConEnd, "BGC1stConEnd", 0, 0, &BGCPhaseEvent{Phase: BGCConcurrentMarkEnd}},
	{pv, IDPrvBGC2ndNonConBegin, "BGC2ndNonConBegin", 0, 0, &BGCPhaseEvent{Phase: BGCFinalPauseBegin}},
	{pv, IDPrvBGC2ndNonConEnd, "BGC2ndNonConEnd", 0, 0, &BGCPhaseEvent{Phase: BGCFinalPauseEnd}},
	{pv, IDPrvBGC2ndConBegin, "BGC2ndConBegin", 0, 0, &BGCPhaseEvent{Phase: BGCSweepBegin}},
	{pv, IDPrvBGC2ndConEnd, "BGC2ndConEnd", 0, 0, &BGCPhaseEvent{Phase: BGCSweepEnd}},
	{pv, IDPrvBGCPlanEnd, "BGCPlanEnd", 0, 0, &BGCPhaseEvent{Phase: BGCPlanEnd}},
	{pv, IDPrvBGCSweepEnd, "BGCSweepEnd", 0, 0, &BGCPhaseEvent{Phase: BGCOldSweepEnd}},
	{pv, IDPrvBGCDrainMark, "BGCDrainMark", 10, 0, &BGCDrainMark{}},
	{pv, IDPrvBGCRevisit, "BGCRevisit", 22, 0, &BGCRevisit{}},
	{pv, IDPrvBGCOverflow, "BGCOverflow", 30, 0, &BGCOverflow{}},
	{pv, IDPrvBGCAllocWaitBegin, "BGCAllocWaitBegin", 6, 0, &BGCAllocWait{}},
	{pv, IDPrvBGCAllocWaitEnd, "BGCAllocWaitEnd", 6, 0, &BGCAllocWait{End: true}},
	{pv, IDPrvGCFullNotify, "GCFullNotify", 8, 0, &GCFullNotify{}},
	{pv, IDPrvBGC1stSweepEnd, "BGC1stSweepEnd", 6, 0, &BGC1stSweepEnd{}},
	{pv, IDPrvFinalizeObject, "PrvFinalizeObject", 4, 2, &FinalizeObject{named: true}},
	{pv, IDPrvSetGCHandle, "PrvSetGCHandle", 18, 2, &SetGCHandle{}},
	{pv, IDPrvDestroyGCHandle, "PrvDestroyGCHandle", 2, 1, &DestroyGCHandle{}},
	{pv, IDPrvPinPlugAtGCTime, "PinPlugAtGCTime", 2, 3, &PinPlugAtGCTime{}},

	{rd, IDRundownGCSettings, "GCSettingsRundown", 50, 0, &GCSettings{}},
	{rd, IDRundownModuleDCStart, "ModuleDCStart", 30, 0, &Module{}},
	{rd, IDRundownMethodDCEnd, "MethodDCEndVerbose", 44, 0, &Method{}},
	{rd, IDRundownEnd, "MethodDCEndComplete", 2, 0, &RundownMark{End: true}},
	{rd, IDRundownStart, "MethodDCEndInit", 2, 0, &RundownMark{}},
	{rd, IDRundownModuleDCEnd, "ModuleDCEnd", 30, 0, &Module{}},
	{rd, IDRundownRuntimeInformation, "RuntimeInformationDCStart", 45, 0, &RuntimeInformation{}},
	{ep, IDProcessInfo, "ProcessInfo", 2, 0, &ProcessInfo{}},
	{rc, IDRecordedProcess, "RecordedProcess", 16, 0, &RecordedProcess{}},

	{mt, IDCollectionStart, "CollectionStart", 18, 0, &CollectionMark{}},
	{mt, IDCollectionStop, "CollectionStop", 18, 0, &CollectionMark{End: true}},
	{mt, IDCounterRate, "CounterRateValuePublished", 14, 0, &InstrumentValue{}},
	{mt, IDGauge, "GaugeValuePublished", 14, 0, &InstrumentValue{Kind: InstrumentGauge}},
	{mt, IDHistogram, "HistogramValuePublished", 14, 0, &InstrumentValue{Kind: InstrumentHistogram}},
	{mt, IDBeginInstrument, "BeginInstrumentReporting", 4, 0, &BeginInstrument{}},
	{mt, IDMetricsError, "Error", 0, 0, &MetricsFault{}},
	{mt, IDTimeSeriesLimit, "TimeSeriesLimitReached", 0, 0, &MetricsFault{Problem: ProblemTimeSeries}},
	{mt, IDHistogramLimit, "HistogramLimitReached", 0, 0, &MetricsFault{Problem: ProblemHistograms}},
	{mt, IDInstrumentError, "ObservableInstrumentCallbackError", 0, 0, &MetricsFault{Problem: ProblemInstrument}},
	{mt, IDSessionsNotSupported, "MultipleSessionsNotSupportedError", 0, 0, &MetricsFault{Problem: ProblemOtherTool}},
	{
		mt, IDUpDownCounterRate, "UpDownCounterRateValuePublished", 14, 0,
		&InstrumentValue{Kind: InstrumentUpDownCounter},
	},
	{
		mt, IDSessionsNotConfigured, "MultipleSessionsConfiguredIncorrectlyError", 0, 0,
		&MetricsFault{Problem: ProblemOtherLimits},
	},

	// Of any provider, with any id: see Decoder.look.
	{"", 0, eventCounters, 4 + 2 + 12 + 8, 0, &EventCounter{}},
}
