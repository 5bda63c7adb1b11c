// Package clr decodes the garbage collection events of the .NET runtime from the payloads that
// package parse returns as bytes.
//
// A [Decoder] finds the layout of an event by provider, event id and version and fills one of the
// structs of this package. Native runtime events contain no field names, so fields are read by
// position; the structs list them in the order of the payload. docs/events.md describes the layouts
// and the evidence for them.
//
// # Versions
//
// The runtime only ever appends fields. So of a version newer than the known ones the known prefix
// is read, trailing bytes are not an error, and a payload that is too short for its version is read
// as the highest version that fits. A payload too short for any version is an error.
//
// # Ownership
//
// The Decoder owns the structs and reuses them: a struct is valid until the next event of the same
// kind is decoded, and its references to the payload (names, bulk values) until the payload becomes
// invalid. Nothing is allocated per event.
//
// Sizes are in bytes. Times keep the unit of the payload, which the field's comment or name states.
package clr
