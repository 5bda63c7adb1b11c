// Package ecma335 reads the metadata of .NET assemblies (ECMA-335, partition II, chapters 22 to 25):
// the names of types, which class contains which, and static fields. It also finds the assemblies in
// single-file programs.
//
// Files may be damaged or hostile: every offset and count is compared with the size of the file, and
// memory is bounded by it.
package ecma335
