// Package rotate has the files that logs are written to: rotating files that always consist of whole
// groups of lines, the checks of the folders that they are in, their locks and owners, and the
// accounts whose rights apply to them. A File is an Output of package formats.
package rotate
