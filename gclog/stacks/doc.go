// Package stacks reads who allocates and who asks for collections from recordings with call stacks.
//
// A runtime reports an allocation for each 100 KB, or a random sample of them, and every collection that
// is requested, with the stack of the thread (docs/alloc.md). A Builder collects them from one or several
// recordings of a process and names the frames of the stacks; its Profile has what was allocated by type
// and stack, as estimates with their errors, and the requests of collections.
//
//	p, err := stacks.Read(r)
//	...
//	for _, a := range p.Allocations {
//		fmt.Println(p.Types[a.Type], p.AllocatedIn(a.Stack), a.Bytes)
//	}
//
// # Memory
//
// A Builder takes less than 300 MB, whatever the streams contain: stacks, types and names beyond the limits are
// counted together. It allocates nothing for an event whose stack and type it knows.
package stacks
