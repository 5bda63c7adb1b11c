package heap

import (
	"encoding/binary"
	"slices"
)

// The detector of async methods that have not ended.

// A CallChain describes calls that runtime async has suspended (.NET 11), each of which awaits the one
// before, for a row of DetectAsync. The names of their methods are not in the events, so a CallChain has
// what is known of its two ends, and of the calls between them. The row counts the calls of all chains that
// are alike. Numbers are indexes in Graph.Types, or NoType.
type CallChain struct {
	Chains  uint64 // number of equal chains
	Calls   uint64 // in each of them
	Layouts []int  // types of the calls' Continuations, from the innermost call on, each once; at most 8
	Holds   []int  // types of the objects that the calls refer to, from the innermost call on, each once; at most 8
	Awaited int    // what the innermost call awaits; NoType: unknown
	Task    int    // of the outermost call; NoType: unknown
	Waiter  int    // the async method that awaits this task; NoType: none has, or it is unknown
}

const (
	mostInChain = 8  // layouts, and types that are held
	mostChains  = 64 // chains that are followed to an end with a name
)

// async counts the calls of async methods that have not ended: those with a state machine by method,
// those of runtime async by CallChain.
func (x *inspector) async() Detection {
	groups, group := x.stateMachines()
	s := newSuspended(x)
	s.follow()
	rows := slices.Concat(groups.rows, s.groups.rows)
	pending := func(o Object) int {
		if i, ok := s.calls[o]; ok {
			return len(groups.rows) + i
		}
		return group(o)
	}
	holders := make([]mode[string], len(rows))
	for o := range x.d.All {
		if i := pending(o); i >= 0 {
			rows[i].add(x.g.Space(o))
			if holders[i] == nil {
				holders[i] = mode[string]{}
			}
			holders[i][x.holder(o)]++
		}
	}
	for i, retained := range x.d.retainedBy(len(rows), pending) {
		rows[i].Retained = retained
		rows[i].Holder = holders[i].most(func(a, b string) bool { return a < b })
	}
	found := x.report(withObjects(rows), byObjects)
	return found.when(found.Total.Objects >= manyAsync || found.Total.Retained >= x.least)
}

// stateMachines returns a row for each method with a state machine, without counts, and a function
// that returns the index of an object's row, or NoType. The object that has the state of a method is
// also its task, and may live longer: then it refers to an object that says so.
func (x *inspector) stateMachines() (groups tally[string], group func(Object) int) {
	ended := NoObject
	for _, v := range x.g.Statics {
		if v.Field == completedTask {
			ended = v.Object
		}
	}
	rows := make([]int, len(x.g.Types))
	for t := range x.g.Types {
		rows[t] = NoType
		if method := x.g.Types[t].async(); method != "" {
			groups.row(method, func() Detail { return x.detail(t) })
			rows[t] = groups.index[method]
		}
	}
	return groups, func(o Object) int {
		if i := rows[x.g.Type(o)]; i >= 0 && !slices.Contains(x.g.References(o), ended) {
			return i
		}
		return NoType
	}
}

// suspended are the calls of runtime async.
type suspended struct {
	*inspector
	parts []suspension      // by type
	none  map[Object]bool   // Continuations that are no calls
	next  map[Object]Object // what awaits a call, or what waits for its first one
	inner map[Object]bool   // calls that another one, or what waits, refers to
	tasks map[Object]Object // by the first object of a chain
	heads map[Object]Object // by task

	groups tally[string]  // chains that are alike, without counts
	calls  map[Object]int // the row of each call
}

func newSuspended(x *inspector) *suspended {
	s := &suspended{
		inspector: x,
		parts:     make([]suspension, len(x.g.Types)),
		none:      map[Object]bool{},
		next:      map[Object]Object{},
		inner:     map[Object]bool{},
		tasks:     map[Object]Object{},
		heads:     map[Object]Object{},
		calls:     map[Object]int{},
	}
	for t := range s.parts {
		s.parts[t] = x.g.Types[t].suspension(x.classes[t])
	}
	for o := range x.objects(func(t int) bool { return s.parts[t] != noSuspension }) {
		s.see(o)
	}
	return s
}

func (s *suspended) part(o Object) suspension { return s.parts[s.g.Type(o)] }

// see notes what an object says about calls.
func (s *suspended) see(o Object) {
	references := s.g.References(o)
	switch s.part(o) {
	case suspendedThread:
		for _, to := range references {
			if s.part(to) == suspendedCall {
				s.none[to] = true
			}
		}
	case suspendedTask: // first comes what will complete it, then what awaits it
		own := func(to Object) bool {
			task := s.taskOf(to)
			return s.part(to) == suspendedCall || s.part(to) == suspendedWait && (task == o || task == NoObject)
		}
		if i := slices.IndexFunc(references, own); i >= 0 {
			s.tasks[references[i]], s.heads[o] = o, references[i]
		}
	case suspendedWait:
		if task := s.taskOf(o); task != NoObject {
			s.tasks[o], s.heads[task] = task, o
		}
		fallthrough
	case suspendedCall:
		if i := slices.IndexFunc(references, func(to Object) bool { return s.part(to) == suspendedCall }); i >= 0 {
			s.next[o] = references[i]
			s.inner[references[i]] = true
		}
	}
}

