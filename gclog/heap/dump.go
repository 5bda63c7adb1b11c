package heap

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gclog/gclog/parse/clr"
)

// DumpInfo is what a .gcdump file contains besides the Graph. What is unknown has the zero value.
type DumpInfo struct {
	Tool       string    // the tool that wrote the file; WriteDump: "" for gclog
	Log        string    // how the snapshot was taken, as text: PerfView shows it
	Time       time.Time // of the collection; WriteDump: zero for that of the Graph
	Machine    string
	Process    string // the name of its program; WriteDump: "" for that of the Graph
	ProcessID  int    // WriteDump: 0 for that of the Graph
	Commit     int64  // memory of the process in bytes
	WorkingSet int64

	// Modules has the paths of the modules by Type.Module. ReadDump makes up the ids if the file only
	// contains paths. If it is nil, those of the Graph are written.
	Modules Modules

	// A file of PerfView may be a sample of a large heap. The number of objects of a type, and its
	// bytes, are those of the Graph, multiplied by the entry for the index of the type in
	// Graph.Types. It is nil if the file contains all objects.
	Multipliers []float32
	// Averages of all types in a sample, else 1.
	CountMultiplier, SizeMultiplier float32

	// Undefined is the number of objects that the file mentions but does not describe. They are not
	// in the Graph, and neither are references to them. WriteDump ignores it.
	Undefined int
}

// at returns the time that a file has.
func (g *Graph) at(info *DumpInfo) time.Time {
	if info.Time.IsZero() {
		return g.Time
	}
	return info.Time
}

// IsDump reports whether r starts as a .gcdump file does. It reads nothing from r.
func IsDump(r interface{ Peek(int) ([]byte, error) }) bool {
	head, _ := r.Peek(4 + len(dumpMagic))
	return len(head) > 4 && string(head[4:]) == dumpMagic
}

// A FormatError reports that a .gcdump file violates the format, and where.
//
// errors.Is(err, io.ErrUnexpectedEOF) distinguishes a file that is merely truncated from one with
// wrong bytes.
type FormatError struct {
	Offset int64  // in bytes from the start of the file
	Msg    string // what was found and what was expected
	Err    error  // io.ErrUnexpectedEOF for a truncated file, else nil
}

func (e *FormatError) Error() string {
	word := "corrupt"
	if errors.Is(e.Err, io.ErrUnexpectedEOF) {
		word = "truncated"
	}
	return fmt.Sprintf(".gcdump file is %s at byte %d: %s", word, e.Offset, e.Msg)
}

// Unwrap returns Err.
func (e *FormatError) Unwrap() error { return e.Err }

// A KindError reports that the input is not a .gcdump file, or one of a version that this package
// does not read.
type KindError struct {
	Found string // what the input is, as part of a sentence: "a Windows ETW log (.etl)"
}

func (e *KindError) Error() string { return "not a .gcdump file that can be read: this is " + e.Found }

// A class is a class of Microsoft's FastSerialization container.
type class struct {
	name               string
	version, minReader int32
}

// The classes in a .gcdump file, with the versions that WriteDump writes.
var (
	classDump    = class{"GCHeapDump", 10, 8}
	classGraph   = class{"Graphs.MemoryGraph", 1, 0}
	classHeap    = class{"DotNetHeapInfo", 0, 0}
	classSegment = class{"GCHeapDumpSegment", 1, 1}
	classModule  = class{"Graphs.Module", 0, 0}
	classJS      = class{"JSHeapInfo", 0, 0}
	classInterop = class{"InteropInfo", 0, 0}
)

const (
	dumpMagic    = "!FastSerialization.1"
	oldestDump   = 4 // version of GCHeapDump
	refusedDump  = 8 // PerfView refuses it too
	privateMagic = "gclog.heap"
)

// The tags of the container.
const (
	tagNull    = 1
	tagLabel   = 2
	tagObject  = 4
	tagEnd     = 6
	tagByte    = 8
	tagInt16   = 9
	tagInt32   = 10
	tagInt64   = 11
	tagSkip    = 12
	tagString  = 13
	tagPrivate = 14 // a blob
)

// A nodeType is a type in a file.
type nodeType struct {
	name   string
	size   int32 // of the nodes that have none of their own; -1: unknown
	module string
	token  uint32
}

// undefined is the first type of each file, and that of the node that the first record describes.
const undefined = "UNDEFINED"

// maxNodeSize stands for all sizes that do not fit into a file.
const maxNodeSize = 1<<31 - 1

// ticksPerSecond is the unit of the time, which counts from the year 1.
const (
	ticksPerSecond = 1e7
	unixEpoch      = 62_135_596_800 // seconds from the year 1
)

func ticksOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return (t.Unix()+unixEpoch)*ticksPerSecond + int64(t.Nanosecond())/100
}

func timeOf(ticks int64) time.Time {
	if ticks <= 0 {
		return time.Time{}
	}
	return time.Unix(ticks/ticksPerSecond-unixEpoch, ticks%ticksPerSecond*100).UTC()
}

// A rootCategory is a pseudo node that holds what roots of a kind refer to. PerfView and Visual
// Studio know the names.
type rootCategory struct {
	name  string
	kind  clr.RootKind
	flags RootFlags
}

// The names of the pseudo nodes.
const (
	rootNode    = "[.NET Roots]"
	staticsNode = "[static vars]"
	localsNode  = "[local vars]"
	othersNode  = "[other roots]"
	comNode     = "[COM/WinRT Objects]"
	otherHandle = "[other Handles]"
	dependents  = "[Dependent Handles]"

	threadStaticsNode = "[thread static vars]"

	staticPrefix   = "[static var "
	threadPrefix   = "[thread static var "
	callablePrefix = "[CCW 0x"
)

// rootCategories lists those of dotnet-gcdump, in its order, and then those of PerfView. A dependent
// handle holds an object as long as another is alive, which a file does not name.
var rootCategories = []rootCategory{
	{localsNode, RootStack, 0},
	{"[finalizer Handles]", RootFinalizer, 0},
	{"[strong Handles]", RootHandle, 0},
	{"[pinning Handles]", RootHandle, RootPinned},
	{comNode, RootHandle, RootRefCounted},
	{otherHandle, RootOther, 0},
	{dependents, RootOther, 0},

	{"[FinalizerQueue]", RootFinalizer, 0},
	{"[StrongHandle]", RootHandle, 0},
	{"[PinnedHandle]", RootHandle, RootPinned},
	{"[AsyncPinnedHandle]", RootHandle, RootPinned},
	{"[RefCountedHandle]", RootHandle, RootRefCounted},
}

// category returns the name of the category of a root below othersNode or localsNode.
func (r *Root) category() string {
	if r.Kind == RootStack {
		return localsNode
	}
	for _, c := range rootCategories {
		if c.kind == r.Kind && (c.kind != RootHandle || c.flags == r.Flags) {
			return c.name
		}
	}
	return otherHandle
}
