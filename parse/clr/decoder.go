package clr

import (
	"fmt"

	"github.com/gclog/gclog/parse"
)

// An Event is a pointer to one of the structs of this package, or whatever a registered decoder
// returned (see Decoder.Dynamic).
type Event interface {
	InstanceID() uint16
}

// A PayloadError reports that a payload is too short for any version of its event.
type PayloadError struct {
	Provider string
	EventID  int
	Name     string
	Version  int
	Length   int // bytes
	Least    int // minimum length in bytes, that of the oldest version
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
	name        []byte       // of the current dynamic event
	event       *parse.Event // the current event
	p           payload
	data        payload // of the current dynamic event
	events      events
}

// A lookup caches the spec of a kind of event.
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

// Decode returns the typed form of e, or nil without an error if this package does not know e's
// kind. The result is valid until the next event of the same kind is decoded.
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

// has reports whether an event of the given version may have the fields that version v added. If
// the version is unknown the answer is true: the payload's length decides.
func has(version, v int) bool { return version >= v || version == parse.VersionUnknown }

// events holds one struct of each kind, which is reused.
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
