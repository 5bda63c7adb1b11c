// Package fakefuse serves file systems over FUSE for tests: some that answer until they are told not to,
// as a server of NFS that goes down or a process that means harm, and some that fail with an I/O error.
//
// Those that do not answer are served by a process of its own, the test binary once more, with a mount
// namespace of its own: who looks through the mounts of the machine does not meet them.
package fakefuse
