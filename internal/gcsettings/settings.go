// Package gcsettings knows the settings of the .NET garbage collector: their names in the
// environment and in runtimeconfig.json, how a runtime interprets their values, and why some have
// no effect. It reads no files and makes no requests.
//
// The basis of the rules is in docs/settings.md: most of it was observed on .NET Core 3.1, 8, 9, 10
// and NativeAOT 8, 9 by setting a value and querying the runtime (GC.GetConfigurationVariables,
// GCSettingsRundown).
package gcsettings

// Kind is how a setting is written.
type Kind uint8

// The kinds.
const (
	Bool   Kind = iota
	Number      // hexadecimal in the environment, decimal in runtimeconfig.json
	Text
)

var kindNames = [...]string{"switch", "number", "text"}

func (k Kind) String() string { return kindNames[k] }

// Unit is what a number counts.
type Unit uint8

// The units.
const (
	Plain Unit = iota
	Bytes
	Percent
	Mask
)

// A Setting is one that a runtime knows.
type Setting struct {
	Variable      string // in the environment, after the prefix; case-sensitive except on Windows
	Property      string // in runtimeconfig.json; "" if there is none
	Kind          Kind
	Unit          Unit
	Since         int    // first major version of the runtime that knows the variable
	PropertySince int    // the same for Property; 0: Since
	NumberSince   int    // first major version to which the switch is a number; 0: it is none to any
	Server        bool   // only server GC uses it
	Segments      bool   // only a GC with segments uses it: before .NET 7, and libclrgc.so
	Regions       bool   // only a GC with regions uses it: all others
	Datas         bool   // only DATAS uses it
	Default       string // what applies without it, for people
	About         string
}

// numbersLargePages is the first version to which GCLargePages is a number.
const numbersLargePages = 11

