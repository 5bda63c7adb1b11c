package ecma335

import "math/bits"

// The tables of the metadata that are read, by number.
const (
	tableModule       = 0x00
	tableTypeRef      = 0x01
	tableTypeDef      = 0x02
	tableFieldPtr     = 0x03
	tableField        = 0x04
	tableMethodDef    = 0x06
	tableMemberRef    = 0x0a
	tableAttribute    = 0x0c
	tableEventMap     = 0x12
	tableEventPtr     = 0x13
	tableEvent        = 0x14
	tableFieldRVA     = 0x1d
	tableAssembly     = 0x20
	tableNestedClass  = 0x29
	tableGenericParam = 0x2a
	numTables         = 0x2d // those of portable PDBs follow
)

// columns describe the columns of the tables, one letter each: 2 and 4 are numbers of that many
// bytes; s, g and b are indexes of the heaps of strings, GUIDs and blobs; other letters are indexes
// of rows, see rowIndexes.
var columns = [numTables]string{
	0x00: "2sggg", 0x01: "Rss", 0x02: "4ssTFM", 0x03: "F", 0x04: "2sb", 0x05: "M", 0x06: "422sbP",
	0x07: "P", 0x08: "22s", 0x09: "DT", 0x0a: "rsb", 0x0b: "2Cb", 0x0c: "aAb", 0x0d: "fb", 0x0e: "2db",
	0x0f: "24D", 0x10: "4F", 0x11: "b", 0x12: "DE", 0x13: "E", 0x14: "2sT", 0x15: "DQ", 0x16: "Q",
	0x17: "2sb", 0x18: "2Mh", 0x19: "Dmm", 0x1a: "s", 0x1b: "b", 0x1c: "2wsU", 0x1d: "4F", 0x1e: "44",
	0x1f: "4", 0x20: "422224bss", 0x21: "4", 0x22: "444", 0x23: "22224bssb", 0x24: "4V", 0x25: "444V",
	0x26: "4sb", 0x27: "44ssi", 0x28: "44si", 0x29: "DD", 0x2a: "22os", 0x2b: "mb", 0x2c: "GT",
}

// rowIndexes lists the tables whose rows a column refers to. If there is more than one, the lowest
// bits of the index say which one it is.
var rowIndexes = map[rune][]int{
	'D': {0x02}, 'E': {0x14}, 'F': {0x04}, 'G': {0x2a}, 'M': {0x06}, 'P': {0x08}, 'Q': {0x17}, 'U': {0x1a}, 'V': {0x23},
	'T': {0x02, 0x01, 0x1b},                            // TypeDefOrRef
	'R': {0x00, 0x1a, 0x23, 0x01},                      // ResolutionScope
	'r': {0x02, 0x01, 0x1a, 0x06, 0x1b},                // MemberRefParent
	'C': {0x04, 0x08, 0x17},                            // HasConstant
	'a': attributed,                                    // HasCustomAttribute
	'A': {tableNone, tableNone, 0x06, 0x0a, tableNone}, // CustomAttributeType
	'f': {0x04, 0x08},                                  // HasFieldMarshal
	'd': {0x02, 0x06, 0x20},                            // HasDeclSecurity
	'h': {0x14, 0x17},                                  // HasSemantics
	'm': {0x06, 0x0a},                                  // MethodDefOrRef
	'w': {0x04, 0x06},                                  // MemberForwarded
	'o': {0x02, 0x06},                                  // TypeOrMethodDef
	'i': {0x26, 0x23, 0x27},                            // Implementation
}

// attributed are the tables whose rows may have custom attributes.
var attributed = []int{
	0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00, 0x0e, 0x17, 0x14, 0x11, 0x1a, 0x1b, 0x20, 0x23,
	0x26, 0x27, 0x28, 0x2a, 0x2c, 0x2b,
}

const tableNone = -1

// tagBits returns how many bits of an index say which of n tables it is for.
func tagBits(n int) int { return bits.Len(uint(n - 1)) }
