package clr

import "strings"

// Type names in events have the notation of reflection, with additions of the compiler:
// System.Collections.Generic.List`1[System.Int32][], <Main>b__0. These functions are for packages that
// parse them.

// Keyword returns the C# keyword for a type of the base library, such as int for System.Int32; "" if it has
// none.
func Keyword(name string) string { return keywords[name] }

var keywords = map[string]string{
	"System.Boolean": "bool", "System.Byte": "byte", "System.SByte": "sbyte", "System.Char": "char",
	"System.Int16": "short", "System.UInt16": "ushort", "System.Int32": "int", "System.UInt32": "uint",
	"System.Int64": "long", "System.UInt64": "ulong", "System.Single": "float", "System.Double": "double",
	"System.Decimal": "decimal", "System.String": "string", "System.Object": "object",
	"System.IntPtr": "nint", "System.UIntPtr": "nuint",
}

// OpensArray reports whether the bracket at the start of s marks an array. Others open generic arguments.
func OpensArray(s string) bool {
	return len(s) > 1 && s[0] == '[' && strings.IndexByte("],*", s[1]) >= 0
}

// TypeSuffixLength returns the length of the marks of arrays, pointers and references at the start of s.
func TypeSuffixLength(s string) int {
	i := 0
	for i < len(s) {
		switch {
		case s[i] == '*' || s[i] == '&':
			i++
		case OpensArray(s[i:]) && strings.IndexByte(s[i:], ']') > 0:
			i += strings.IndexByte(s[i:], ']') + 1
		default:
			return i
		}
	}
	return i
}

// AngledLength returns the length of the text in angle brackets, which may be nested, at the start of s; -1
// if they are not closed.
func AngledLength(s string) int {
	open := 0
	for i := range len(s) {
		switch s[i] {
		case '<':
			open++
		case '>':
			if open--; open == 0 {
				return i + 1
			}
		}
	}
	return -1
}
