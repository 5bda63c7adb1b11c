//go:build unix

package formats

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// isTrusted reports whether a file belongs to root, to the user of this process, to the one who has
// called it by sudo, to the one that it writes as, or to nobody in this user namespace.
func (o *RotateOptions) isTrusted(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (s.Uid == 0 || int(s.Uid) == os.Geteuid() || o.Sudo != 0 && int(s.Uid) == o.Sudo || s.Uid == o.As.UID || isUnmapped(s.Uid))
}

// strict reports whether gclog can do more than the owner of a directory may, and acts for itself:
// then nobody else may own it.
func (o *RotateOptions) strict() bool { return o.As == (Account{}) && privileged() }

// A groupOf is the group of a directory.
type groupOf struct {
	name    string
	trusted bool // only root is in it, or who runs gclog
	system  bool // it is none of people
}

// firstOrdinary is the first id of people's groups: SYS_GID_MAX of login.defs ends before.
const firstOrdinary = 1000

// owners returns the user that a directory belongs to, "" if that is to be trusted, and its group.
func (o *RotateOptions) owners(info fs.FileInfo) (owner string, group groupOf) {
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
	group = groupOf{name: strconv.Itoa(int(s.Gid)), trusted: s.Gid == 0 || int(s.Gid) == os.Getegid(), system: s.Gid < firstOrdinary}
	if g, err := user.LookupGroupId(group.name); err == nil {
		group.name = g.Name
	}
	if u, err := user.LookupId(strconv.Itoa(o.Sudo)); o.Sudo != 0 && err == nil && u.Gid == strconv.Itoa(int(s.Gid)) {
		group.trusted = true
	}
	return owner, group
}

// hasOneName reports whether a file is in no other folder too.
func hasOneName(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 1
}
