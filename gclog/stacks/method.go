package stacks

import (
	"cmp"
	"math"
	"slices"

	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// Limits of the methods that are kept.
const (
	maxBodies    = 1_000_000
	maxModules   = 100_000
	maxNames     = 64 << 20 // bytes of all names
	maxName      = 1024     // UTF-16 units of a name
	reachOfEntry = 64 << 10 // bytes after the entry point of a precompiled method, whose size is unknown
)

// A Frame is a level of a call stack. Its texts come from the target and may contain anything.
type Frame struct {
	Namespace string // the class that declares the method, with its namespace; "dynamicClass": a dynamic method
	Name      string // of the method; "" for frames of native code, whose names are unknown
	Signature string // as the runtime writes it: int32  (class System.String,int32)
	Module    string // file that contains the method; "": unknown
}

// A body is code of a method: methods have several bodies while the runtime optimizes them.
type body struct {
	start, end uint64 // addresses; end: see entry
	from, to   int64  // the time in which it was there
	method     int32
	entry      bool // the end is unknown
}

// A method is named by its strings.
type method struct {
	module                     uint64
	namespace, name, signature string
}

// methods has the code of a process.
type methods struct {
	bodies  []body
	known   map[uint64]int32 // by MethodID: the latest with it
	list    []method
	modules map[uint64]string
	names   map[string]string // interned
	size    int               // bytes of names
	dropped int               // bodies for which there was no room
	scratch []byte
	loaded  map[uint64]int32 // bodies since the recording began, by their start
	sorted  bool
	looks   int      // at bodies: see at
	longest []uint64 // by body: the highest end of this one and those before
}

func newMethods() *methods {
	return &methods{
		known: map[uint64]int32{}, modules: map[uint64]string{}, names: map[string]string{},
		loaded: map[uint64]int32{},
	}
}

// module notes the file of a module.
func (m *methods) module(e *clr.Module) {
	if m.size < maxNames && (len(m.modules) < maxModules || m.modules[e.ID] != "") {
		m.modules[e.ID] = m.intern(e.ILPath)
	}
}

// intern returns a name as a string.
func (m *methods) intern(name clr.UTF16) string {
	cut := len(name) > 2*maxName
	if cut {
		name = name[:2*maxName]
	}
	m.scratch = parse.AppendUTF16(m.scratch[:0], name)
	if cut {
		m.scratch = append(m.scratch, "…"...)
	}
	if s, ok := m.names[string(m.scratch)]; ok {
		return s
	}
	s := string(m.scratch)
	m.names[s] = s
	m.size += len(s)
	return s
}

// add adds a body of a method that was there in a time, and reports whether it did.
func (m *methods) add(e *clr.Method, from, to int64) bool {
	if e.Size == 0 || e.StartAddress > math.MaxUint64-uint64(e.Size) || !m.room() {
		return false
	}
	at := m.find(e.ID, method{e.Module, m.intern(e.Namespace), m.intern(e.Name), m.intern(e.Signature)})
	m.bodies = append(m.bodies, body{e.StartAddress, e.StartAddress + uint64(e.Size), from, to, at, false})
	m.sorted = false
	return true
}

// load adds a body that is compiled at a time.
func (m *methods) load(e *clr.Method, at int64) {
	if m.add(e, at, math.MaxInt64) {
		m.loaded[e.StartAddress] = int32(len(m.bodies) - 1)
	}
}

// unload ends a body.
func (m *methods) unload(e *clr.Method, at int64) {
	if i, ok := m.loaded[e.StartAddress]; ok {
		delete(m.loaded, e.StartAddress)
		m.bodies[i].to = at
		return
	}
	m.add(e, math.MinInt64, at)
}

// entry adds a precompiled method.
func (m *methods) entry(e *clr.R2REntryPoint, from int64) {
	if e.EntryPoint > math.MaxUint64-reachOfEntry || !m.room() {
		return
	}
	named := method{namespace: m.intern(e.Namespace), name: m.intern(e.Name), signature: m.intern(e.Signature)}
	if i, ok := m.known[e.ID]; ok { // its module is known
		named.module = m.list[i].module
	}
	at := m.find(e.ID, named)
	m.bodies = append(m.bodies, body{e.EntryPoint, e.EntryPoint + reachOfEntry, from, math.MaxInt64, at, true})
	m.sorted = false
}

func (m *methods) room() bool {
	if len(m.bodies) < maxBodies && m.size < maxNames {
		return true
	}
	m.dropped++
	return false
}

func (m *methods) find(id uint64, named method) int32 {
	if i, ok := m.known[id]; ok && m.list[i] == named {
		return i
	}
	m.list = append(m.list, named)
	i := int32(len(m.list) - 1)
	m.known[id] = i
	return i
}

// sort prepares the bodies for lookup.
func (m *methods) sort() {
	if m.sorted {
		return
	}
	clear(m.loaded)
	slices.SortStableFunc(m.bodies, func(a, b body) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.from, b.from))
	})
	// What follows is where a precompiled method ends.
	next := uint64(math.MaxUint64)
	for i := len(m.bodies) - 1; i >= 0; i-- {
		b := &m.bodies[i]
		if i+1 < len(m.bodies) && m.bodies[i+1].start > b.start {
			next = m.bodies[i+1].start
		}
		if b.entry {
			b.end = min(b.start+reachOfEntry, next)
		}
	}
	m.longest = m.longest[:0]
	high := uint64(0)
	for _, b := range m.bodies {
		high = max(high, b.end)
		m.longest = append(m.longest, high)
	}
	m.sorted = true
}

// Limits of the bodies that are looked at for an address, of which a runtime has a few, and for all addresses
// together. Beyond those, only the nearest are looked at.
const (
	lookBack = 256
	maxLooks = 64 << 20
	fewLooks = 8
)

// at returns the method whose code was at an address at a time, or -1. If there was none, it is the one
// that came next. always: it is the same at all times.
func (m *methods) at(address uint64, t int64) (of int32, always bool) {
	i, _ := slices.BinarySearchFunc(m.bodies, address, func(b body, address uint64) int {
		if b.start <= address {
			return -1
		}
		return 1
	})
	var best *body
	always = true
	most := lookBack
	if m.looks > maxLooks {
		most = fewLooks
	}
	for n := 0; i > 0 && n < most; n++ {
		i--
		m.looks++
		if m.longest[i] <= address {
			break
		}
		b := &m.bodies[i]
		if address >= b.end {
			continue
		}
		if best != nil && best.method != b.method {
			always = false
		}
		if best == nil || b.better(best, t) {
			best = b
		}
	}
	if best == nil || best.to <= t {
		return -1, always && best == nil
	}
	return best.method, always
}

// better reports whether b rather than other is what was there at a time.
func (b *body) better(other *body, t int64) bool {
	rank := func(x *body) int {
		switch {
		case x.to <= t:
			return 0 // has been freed
		case x.from > t:
			return 1 // comes later
		case x.entry:
			return 2
		}
		return 3
	}
	x, y := rank(b), rank(other)
	switch {
	case x != y:
		return x > y
	case x == 1:
		return b.from < other.from
	}
	return b.from > other.from || b.from == other.from && b.to < other.to
}

// frame returns a method as a frame.
func (m *methods) frame(of int32) Frame {
	x := &m.list[of]
	return Frame{x.namespace, x.name, x.signature, m.modules[x.module]}
}