// Settings returns the table of all settings that are documented, or that people use. A test
// compares the table in docs/settings.md with it.
func Settings() []Setting {
	return []Setting{
		{
			Variable: "gcServer", Property: "System.GC.Server", Since: 3, Default: "off: workstation",
			About: "server GC: one heap and GC threads per processor",
		},
		{
			Variable: "gcConcurrent", Property: "System.GC.Concurrent", Since: 3, Default: "on",
			About: "background (concurrent) gen2 collections",
		},
		{
			Variable: "GCHeapCount", Property: "System.GC.HeapCount", Kind: Number, Since: 3, Server: true,
			Default: "one per processor; since .NET 9 as many as pay off (DATAS)",
			About:   "number of heaps and of GC threads; at most one per processor",
		},
		{
			Variable: "GCMaxHeapCount", Property: "System.GC.MaxHeapCount", Kind: Number, Since: 8, Server: true,
			Default: "the number of processors", About: "maximum number of heaps, also limits GCHeapCount",
		},
		{
			Variable: "GCNoAffinitize", Property: "System.GC.NoAffinitize", Since: 3, Server: true,
			Default: "off; on with a hard limit, unless processors are selected",
			About:   "do not affinitize GC threads to processors",
		},
		{
			Variable: "GCHeapAffinitizeMask", Property: "System.GC.HeapAffinitizeMask", Kind: Number, Unit: Mask,
			Since: 3, Server: true, Default: "all processors",
			About: "processors for GC threads, as a bit mask; Windows",
		},
		{
			Variable: "GCHeapAffinitizeRanges", Property: "System.GC.HeapAffinitizeRanges", Kind: Text, Since: 3,
			PropertySince: 5, Server: true, Default: "all processors", About: "processors for GC threads, as 0-3,8",
		},
		{
			Variable: "GCCpuGroup", Property: "System.GC.CpuGroup", Since: 3, PropertySince: 5, Server: true,
			Default: "off", About: "use all processor groups; Windows",
		},
		{
			Variable: "GCDynamicAdaptationMode", Property: "System.GC.DynamicAdaptationMode", Kind: Number, Since: 8,
			Server: true, Default: "1 (DATAS) since .NET 9, before 0; 0 if GCHeapCount is set",
			About: "adapt the number of heaps to the program (DATAS)",
		},
		{
			Variable: "GCDTargetTCP", Property: "System.GC.DTargetTCP", Kind: Number, Unit: Percent, Since: 9,
			Server: true, Datas: true, Default: "2%", About: "target share of time in GC for DATAS",
		},
		{
			Variable: "GCDGen0GrowthPercent", Property: "System.GC.DGen0GrowthPercent", Kind: Number, Unit: Percent,
			Since: 10, Server: true, Datas: true, Default: "100%",
			About: "how fast the gen0 budget may grow with DATAS",
		},
		{
			Variable: "GCDGen0GrowthMinFactor", Property: "System.GC.DGen0GrowthMinFactor", Kind: Number, Since: 10,
			Server: true, Datas: true, Default: "100",
			About: "minimum growth of the gen0 budget with DATAS, in thousandths",
		},
		{
			Variable: "GCDGen0GrowthMaxFactor", Property: "System.GC.DGen0GrowthMaxFactor", Kind: Number, Since: 10,
			Server: true, Datas: true, Default: "10000",
			About: "maximum growth of the gen0 budget with DATAS, in thousandths",
		},
		{
			Variable: "GCHeapHardLimit", Property: "System.GC.HeapHardLimit", Kind: Number, Unit: Bytes, Since: 3,
			Default: "none; in a container with a memory limit, and with GCTotalPhysicalMemory, 75% of that, at " +
				"least 20 MB",
			About: "maximum size of the heap",
		},
		{
			Variable: "GCHeapHardLimitPercent", Property: "System.GC.HeapHardLimitPercent", Kind: Number, Unit: Percent,
			Since: 3, Default: "none", About: "maximum size of the heap, as a share of the memory",
		},
		{
			Variable: "GCHeapHardLimitSOH", Property: "System.GC.HeapHardLimitSOH", Kind: Number, Unit: Bytes, Since: 5,
			Default: "none", About: "maximum size of the small object heap",
		},
		{
			Variable: "GCHeapHardLimitLOH", Property: "System.GC.HeapHardLimitLOH", Kind: Number, Unit: Bytes, Since: 5,
			Default: "none", About: "maximum size of the large object heap",
		},
		{
			Variable: "GCHeapHardLimitPOH", Property: "System.GC.HeapHardLimitPOH", Kind: Number, Unit: Bytes, Since: 5,
			Default: "none", About: "maximum size of the pinned object heap",
		},
		{
			Variable: "GCHeapHardLimitSOHPercent", Property: "System.GC.HeapHardLimitSOHPercent", Kind: Number,
			Unit: Percent, Since: 5, Default: "none",
			About: "maximum size of the small object heap, as a share of the memory",
		},
		{
			Variable: "GCHeapHardLimitLOHPercent", Property: "System.GC.HeapHardLimitLOHPercent", Kind: Number,
			Unit: Percent, Since: 5, Default: "none",
			About: "maximum size of the large object heap, as a share of the memory",
		},
		{
			Variable: "GCHeapHardLimitPOHPercent", Property: "System.GC.HeapHardLimitPOHPercent", Kind: Number,
			Unit: Percent, Since: 5, Default: "none",
			About: "maximum size of the pinned object heap, as a share of the memory",
		},
		{
			Variable: "GCTotalPhysicalMemory", Kind: Number, Unit: Bytes, Since: 5,
			Default: "memory of the machine or the container", About: "physical memory that the GC assumes",
		},
		{
			Variable: "GCHighMemPercent", Property: "System.GC.HighMemoryPercent", Kind: Number, Unit: Percent,
			Since: 3, PropertySince: 5, Default: "90%; up to 97% with more than 80 GB",
			About: "memory load from which the GC is more aggressive",
		},
		{
			Variable: "GCConserveMemory", Property: "System.GC.ConserveMemory", Kind: Number, Since: 6, Default: "0",
			About: "0 to 9: compact rather than let fragmentation grow",
		},
		{
			Variable: "GCRetainVM", Property: "System.GC.RetainVM", Since: 3, Default: "off",
			About: "keep free memory for later instead of returning it to the system",
		},
		{
			Variable: "GCLOHThreshold", Property: "System.GC.LOHThreshold", Kind: Number, Unit: Bytes, Since: 3,
			Default: "85000", About: "size from which an object is a large object",
		},
		{
			Variable: "GCgen0size", Kind: Number, Unit: Bytes, Since: 3, Default: "depends on the processor's cache",
			About: "minimum gen0 budget",
		},
		{
			Variable: "GCGen0MaxBudget", Property: "System.GC.Gen0MaxBudget", Kind: Number, Unit: Bytes, Since: 3,
			PropertySince: 10, Default: "depends on the processor's cache", About: "maximum gen0 budget",
		},
		{
			Variable: "GCGen1MaxBudget", Kind: Number, Unit: Bytes, Since: 5, Default: "chosen by the GC",
			About: "maximum gen1 budget",
		},
		{
			Variable: "GCSegmentSize", Kind: Number, Unit: Bytes, Since: 3, Segments: true,
			Default: "depends on the flavour and the number of processors", About: "size of a segment",
		},
		{
			Variable: "GCRegionRange", Property: "System.GC.RegionRange", Kind: Number, Unit: Bytes, Since: 7,
			PropertySince: 10, Regions: true,
			Default: "twice the memory of the machine, at least 256 GB (workstation GC of .NET 10 and later: no " +
				"minimum); five times a hard limit",
			About: "address space for regions",
		},
		{
			Variable: "GCRegionSize", Property: "System.GC.RegionSize", Kind: Number, Unit: Bytes, Since: 7,
			PropertySince: 10, Regions: true, Default: "4 MB; less if many heaps share little memory",
			About: "size of a region",
		},
		{
			Variable: "UOHWaitBGCSizeIncPercent", Property: "System.GC.UOHWaitBGCSizeIncPercent", Kind: Number,
			Unit: Percent, Since: 10, Regions: true, Default: "200%",
			About: "growth at which large allocations wait for a background collection",
		},
		{
			Variable: "GCLargePages", Property: "System.GC.LargePages", Since: 3, PropertySince: 5,
			NumberSince: numbersLargePages, Default: "off",
			About: "large pages, with a hard limit; since .NET 11 0, 1, or 2 for tests without large pages",
		},
		{
			Variable: "GCName", Property: "System.GC.Name", Kind: Text, Since: 3, PropertySince: 7,
			Default: "the GC of the runtime", About: "file name of another GC, in the directory of the runtime",
		},
		{
			Variable: "GCPath", Property: "System.GC.Path", Kind: Text, Since: 9, Default: "the GC of the runtime",
			About: "path of another GC",
		},
		{Variable: "GCLOHCompact", Kind: Number, Since: 3, Default: "0", About: "compaction of large objects"},
		{
			Variable: "GCLatencyMode", Kind: Number, Since: 3, Default: "depends on gcConcurrent",
			About: "initial latency mode, as GCSettings.LatencyMode",
		},
		{Variable: "GCLatencyLevel", Kind: Number, Since: 3, Default: "1", About: "0: small heap, 1: balanced"},
		{
			Variable: "GCTrimYoungestKeepPercent", Kind: Number, Unit: Percent, Since: 11, Default: "10%",
			About: "share of gen0 to keep when memory is returned, with GCLatencyLevel=0",
		},
		{
			Variable: "GCCompactRatio", Kind: Number, Unit: Percent, Since: 3, Default: "chosen by the GC",
			About: "share of compacting collections",
		},
	}
}

