package stacks

import (
	"slices"
	"strings"

	"github.com/gclog/gclog/parse/clr"
)

// Path returns the frames of a stack that matter, the outermost first: without those that start threads, and
// without the machinery of async methods. A method and its own continuation are one frame, and so are
// neighbouring frames of native code.
func (p *Profile) Path(stack int) []int32 { return p.paths[stack] }

func (p *Profile) path(frames []int32) []int32 {
	for len(frames) > 1 && p.Frames[frames[0]].startsThread() {
		frames = frames[1:]
	}
	out := make([]int32, 0, len(frames))
	for i, f := range frames {
		x := &p.Frames[f]
		if len(out) > 0 {
			before := &p.Frames[out[len(out)-1]]
			if x.native() && before.native() {
				continue
			}
			if x.Name == "MoveNext" && before.Name != "MoveNext" && x.String() == before.String() {
				out[len(out)-1] = f
				continue
			}
		}
		if x.machinery() && (len(out) > 0 || i < len(frames)-1) {
			continue
		}
		out = append(out, f)
	}
	return out
}

func (f *Frame) native() bool { return f.Name == "" && f.Namespace == "" }

// startsThread reports whether a frame at the outer end of a stack says only that there is a thread.
func (f *Frame) startsThread() bool {
	switch f.Namespace {
	case "System.Threading.Thread":
		return f.Name == "StartCallback" || strings.HasPrefix(f.Name, "StartHelper")
	case "System.Threading.Thread+StartHelper", "System.Threading.PortableThreadPool+WorkerThread":
		return true
	case "System.Threading.ThreadHelper":
		return f.Name == "ThreadStart" || f.Name == "ThreadStart_Context"
	case "System.Threading.ExecutionContext":
		return f.Name == "RunInternal"
	case "System.Threading.ThreadPoolWorkQueue":
		return f.Name == "Dispatch"
	case "System.Threading._ThreadPoolWaitCallback":
		return f.Name == "PerformWaitCallback"
	}
	return false
}

// machinery reports whether a frame is of what the compiler and the runtime put between methods.
func (f *Frame) machinery() bool {
	class, _, _ := strings.Cut(f.Namespace, "[")
	switch class {
	case "System.Threading.ExecutionContext", "System.Threading.Tasks.AwaitTaskContinuation":
		return true
	case "System.Threading.Tasks.Task":
		return f.Name == "RunContinuations" || f.Name == "ExecuteWithThreadLocal"
	case "System.Runtime.CompilerServices.AsyncMethodBuilderCore":
		return f.Name == "Start"
	case dynamicClass:
		return strings.HasPrefix(f.Name, "IL_STUB_")
	}
	const services = "System.Runtime.CompilerServices.Async"
	return strings.HasPrefix(class, services) && strings.Contains(class, "MethodBuilder") ||
		strings.Contains(class, "AsyncStateMachineBox")
}

// allocator reports whether a frame at the inner end of a stack only says that something is allocated.
func (f *Frame) allocator() bool {
	switch f.Namespace {
	case "System.String":
		return f.Name == "Ctor" || f.Name == "FastAllocateString" || f.Name == "CreateStringFromEncoding"
	case "System.RuntimeTypeHandle":
		return strings.HasPrefix(f.Name, "InternalAlloc") || strings.HasPrefix(f.Name, "<InternalAllocNoChecks>g__")
	case "System.Runtime.CompilerServices.CastHelpers":
		return f.Name == "Box"
	case "System.GC":
		return strings.Contains(f.Name, "AllocateUninitializedArray") || strings.HasPrefix(f.Name, "AllocateNewArray")
	case "System.Array":
		return f.Name == "Resize"
	}
	return false
}

// library reports whether a frame is of the framework.
func (f *Frame) library() bool {
	return f.native() || strings.HasPrefix(f.Namespace, "System.") ||
		strings.HasPrefix(f.Namespace, "Microsoft.") || f.Namespace == dynamicClass
}

// AllocatedIn returns the frame that an allocation is put down to: the innermost one that is not of the
// framework. If all are, it is the innermost one that does more than to allocate; -1: the stack is empty.
func (p *Profile) AllocatedIn(stack int) int32 {
	path := p.Path(stack)
	inner := int32(-1)
	for _, i := range slices.Backward(path) {
		f := &p.Frames[i]
		if !f.library() {
			return i
		}
		if inner < 0 && !f.allocator() {
			inner = i
		}
	}
	if inner < 0 && len(path) > 0 {
		inner = path[len(path)-1]
	}
	return inner
}

// Inlined is the method of System.GC if it left no frame.
const Inlined = "GC.Collect or similar"

// Caller returns the path of what asked for a collection, without the methods of System.GC at its inner
// end, and the method of System.GC that it called, such as "GC.Collect".
func (p *Profile) Caller(c *Call) (path []int32, method string) {
	all := p.Path(c.Stack)
	path = all
	outermost := ""
	for len(path) > 0 {
		f := &p.Frames[path[len(path)-1]]
		if !f.native() && f.Namespace != "System.GC" {
			break
		}
		if !f.native() {
			outermost = f.Name
		}
		path = path[:len(path)-1]
	}
	if len(path) == 0 { // all of it is what the runtime does
		path = all
	}
	name := strings.TrimPrefix(outermost, "_")
	switch {
	case strings.HasPrefix(name, "StartNoGCRegion"):
		name = "TryStartNoGCRegion"
	case name == "":
		if c.Reason.Induced() {
			return path, Inlined
		}
		return path, ""
	}
	return path, "GC." + name
}

// Induced reports whether the program asked for the collection, not the runtime because of allocations.
func (c *Call) Induced() bool { return c.Reason.Induced() }

// Large reports whether objects are on the large object heap.
func (a *Allocation) Large() bool { return a.Kind == clr.AllocationLarge }
