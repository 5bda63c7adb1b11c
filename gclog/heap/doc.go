// Package heap reads snapshots of a .NET program's managed heap: which objects are alive, what keeps
// them alive, and how much memory each of them retains.
//
// A snapshot is what the runtime writes when a session asks for a heap walk: the events of a full
// blocking collection and, after it, every object with its references (docs/heap.md). A Builder
// makes a Graph of them, and Read does that for a whole recording. The Graph keeps the objects in
// flat arrays, about 24 bytes for each object and 4 for each reference.
//
// Dominators computes what each object retains: the memory that would be freed with it. Its method
// Suspects finds where memory accumulates.
package heap
