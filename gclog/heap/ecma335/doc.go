// Package ecma335 reads the metadata of .NET assemblies (ECMA-335, partition II, chapters 22 to 25):
// the names of types, which class contains which, and static fields. It also finds the assemblies in
// single-file programs.
//
// Files may be damaged or hostile: every offset and count is compared with the size of the file, and
// there are limits for the metadata, for the data of a program and for the list of its files. The
// io.ReaderAt of the caller may bound everything that is read by returning an error.
package ecma335
