package parse

import "encoding/binary"

// Limits of the metadata that is kept. The runtime's own streams stay far below them. Names beyond
// the limit are truncated; streams beyond the other limits are rejected.
const (
	maxMetadata  = 1 << 16 // different kinds of events in one stream
	maxNameBytes = 4 << 10 // length of a provider's or an event's name
	maxAllNames  = 8 << 20 // total bytes of all names
	denseIDs     = 1 << 12 // smaller metadata ids are looked up in a slice
)

// VersionUnknown is the version of an event whose stream does not contain it (V6 metadata without
// the optional part). Decode such an event by the length of its payload.
const VersionUnknown = -1

// Metadata describes one kind of event of one stream. Its fields must not be changed. Two rows of
// the same kind have the same *Metadata, even if the stream declares the kind again (V6 after a
// flush).
type Metadata struct {
	// Index numbers the kinds of a stream from 0 in the order of their first appearance. Callers
	// can use it to index tables of their own.
	Index int

	Provider string
	EventID  int    // 16 bits
	Name     string // "" for the runtime's own events
	Version  int    // VersionUnknown if the stream does not contain it
	Level    int
	Keywords uint64
	Opcode   int

	want Want // what the reader's filter returned
}

// A Want says what a Reader does with the rows of one kind of event.
type Want struct {
	Deliver bool
	// Rundown: the writer sends such rows when it no longer records, to describe what it has recorded.
	// Stats.Until does not count the time that this takes.
	Rundown bool
	// Sum, if not nil, allows the Reader to fold consecutive rows of a thread into the first of
	// them. The folded rows are counted, and the results of Sum for all of them are added up. It is
	// meant for events that come by the tens of thousands and of which only a total matters.
	Sum func(t *Trace, payload []byte) uint64
}

// All wants every event.
func All(*Metadata) Want { return Want{Deliver: true} }

// None wants no event: only losses are reported.
func None(*Metadata) Want { return Want{} }

// Rundown reports whether the kind is one with Want.Rundown.
func (m *Metadata) Rundown() bool { return m.want.Rundown }

// A metadataKey contains everything that distinguishes one kind of event from another.
type metadataKey struct {
	provider, name          string
	id, version, level, opc int
	keywords                uint64
}

// A metadataTable finds the metadata of a row by the metadata id in the row.
type metadataTable struct {
	dense  []*Metadata // by id, for the low ids that streams use in practice
	sparse map[uint32]*Metadata
	kinds  map[metadataKey]*Metadata
	names  map[string]string
	size   int // total bytes of all names
}

func (t *metadataTable) reset() {
	clear(t.dense)
	*t = metadataTable{
		dense:  t.dense,
		sparse: map[uint32]*Metadata{},
		kinds:  map[metadataKey]*Metadata{},
		names:  map[string]string{},
	}
}

// flush forgets the ids (V6 sequence point with flag 2) but keeps the kinds.
func (t *metadataTable) flush() {
	clear(t.dense)
	clear(t.sparse)
}

func (t *metadataTable) lookup(id uint32) *Metadata {
	if uint(id) < uint(len(t.dense)) {
		return t.dense[id]
	}
	return t.sparse[id]
}

// add stores a kind of event under id. It returns false if the table would exceed its limits.
func (t *metadataTable) add(id uint32, k metadataKey, filter func(*Metadata) Want) bool {
	m := t.kinds[k]
	if m == nil {
		if len(t.kinds) >= maxMetadata || t.size > maxAllNames {
			return false
		}
		m = &Metadata{
			Index: len(t.kinds), Provider: k.provider, EventID: k.id, Name: k.name,
			Version: k.version, Level: k.level, Keywords: k.keywords, Opcode: k.opc,
		}
		m.want = filter(m)
		t.kinds[k] = m
	}
	if id >= denseIDs {
		if _, known := t.sparse[id]; !known && len(t.sparse) >= maxMetadata {
			return false
		}
		t.sparse[id] = m
		return true
	}
	for uint32(len(t.dense)) <= id {
		t.dense = append(t.dense, nil)
	}
	t.dense[id] = m
	return true
}

