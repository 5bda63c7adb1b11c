package clr

import (
	"fmt"

	"github.com/gclog/gclog/parse"
)

// An Event is a pointer to one of the structs of this package, or whatever a
// registered decoder returned (see Decoder.Dynamic).
type Event interface {
	InstanceID() uint16
}

// A PayloadError says that a payload is too short for any version of its event.
type PayloadError struct {
	Provider string
	EventID  int
	Name     string
	Version  int
	Length   int // bytes
	Least    int // bytes that the oldest version has
}

func (e *PayloadError) Error() string {
	return fmt.Sprintf("event %s (%s %d, version %d) has a payload of %d bytes, its oldest version has %d",
		e.Name, e.Provider, e.EventID, e.Version, e.Length, e.Least)
}

// A Decoder decodes the events of one stream. It must not be used by several
// goroutines at once.
type Decoder struct {
	pointerSize int
	byIndex     []lookup // by Metadata.Index
	dynamic     map[string]DynamicFunc
	name        []byte       // of the dynamic event at hand
	event       *parse.Event // at hand
	p           payload
	data        payload // of the dynamic event at hand
	events      events
}

// A lookup is the spec of a kind of events, found once per kind.
type lookup struct {
	meta *parse.Metadata
	spec *spec
}

// NewDecoder returns a Decoder for a process with pointers of 4 or 8 bytes
// (parse.Trace.PointerSize).
func NewDecoder(pointerSize int) *Decoder {
	d := &Decoder{pointerSize: pointerSize, dynamic: map[string]DynamicFunc{}}
	d.registerKnown()
	return d
}

// Decode returns the typed form of e: nil without an error if e is of a kind
// that this package does not know. The result is valid until the next event of
// its kind is decoded.
func (d *Decoder) Decode(e *parse.Event) (Event, error) {
	s := d.find(e.Meta)
	if s == nil {
		return nil, nil
	}
	if len(e.Payload) < s.least(d.pointerSize) {
		return nil, d.short(e, s)
	}
	d.event = e
	d.p = payload{b: e.Payload, ptr: d.pointerSize}
	typed := s.decode(d, &d.p, e.Version)
	if d.p.bad {
		return nil, d.short(e, s)
	}
	return typed, nil
}

func (d *Decoder) find(m *parse.Metadata) *spec {
	for len(d.byIndex) <= m.Index {
		d.byIndex = append(d.byIndex, lookup{})
	}
	l := &d.byIndex[m.Index]
	if l.meta != m {
		*l = lookup{meta: m, spec: find(m.Provider, m.EventID)}
	}
	return l.spec
}

func (d *Decoder) short(e *parse.Event, s *spec) error {
	return &PayloadError{
		Provider: e.Meta.Provider, EventID: e.Meta.EventID, Name: s.name,
		Version: e.Version, Length: len(e.Payload), Least: s.least(d.pointerSize),
	}
}

// has reports whether an event of the given version has what version v added. A
// version that the stream does not tell may have it: its length decides.
func has(version, v int) bool { return version >= v || version == parse.VersionUnknown }

// events holds one struct of each kind, to be used again and again.
type events struct {
	gcStart             GCStart
	gcEnd               GCEnd
	suspendBegin        GCSuspendEEBegin
	suspendEnd          GCSuspendEEEnd
	restartBegin        GCRestartEEBegin
	restartEnd          GCRestartEEEnd
	createThread        GCCreateConcurrentThread
	terminateThread     GCTerminateConcurrentThread
	finalizersBegin     GCFinalizersBegin
	finalizersEnd       GCFinalizersEnd
	triggered           GCTriggered
	createSegment       GCCreateSegment
	freeSegment         GCFreeSegment
	generationRange     GCGenerationRange
	markRoots           GCMarkRoots
	markWithType        GCMarkWithType
	join                GCJoin
	genAware            GenAware
	memoryPressure      MemoryPressure
	setHandle           SetGCHandle
	destroyHandle       DestroyGCHandle
	heapStats           GCHeapStats
	globalHistory       GCGlobalHeapHistory
	perHeapHistory      GCPerHeapHistory
	lohCompact          GCLOHCompact
	fitBucketInfo       GCFitBucketInfo
	allocationTick      GCAllocationTick
	allocationSampled   AllocationSampled
	sampledObject       SampledObjectAllocation
	finalizeObject      FinalizeObject
	pinObject           PinObjectAtGCTime
	pinPlug             PinPlugAtGCTime
	dynamic             GCDynamicEvent
	committedUsage      CommittedUsage
	sizeSample          SizeAdaptationSample
	sizeTuning          SizeAdaptationTuning
	fullGCTuning        SizeAdaptationFullGCTuning
	heapCountTuning     HeapCountTuning
	heapCountSample     HeapCountSample
	bgcPhase            BGCPhaseEvent
	bgcSweepEnd         BGC1stSweepEnd
	bgcDrainMark        BGCDrainMark
	bgcRevisit          BGCRevisit
	bgcOverflow         BGCOverflow
	bgcAllocWait        BGCAllocWait
	fullNotify          GCFullNotify
	privateSettings     PrvGCSettings
	gcSettings          GCSettings
	runtimeInformation  RuntimeInformation
	recordedProcess     RecordedProcess
	bulkType            BulkType
	bulkRootEdge        GCBulkRootEdge
	bulkConditionalEdge GCBulkConditionalEdge
	bulkNode            GCBulkNode
	bulkEdge            GCBulkEdge
	bulkSurvivingRanges GCBulkSurvivingRanges
	bulkMovedRanges     GCBulkMovedRanges
	bulkRootCCW         GCBulkRootCCW
	bulkRCW             GCBulkRCW
	bulkRootStaticVar   GCBulkRootStaticVar
}
