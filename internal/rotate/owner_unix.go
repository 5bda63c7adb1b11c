//go:build unix

package rotate

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// isTrusted reports whether a file belongs to root, to the user of this process, to the user who
// ran gclog with sudo, to the user that gclog writes as, or to no user in this user namespace.
func (o *Options) isTrusted(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (s.Uid == 0 || int(s.Uid) == os.Geteuid() || o.Sudo != 0 && int(s.Uid) == o.Sudo ||
		s.Uid == o.As.UID || isUnmapped(s.Uid))
}

// accountOf returns the user that a file belongs to, if it is neither root nor the user of this process.
func accountOf(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Uid == 0 || int(s.Uid) == os.Geteuid() {
		return ""
	}
	return strconv.Itoa(int(s.Uid))
}

// strict reports whether gclog has more rights than the owner of a directory, and uses them itself:
// then no other user may own the directory.
func (o *Options) strict() bool { return o.As == (Account{}) && privileged() }

// A groupOf is the group of a directory.
type groupOf struct {
	name    string
	trusted bool // its members are only root, or the user who runs gclog
	system  bool // a system group, not one of people
}

// firstOrdinary is the first id of ordinary groups: SYS_GID_MAX in login.defs is below it.
const firstOrdinary = 1000

// owners returns the user that a directory belongs to, "" if that user is trusted, and its group.
func (o *Options) owners(info fs.FileInfo) (owner string, group groupOf) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", groupOf{trusted: true}
	}
	if !o.isTrusted(info) {
		owner = strconv.Itoa(int(s.Uid))
		if u, err := user.LookupId(owner); err == nil {
			owner = u.Username
		}
	}
	group = groupOf{
		name:    strconv.Itoa(int(s.Gid)),
		trusted: s.Gid == 0 || int(s.Gid) == os.Getegid(),
		system:  s.Gid < firstOrdinary,
	}
	if g, err := user.LookupGroupId(group.name); err == nil {
		group.name = g.Name
	}
	if u, err := user.LookupId(strconv.Itoa(o.Sudo)); o.Sudo != 0 && err == nil && u.Gid == strconv.Itoa(int(s.Gid)) {
		group.trusted = true
	}
	return owner, group
}

// hasOneName reports whether a file has a single hard link.
func hasOneName(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 1
}
