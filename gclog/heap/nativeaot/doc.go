// Package nativeaot reads the symbols of NativeAOT programs for Linux: which type is at which address,
// and which types have static fields. It also makes the names of types as the runtime of other programs
// writes them out of the symbols, in which all punctuation has become an underscore.
//
// Files may be damaged or hostile: every offset and count is compared with the size of the file, and
// there are limits for what is kept. The io.ReaderAt of the caller may bound everything that is read by
// returning an error.
package nativeaot