// internals are settings for the GC's own developers: all that is known of them is that they are
// not misspelt.
var internals = []string{
	"gcConservative", "gcForceCompact", "gcTrimCommitOnLowMemory", "GCBreakOnOOM", "GCLogEnabled", "GCLogFile",
	"GCLogFileSize", "GCConfigLogEnabled", "GCConfigLogFile", "GCNumaAware", "GCLOHDataAlignment", "GCProvModeStress",
	"GCLowSkipRatio", "GCEnableSpecialRegions", "GCEnabledInstructionSets", "GCWriteBarrier", "GCSpinCountUnit",
	"GCDBGCRatio", "GCCacheSizeFromSysConf", "GCStress", "GCStressMix", "GCMixLog", "GCgen1size", "BGCSpinCount",
	"BGCSpin", "BGCFLTuningEnabled", "BGCMemGoal", "BGCMemGoalSlack", "BGCFLSweepGoal", "BGCFLSweepGoalLOH", "BGCFLkp",
	"BGCFLki", "BGCFLkd", "BGCFLff", "BGCFLSmoothFactor", "BGCFLGradualD", "BGCMLkp", "BGCMLki", "BGCFLEnableKi",
	"BGCFLEnableKd", "BGCFLEnableSmooth", "BGCFLEnableTBH", "BGCFLEnableFF", "BGCG2RatioStep", "GCGenAnalysisGen",
	"GCGenAnalysisBytes", "GCGenAnalysisTimeUSec", "GCGenAnalysisTimeMSec", "GCGenAnalysisIndex", "GCGenAnalysisTrace",
	"GCGenAnalysisDump", "GCGenAnalysisCmd",
}
