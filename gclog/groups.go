package gclog

// Groups is a set of groups of fields of a GCDetails: those of a group are known together. A record
// has what the runtime reported until its collection ended; one that was read from a log has what
// the log contains.
type Groups uint64

// The groups. Behind the fields is what makes them known: events by their numbers as in GCDetails,
// with the first version of .NET that sends them if that is not .NET Core 3.1.
const (
	// GroupNumber is Number [R 1, or R 2 if the session saw only the end].
	GroupNumber Groups = 1 << iota
	// GroupReason is Reason [R 1].
	GroupReason
	// GroupEnd is End [R 2].
	GroupEnd
	// GroupTrigger is Trigger and Triggered [R 35].
	GroupTrigger
	// GroupSinceLast is SinceLast [R 4 of this collection and of the previous one].
	GroupSinceLast
	// GroupBefore is Before of the generations [R 204; without it, an estimate from R 4 of the previous
	// collection: BeforeEstimated].
	GroupBefore
	// GroupAfter is After of the generations [R 4].
	GroupAfter
	// GroupHistory is what the generations have from the heap histories: all but what other groups
	// are about [R 204 of all heaps].
	GroupHistory
	// GroupObjects is ObjectsBefore and ObjectsAfter of the generations [R 204 of all heaps].
	GroupObjects
	// GroupFragmentation is Fragmentation of the record [R 204 of all heaps].
	GroupFragmentation
	// GroupPromoted is PromotedBytes [R 4 and, from .NET 5 on, R 204 if pinned objects were collected].
	GroupPromoted
	// GroupGenerationPromoted is Promoted of the generations, pinned objects excepted: only
	// GroupHistory has theirs [R 4, or R 204 for background collections].
	GroupGenerationPromoted
	// GroupCommittedBefore is CommittedBefore [R 39 CommittedUsage, from .NET 8 on].
	GroupCommittedBefore
	// GroupCommittedAfter is CommittedAfter, of blocking collections [R 39 CommittedUsage, from .NET 8 on].
	GroupCommittedAfter
	// GroupAllocated is Allocated of the record [R 204 of this collection and of the previous one].
	GroupAllocated
	// GroupGenerationAllocated is Allocated of the generations [the same].
	GroupGenerationAllocated
	// GroupTicks is TickAllocated [R 10, at level full].
	GroupTicks
	// GroupGlobal is Global [R 205]. Logs may have its number of heaps, memory load and condemned
	// generation without the rest.
	GroupGlobal
	// GroupCompaction is whether Global.Mechanisms say that objects were compacted [R 205].
	GroupCompaction
	// GroupPinned is PinnedObjects [R 4].
	GroupPinned
	// GroupHandles is Handles [R 4 with a number that is not negative].
	GroupHandles
	// GroupSyncBlocks is SyncBlocks [R 4].
	GroupSyncBlocks
	// GroupFinalizationCount is FinalizationCount [R 4].
	GroupFinalizationCount
	// GroupFinalizationSize is FinalizationSize [R 4 with a valid size].
	GroupFinalizationSize
	// GroupSegments is Segments.Created to FreedBytes [R 5, 6, seen in the session so far].
	GroupSegments
	// GroupReserved is Segments.Reserved, Used and Count [R 23, keyword 0x400000].
	GroupReserved
	// GroupFinalizers is Finalizers.Runs and Objects [R 13, 14, seen in the session so far].
	GroupFinalizers
	// GroupLongestFinalizers is Finalizers.Longest [R 13 and 14 of all runs, no events lost].
	GroupLongestFinalizers
	// GroupDatasSample is Datas.Sample [R 39 SizeAdaptationSample, from .NET 9 on].
	GroupDatasSample
	// GroupDatasTuning is Datas.Tuning [R 39 SizeAdaptationTuning, from .NET 9 on].
	GroupDatasTuning
	// GroupDatasFullGCTuning is Datas.FullGCTuning [R 39 SizeAdaptationFullGCTuning, from .NET 9 on].
	GroupDatasFullGCTuning
	// GroupDatasTuning8 is Datas.Tuning8 [R 39 HeapCountTuning, .NET 8 only].
	GroupDatasTuning8
	// GroupDatasSample8 is Datas.Sample8 [R 39 HeapCountSample, .NET 8 only].
	GroupDatasSample8

	// GroupsDatas are all groups of Datas.
	GroupsDatas = GroupDatasSample | GroupDatasTuning | GroupDatasFullGCTuning | GroupDatasTuning8 | GroupDatasSample8
)

// Has reports whether all groups of g are known.
func (k Groups) Has(g Groups) bool { return k&g == g }

// Set adds the groups of g if they are known, and removes them otherwise.
func (k *Groups) Set(g Groups, known bool) {
	if *k &^= g; known {
		*k |= g
	}
}
