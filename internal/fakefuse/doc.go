// Package fakefuse serves file systems over FUSE which answer, until they are told not to: as a server
// of NFS that goes down, or a process that means harm. It is for tests.
//
// A server is a process of its own, the test binary once more, with a mount namespace of its own: who
// looks through the mounts of the machine does not meet its.
package fakefuse
