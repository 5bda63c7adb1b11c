// Package live tests gclog with real .NET runtimes and a load program whose collections are known.
// The tests of the usual extent use the repository's runtime; "make live" uses all that are
// available, in all GC flavours. It needs Linux.
package live
