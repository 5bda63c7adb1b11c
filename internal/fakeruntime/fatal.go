package fakeruntime

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// fatal returns why a real runtime would not survive a request, or would do more than gclog may have it
// do: gclog sends such a request to no runtime.
// docs/protocol.md has what was seen with real runtimes. "": it may be sent.
func (c *Config) fatal(command uint16, payload []byte) string {
	const gc, sampled = 0x1, 0x80000000000
	switch command {
	case 0x0400, 0x0401, 0x0402, 0x0404, 0x0408: // ProcessInfo, ResumeRuntime, ProcessEnvironment: without a payload
		if len(payload) > 0 {
			return "has a payload"
		}
		return ""
	case 0x0201: // StopTracing
		if len(payload) != 8 {
			return "has no session"
		}
		return ""
	case 0x0203, 0x0204, 0x0205, 0x0206: // CollectTracing2 to 5
	default:
		// Dumps, profilers, variables, perf maps, and CollectTracing6, whose mode Block suspends the
		// program forever if its reader dies: .NET 8 to 10 die of some of them without a payload.
		return "is none of gclog's"
	}
	t, ok := readTracing(command, payload)
	switch {
	case !ok:
		return "is malformed, or asks for a session that is not sent over its connection"
	case t.bufferMB < 1 || t.bufferMB > 16<<10:
		return "has an impossible buffer"
	case t.format != 1:
		return "has an unknown format"
	case t.stacks && slices.ContainsFunc(t.providers, func(p provider) bool { return p.keywords&^(gc|sampled) != 0 }):
		return "asks for stacks of more than collections and allocations, which slow down every event"
	case len(t.providers) < 1 || len(t.providers) > 1000:
		return "has too few or too many providers"
	}
	for _, p := range t.providers {
		if p.name == "" || p.level > 5 {
			return "has an impossible provider"
		}
		if why := c.fatalKeywords(p); why != "" {
			return why
		}
	}
	return ""
}

// fatalKeywords returns why the runtime would not survive a session with a provider.
func (c *Config) fatalKeywords(p provider) string {
	const walk, collect = 0x100000, 0x800000
	if !strings.EqualFold(p.name, "Microsoft-Windows-DotNETRuntime") || !c.NativeAOT || c.Version == "" {
		return ""
	}
	first, _, _ := strings.Cut(c.Version, ".")
	major, err := strconv.Atoi(first)
	switch {
	case err != nil:
		return ""
	case major < 10 && p.keywords&(walk|collect) != 0:
		return "asks NativeAOT before 10 for a collection"
	case major == 10 && c.Server && p.keywords&walk != 0:
		return "asks NativeAOT 10 with server GC for a heap walk"
	}
	return ""
}

// mustBeHarmless panics if a request is fatal, unless everybody may send requests.
func (r *Runtime) mustBeHarmless(command uint16, payload []byte) {
	if why := r.cfg.fatal(command, payload); why != "" && !r.cfg.Public {
		panic(fmt.Sprintf("fakeruntime: a request that a runtime may not survive: 0x%04x%s %s", command, describe(command, payload), why))
	}
}
