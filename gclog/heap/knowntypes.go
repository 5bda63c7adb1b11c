package heap

import (
	"slices"
	"strings"
)

// The types of .NET that the code knows by name. A new version of .NET may rename any of them, and then
// the code that depends on the name finds nothing: so all are here, with the versions in whose recordings each was met,
// and TestKnownTypes says which is not where it was. Elsewhere the code uses the names of this file.
//
// The name of a nested class has its outer classes here, which the stream leaves out (isClass). The C#
// keywords of clr.Keyword are the language's.
const (
	// Values and references.
	objectClass = "System.Object"
	stringClass = "System.String"
	int32Class  = "System.Int32"
	arrayClass  = "System.Array" // as the type of a field

	// Callbacks.
	delegateList       = "System.Delegate+Wrapper" // the elements of the list of a delegate with several targets
	timerClass         = "System.Threading.Timer"
	queuedTimer        = "System.Threading.TimerQueueTimer"
	cancellationSource = "System.Threading.CancellationTokenSource"
	threading          = "System.Threading."
	tasks              = "System.Threading.Tasks."

	// Asynchronous methods.
	machineBox    = "StateMachineBox"          // the end of the names of several classes
	completedTask = "s_taskCompletionSentinel" // a static field of Task

	// Collections.
	collections        = "System.Collections."
	dictionaryClass    = "System.Collections.Generic.Dictionary"
	hashSetClass       = "System.Collections.Generic.HashSet"
	queueClass         = "System.Collections.Generic.Queue"
	oldQueue           = "System.Collections.Queue"
	concurrentQueue    = "System.Collections.Concurrent.ConcurrentQueue"
	blockingCollection = "System.Collections.Concurrent.BlockingCollection"
	weakTable          = "System.Runtime.CompilerServices.ConditionalWeakTable"
	workQueue          = "System.Threading.ThreadPoolWorkQueue"
	channels           = "System.Threading.Channels."

	// Parts of collections: nodes, and the elements of arrays. The ends are those of names in collections.
	nodeEnd         = "Node"
	segmentEnd      = "Segment"
	comparerEnd     = "Comparer"
	dictionaryEntry = "System.Collections.Generic.Dictionary+Entry"
	hashSetEntry    = "System.Collections.Generic.HashSet+Entry"
	hashSetSlot     = "System.Collections.Generic.HashSet+Slot" // of .NET Core 3.1
	queueSlot       = "System.Collections.Concurrent.ConcurrentQueueSegment+Slot"
	concurrentNode  = "System.Collections.Concurrent.ConcurrentDictionary+Node"
	concurrentSlot  = "System.Collections.Concurrent.ConcurrentDictionary+VolatileNode"
	concurrentTable = "System.Collections.Concurrent.ConcurrentDictionary+Tables"
	hashtableBucket = "System.Collections.Hashtable+Bucket"
	weakContainer   = "System.Runtime.CompilerServices.ConditionalWeakTable+Container"
	weakEntry       = "System.Runtime.CompilerServices.ConditionalWeakTable+Entry"

	// Types and assemblies.
	loaderAllocator  = "System.Reflection.LoaderAllocator"
	runtimeType      = "System.RuntimeType"
	reflection       = "System.Reflection."
	runtimeNamespace = "System.Runtime."

	// Libraries besides the base library.
	memoryCache  = "Microsoft.Extensions.Caching.Memory."
	runtimeCache = "System.Runtime.Caching."
	serviceScope = "Microsoft.Extensions.DependencyInjection.ServiceLookup.ServiceProviderEngineScope"

	// Runtime async, of .NET 11.
	continuation       = compilerServices + "Continuation"
	taskContinuation   = compilerServices + "RuntimeAsyncTaskContinuation"             // waits for a Task
	sourceContinuation = compilerServices + "AsyncHelpers+ValueTaskSourceContinuation" // waits for a ValueTask
	runtimeAsyncTask   = compilerServices + "AsyncHelpers+RuntimeAsyncTask"
	runtimeAsyncState  = compilerServices + "AsyncHelpers+RuntimeAsyncAwaitState" // state of a thread
	compilerServices   = "System.Runtime.CompilerServices."
)

// ObjectArray is the type of the arrays in which the runtime keeps static fields, and those of threads.
const ObjectArray = objectClass + "[]"

// libraries are the first parts of the namespaces of .NET.
var libraries = []string{"System", "Microsoft", "Internal", "Interop", "Windows"}

// OfLibrary reports whether a name is that of a class in a namespace of .NET.
func OfLibrary(name string) bool {
	first, _, ok := strings.Cut(name, ".")
	return ok && slices.Contains(libraries, first)
}