// The fields of what waits are: the first call, what is awaited, the task of the outermost call.

// taskOf returns the task that what waits completes at the end, or NoObject.
func (s *suspended) taskOf(wait Object) Object {
	references := s.g.References(wait)
	if n := len(references); n > 0 && s.part(references[n-1]) == suspendedTask {
		return references[n-1]
	}
	return NoObject
}

// awaitedBy returns the object for which a chain waits, given its first one, or NoObject.
func (s *suspended) awaitedBy(head Object) Object {
	if s.part(head) != suspendedWait {
		return NoObject
	}
	task := s.taskOf(head)
	for _, to := range s.g.References(head) {
		if s.part(to) != suspendedCall && to != task {
			return to
		}
	}
	return NoObject
}

// follow follows all chains.
func (s *suspended) follow() {
	if !slices.Contains(s.parts, suspendedCall) {
		return
	}
	for o := range s.d.All {
		if s.part(o) == suspendedWait || s.part(o) == suspendedCall && (!s.inner[o] || s.none[o]) {
			s.chain(o)
		}
	}
	for o := range s.d.All { // what a damaged heap has: calls that await each other
		if s.part(o) == suspendedCall {
			s.chain(o)
		}
	}
}

// chain follows a chain from its first object on.
func (s *suspended) chain(head Object) {
	c := CallChain{Awaited: NoType, Task: NoType, Waiter: NoType}
	var all []Object
	var key []byte
	isCall := func(o Object) bool { return s.part(o) == suspendedCall && !s.none[o] }
	o, ok := head, true
	if !isCall(head) { // it waits for the first call
		o, ok = s.next[head]
	}
	for ; ok && isCall(o); o, ok = s.next[o] {
		if _, known := s.calls[o]; known {
			break
		}
		s.calls[o] = NoType
		all = append(all, o)
		t := s.g.Type(o)
		key = binary.AppendUvarint(key, uint64(t))
		c.Layouts = addOnce(c.Layouts, t)
		for _, to := range s.g.References(o) {
			if s.part(to) == noSuspension && len(c.Holds) < mostInChain {
				c.Holds = addOnce(c.Holds, s.g.Type(to))
			}
		}
	}
	if len(all) == 0 {
		return
	}
	c.Calls = uint64(len(all))
	c.Awaited = s.typeOf(s.innermost(head))
	if task, ok := s.tasks[head]; ok {
		c.Task = s.g.Type(task)
		c.Waiter = s.typeOf(s.waiter(head, task))
	}
	for _, t := range slices.Concat(c.Holds, []int{c.Awaited, c.Task, c.Waiter}) {
		key = binary.AppendVarint(key, int64(t))
	}
	r := s.groups.row(string(key), func() Detail {
		r := s.detail(s.g.Type(all[0]))
		r.Other, r.Chain = c.Awaited, &c
		return r
	})
	r.Chain.Chains++
	for _, o := range all {
		s.calls[o] = s.groups.index[string(key)]
	}
}

func addOnce(list []int, t int) []int {
	if len(list) < mostInChain && !slices.Contains(list, t) {
		list = append(list, t)
	}
	return list
}

func (s *suspended) typeOf(o Object) int {
	if o == NoObject {
		return NoType
	}
	return s.g.Type(o)
}

// innermost returns what a chain awaits. If that is the task of another chain, it is what that one
// awaits, as far as that is known.
func (s *suspended) innermost(head Object) Object {
	awaited := s.awaitedBy(head)
	for range mostChains {
		if awaited == NoObject || s.part(awaited) != suspendedTask {
			break
		}
		head, ok := s.heads[awaited]
		inner := NoObject
		if ok {
			inner = s.awaitedBy(head)
		}
		if inner == NoObject {
			break
		}
		awaited = inner
	}
	return awaited
}

// waiter returns the state machine of the method that awaits the task of a chain, also through other
// chains, or NoObject.
func (s *suspended) waiter(head, task Object) Object {
	for range mostChains {
		next := NoObject
		for _, to := range s.g.References(task) {
			if to == head {
				continue
			}
			if s.g.Types[s.g.Type(to)].async() != "" {
				return to
			}
			if s.part(to) == suspendedWait {
				next = to
			}
		}
		known, ok := s.tasks[next]
		if next == NoObject || !ok {
			return NoObject
		}
		head, task = next, known
	}
	return NoObject
}
