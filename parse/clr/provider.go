package clr

// The providers of the runtime.
const (
	RuntimeProvider = "Microsoft-Windows-DotNETRuntime"
	PrivateProvider = "Microsoft-Windows-DotNETRuntimePrivate"
	RundownProvider = "Microsoft-Windows-DotNETRuntimeRundown"
)

// Keywords of the runtime provider; KeywordGC is also that of the private provider.
const (
	KeywordGC                = 0x1
	KeywordGCHandle          = 0x2
	KeywordJIT               = 0x10 // methods that are compiled
	KeywordContention        = 0x4000
	KeywordType              = 0x80000
	KeywordGCHeapDump        = 0x100000
	KeywordGCSurvival        = 0x400000
	KeywordGCHeapCollect     = 0x800000 // has a side effect: a full blocking collection
	KeywordGCHeapAndType     = 0x1000000
	KeywordR2REntryPoint     = 0x2000000000 // precompiled methods, when they are first used
	KeywordAllocationSampled = 0x80000000000
)

// Levels of events. A higher level includes the lower ones.
const (
	LevelCritical      = 1
	LevelError         = 2
	LevelWarning       = 3
	LevelInformational = 4
	LevelVerbose       = 5
)

// Event ids of the runtime provider.
const (
	IDGCStart                     = 1
	IDGCEnd                       = 2
	IDGCRestartEEEnd              = 3
	IDGCHeapStats                 = 4
	IDGCCreateSegment             = 5
	IDGCFreeSegment               = 6
	IDGCRestartEEBegin            = 7
	IDGCSuspendEEEnd              = 8
	IDGCSuspendEEBegin            = 9
	IDGCAllocationTick            = 10
	IDGCCreateConcurrentThread    = 11
	IDGCTerminateConcurrentThread = 12
	IDGCFinalizersEnd             = 13
	IDGCFinalizersBegin           = 14
	IDBulkType                    = 15
	IDGCBulkRootEdge              = 16
	IDGCBulkRootConditionalEdge   = 17
	IDGCBulkNode                  = 18
	IDGCBulkEdge                  = 19
	IDGCSampledObjectHigh         = 20
	IDGCBulkSurvivingRanges       = 21
	IDGCBulkMovedRanges           = 22
	IDGCGenerationRange           = 23
	IDGCMarkStackRoots            = 25
	IDGCMarkFinalizeQueueRoots    = 26
	IDGCMarkHandles               = 27
	IDGCMarkOlderGenRoots         = 28
	IDFinalizeObject              = 29
	IDSetGCHandle                 = 30
	IDDestroyGCHandle             = 31
	IDGCSampledObjectLow          = 32
	IDPinObjectAtGCTime           = 33
	IDPinPlugAtGCTime             = 34
	IDGCTriggered                 = 35
	IDGCBulkRootCCW               = 36
	IDGCBulkRCW                   = 37
	IDGCBulkRootStaticVar         = 38
	IDGCDynamicEvent              = 39
	IDContentionStart             = 81
	IDContentionLockCreated       = 90
	IDContentionStop              = 91
	IDMethodLoad                  = 143
	IDMethodUnload                = 144
	IDModuleLoad                  = 152
	IDR2REntryPoint               = 159
	IDRuntimeInformation          = 187
	IDIncreaseMemoryPressure      = 200
	IDDecreaseMemoryPressure      = 201
	IDGCMarkWithType              = 202
	IDGCJoin                      = 203
	IDGCPerHeapHistory            = 204
	IDGCGlobalHeapHistory         = 205
	IDGenAwareBegin               = 206
	IDGenAwareEnd                 = 207
	IDGCLOHCompact                = 208
	IDGCFitBucketInfo             = 209
	IDAllocationSampled           = 303
)

// Event ids of the private provider.
const (
	IDPrvGCSettings        = 2
	IDPrvBGCBegin          = 11
	IDPrvBGC1stNonConEnd   = 12
	IDPrvBGC1stConEnd      = 13
	IDPrvBGC2ndNonConBegin = 14
	IDPrvBGC2ndNonConEnd   = 15
	IDPrvBGC2ndConBegin    = 16
	IDPrvBGC2ndConEnd      = 17
	IDPrvBGCPlanEnd        = 18
	IDPrvBGCSweepEnd       = 19
	IDPrvBGCDrainMark      = 20
	IDPrvBGCRevisit        = 21
	IDPrvBGCOverflow       = 22
	IDPrvBGCAllocWaitBegin = 23
	IDPrvBGCAllocWaitEnd   = 24
	IDPrvGCFullNotify      = 25
	IDPrvBGC1stSweepEnd    = 26
	IDPrvFinalizeObject    = 192
	IDPrvSetGCHandle       = 194
	IDPrvDestroyGCHandle   = 195
	IDPrvPinPlugAtGCTime   = 199
)

// Event ids of the rundown provider.
const (
	IDRundownGCSettings         = 10
	IDRundownModuleDCStart      = 153
	IDRundownMethodDCEnd        = 144
	IDRundownEnd                = 146
	IDRundownStart              = 148
	IDRundownModuleDCEnd        = 154
	IDRundownRuntimeInformation = 187
)

// EventPipeProvider describes the stream itself.
const EventPipeProvider = "Microsoft-DotNETCore-EventPipe"

// IDProcessInfo is the event id of ProcessInfo.
const IDProcessInfo = 1

// RecordingProvider is not a provider of the runtime: gclog writes its own events into recordings
// for facts that the stream does not contain.
const RecordingProvider = "gclog"

// Event ids of the recording provider.
const (
	IDRecordedProcess = 1
	IDRecordedThread  = 2 // without a payload: see AppendRecordedThreadMetadata
)