// collectionParts are the classes that are parts of collections besides those that isInternal knows.
var collectionParts = []string{
	dictionaryEntry, hashSetEntry, hashSetSlot, queueSlot, concurrentNode, concurrentSlot, concurrentTable,
	hashtableBucket, weakContainer, weakEntry,
}

// isCollectionPart reports whether a class is one of collectionParts.
func isCollectionPart(class string) bool {
	return class != "" && slices.ContainsFunc(collectionParts, func(part string) bool { return isClass(class, part) })
}

// A knownType is a row of the table: a class, a namespace, the end of the names of classes, or a field.
type knownType struct {
	name string
	kind knownKind
	use  string // what depends on it
	seen string // the versions of .NET in whose recordings it was met; "": none of them has it
}

type knownKind int

const (
	knownClass knownKind = iota
	knownNamespace
	knownEnd
	knownField
)

// knownTypes is the table. Of nested classes a recording has the last name only.
var knownTypes = []knownType{
	{objectClass, knownClass, "events up to .NET 10; statics; suspects", "3.1 8 9 10 11"},
	{stringClass, knownClass, "strings", "3.1 8 9 10 11"},
	{int32Class, knownClass, "overallocated", "3.1 8 9 10 11"},
	{arrayClass, knownClass, "names of static fields", "9 10"},
	{delegateList, knownClass, "event-handlers", "11"},
	{timerClass, knownClass, "timers; suspects", "9 10 11"},
	{queuedTimer, knownClass, "timers; suspects", "9 10 11"},
	{cancellationSource, knownClass, "suspects", "9 10 11"},
	{threading, knownNamespace, "timers", "3.1 8 9 10 11"},
	{tasks, knownNamespace, "timers", "9 10 11"},
	{machineBox, knownEnd, "pending-async; suspects; names", "9 10 11"},
	{completedTask, knownField, "pending-async", "9 10 11"},
	{continuation, knownClass, "pending-async; suspects; layouts", "11"},
	{taskContinuation, knownClass, "pending-async; suspects", "11"},
	{sourceContinuation, knownClass, "pending-async; suspects", ""},
	{runtimeAsyncTask, knownClass, "pending-async; suspects", "11"},
	{runtimeAsyncState, knownClass, "pending-async", "11"},
	{collections, knownNamespace, "collections; overallocated; suspects", "3.1 8 9 10 11"},
	{dictionaryClass, knownClass, "overallocated", "3.1 8 9 10 11"},
	{hashSetClass, knownClass, "overallocated", "8 9 10 11"},
	{queueClass, knownClass, "suspects", "9 10"},
	{oldQueue, knownClass, "suspects", ""},
	{concurrentQueue, knownClass, "suspects", "9 10 11"},
	{blockingCollection, knownClass, "suspects", ""},
	{weakTable, knownClass, "suspects", "3.1 8 9 10 11"},
	{workQueue, knownClass, "suspects", "9 10 11"},
	{channels, knownNamespace, "suspects", "9 10 11"},
	{nodeEnd, knownEnd, "collections", ""},
	{segmentEnd, knownEnd, "collections", "9 10 11"},
	{comparerEnd, knownEnd, "collections", "3.1 8 9 10 11"},
	{dictionaryEntry, knownClass, "collections; overallocated", "3.1 8 9 10 11"},
	{hashSetEntry, knownClass, "collections; overallocated", "3.1 8 9 10 11"},
	{hashSetSlot, knownClass, "collections; overallocated", "9 10 11"},
	{queueSlot, knownClass, "collections", "9 10 11"},
	{concurrentNode, knownClass, "collections", "9 10 11"},
	{concurrentSlot, knownClass, "collections", "9 10 11"},
	{concurrentTable, knownClass, "collections", "9 10 11"},
	{hashtableBucket, knownClass, "collections", "9 10"},
	{weakContainer, knownClass, "collections", "3.1 8 9 10 11"},
	{weakEntry, knownClass, "collections", "3.1 8 9 10 11"},
	{loaderAllocator, knownClass, "collectible-types; event-handlers", "3.1 8 9 10 11"},
	{runtimeType, knownClass, "collectible-types", "3.1 8 9 10 11"},
	{reflection, knownNamespace, "collectible-types", "3.1 8 9 10 11"},
	{runtimeNamespace, knownNamespace, "collectible-types", "3.1 8 9 10 11"},
	{memoryCache, knownNamespace, "suspects", "9 10"},
	{runtimeCache, knownNamespace, "suspects", ""},
	{serviceScope, knownClass, "suspects", "9 10"},
}