// intern returns name as a string that all metadata of the stream share.
func (t *metadataTable) intern(name []byte) string {
	if s, ok := t.names[string(name)]; ok {
		return s
	}
	s := string(name)
	t.size += len(s)
	t.names[s] = s
	return s
}

func (t *metadataTable) internUTF16(name []byte) string {
	return t.intern(AppendUTF16(nil, name[:min(len(name), maxNameBytes)]))
}

func (t *metadataTable) internUTF8(name []byte) string {
	return t.intern(name[:min(len(name), maxNameBytes)])
}

const (
	typeObject = 1 // a field of this type has fields of its own
	tagOpcode  = 1 // kind of the V5 tag that contains the opcode

	maxFieldDepth = 16 // of objects nested in objects
)

// parseV4 reads a metadata blob of V4 and V5: id, provider, event id, name, keywords, version,
// level, fields, then tags. The fields are not needed: gclog only decodes events of the runtime
// itself, which declare none. They are walked only to reach the tags; reading ends at a field that
// cannot be walked.
func (t *metadataTable) parseV4(b []byte) (id uint32, k metadataKey, ok bool) {
	c := cursor{b: b}
	id = c.u32()
	provider := c.utf16z()
	k.id = int(uint16(c.u32()))
	name := c.utf16z()
	k.keywords = c.u64()
	k.version = int(uint8(c.u32()))
	k.level = int(uint8(c.u32()))
	if c.bad {
		return id, k, false
	}
	k.provider, k.name = t.internUTF16(provider), t.internUTF16(name)
	skipFieldsV4(&c, maxFieldDepth)
	for !c.done() {
		size := c.u32()
		kind := c.u8()
		body := c.take(uint64(size))
		if kind == tagOpcode && len(body) >= 1 {
			k.opc = int(body[0])
		}
	}
	return id, k, true
}

// skipFieldsV4 skips fields. Objects in them may be nested up to depth.
func skipFieldsV4(c *cursor, depth int) {
	for n := c.u32(); n > 0 && !c.bad; n-- {
		if c.u32() == typeObject {
			c.bad = depth == 0
			skipFieldsV4(c, depth-1)
		}
		c.utf16z()
	}
}

// Kinds of the optional items of a metadata row of V6.
const (
	optOpcode      = 1
	optKeywords    = 3
	optTemplate    = 4
	optDescription = 5
	optKeyValue    = 6
	optProvider    = 7
	optLevel       = 8
	optVersion     = 9
)

// parseV6 reads a metadata row of V6 (without its u16 size): id, provider, event id, name, fields
// that each start with their size, optional items. An optional item of an unknown kind has no size,
// so reading of the items ends there; the row is kept.
func (t *metadataTable) parseV6(b []byte) (id uint32, k metadataKey, ok bool) {
	c := cursor{b: b}
	id = c.uvarint32()
	provider := c.utf8()
	k.id = int(uint16(c.uvarint32()))
	name := c.utf8()
	k.version = VersionUnknown
	for n := c.u16(); n > 0 && !c.bad; n-- {
		c.skip(uint64(c.u16()))
	}
	opt := cursor{b: c.take(uint64(c.u16()))}
	if c.bad {
		return id, k, false
	}
	k.provider, k.name = t.internUTF8(provider), t.internUTF8(name)
items:
	for !opt.done() {
		switch opt.u8() {
		case optOpcode:
			k.opc = int(opt.u8())
		case optKeywords:
			if p := opt.take(8); p != nil {
				k.keywords = binary.LittleEndian.Uint64(p)
			}
		case optTemplate, optDescription:
			opt.utf8()
		case optKeyValue:
			opt.utf8()
			opt.utf8()
		case optProvider:
			opt.skip(16)
		case optLevel:
			k.level = int(opt.u8())
		case optVersion:
			if p := opt.take(1); p != nil {
				k.version = int(p[0])
			}
		default:
			break items
		}
	}
	return id, k, true
}
