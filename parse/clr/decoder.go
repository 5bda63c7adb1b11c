package clr

import (
	"fmt"
	"reflect"

	"github.com/gclog/gclog/parse"
)

// An Event is a pointer to one of the structs of this package.
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
	byIndex []lookup // by Metadata.Index
	events  [len(specs)]event
	named   [len(dynamicSpecs)]event
	p       payload // payload of the current event
}

// A lookup caches what decodes a kind of event.
type lookup struct {
	meta  *parse.Metadata
	spec  *spec
	least int // minimum length of the payload
	event event
	typed Event // event, converted once
}

// NewDecoder returns a Decoder for a process with pointers of 4 or 8 bytes
// (parse.Trace.PointerSize).
func NewDecoder(pointerSize int) *Decoder { return &Decoder{p: payload{ptr: pointerSize}} }

// Decode returns the typed form of e, or nil without an error if this package does not know e's
// kind. The result is valid until the next event of the same kind is decoded.
func (d *Decoder) Decode(e *parse.Event) (Event, error) {
	if i := e.Meta.Index; i >= len(d.byIndex) || d.byIndex[i].meta != e.Meta {
		d.look(e.Meta)
	}
	l := &d.byIndex[e.Meta.Index]
	if l.spec == nil {
		return nil, nil
	}
	d.p.bad = len(e.Payload) < l.least
	if !d.p.bad {
		d.p.event = e
		d.p.begin(e.Payload)
		l.event.decode(&d.p, e.Version)
	}
	if d.p.bad {
		return nil, &PayloadError{
			Provider: e.Meta.Provider, EventID: e.Meta.EventID, Name: l.spec.name,
			Version: e.Version, Length: len(e.Payload), Least: l.least,
		}
	}
	if dynamic, ok := l.event.(*GCDynamicEvent); ok {
		return d.dynamic(dynamic), nil
	}
	return l.typed, nil
}

// look finds out what decodes a kind of event.
func (d *Decoder) look(m *parse.Metadata) {
	for len(d.byIndex) <= m.Index {
		d.byIndex = append(d.byIndex, lookup{})
	}
	l := &d.byIndex[m.Index]
	*l = lookup{meta: m}
	i := find(m.Provider, m.EventID)
	if i < 0 && IsEventCounter(m) {
		i = find("", 0)
	}
	if i >= 0 {
		if d.events[i] == nil {
			d.events[i] = clone(specs[i].event)
		}
		l.spec, l.least, l.event, l.typed = &specs[i], specs[i].least(d.p.ptr), d.events[i], d.events[i]
	}
}

// clone returns a copy of what a pointer points to.
func clone(e event) event {
	v := reflect.New(reflect.TypeOf(e).Elem())
	v.Elem().Set(reflect.ValueOf(e).Elem())
	return v.Interface().(event)
}

// has reports whether an event of the given version may have the fields that version v added. If
// the version is unknown the answer is true: the payload's length decides.
func has(version, v int) bool { return version >= v || version == parse.VersionUnknown }
