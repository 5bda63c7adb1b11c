// Package fakefuse serves file systems over FUSE for tests: some answer until they are told to
// hang, like an NFS server that goes down or a malicious process, and some fail with an I/O error.
//
// Those that hang are served by a separate process, the test binary itself, in a mount namespace of
// its own: a process that looks through the machine's mounts does not meet them.
package fakefuse
