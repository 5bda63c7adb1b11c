// Package clr decodes the garbage collection events of the .NET runtime: the
// payloads that package parse hands out as bytes.
//
// A [Decoder] finds the layout of an event by provider, event id and version and
// fills one of the structs of this package. Native runtime events carry no field
// names, so fields are read by position; the structs list them in the order of
// the payload. docs/events.md has the layouts with what showed them.
//
// # Versions
//
// The runtime only ever appends fields. So a version newer than the known ones
// is read as its known prefix, bytes left over are no error, and a payload that
// is too short for its version is read as the highest version that it can hold.
// A payload too short for any version is an error.
//
// # Ownership
//
// The structs belong to the Decoder and are used again: a struct is valid until
// the next event of the same kind is decoded, and what it holds of the payload
// (names, bulk values) until the payload goes away. Nothing is allocated per
// event.
//
// Sizes are bytes. Times keep the unit of the payload, which the field says.
package clr
