package config

import (
	"fmt"
	"os/user"
	"strconv"

	"github.com/gclog/gclog/internal/rotate"
)

// account looks up the user and group that an output is written as.
func (s *Su) account() (a rotate.Account, err error) {
	if s.User == "" {
		return a, nil
	}
	group := s.Group
	id := s.User
	u, err := user.Lookup(s.User)
	if err != nil {
		u, err = user.LookupId(s.User)
	}
	if err == nil {
		id = u.Uid
		if group == "" {
			group = u.Gid
		}
	}
	uid, err := strconv.ParseUint(id, 10, 32)
	switch {
	case err != nil:
		return a, fmt.Errorf("su: there is no user %s: give the name of a user of this host, or a uid", quote(s.User))
	case uid == 0:
		return a, fmt.Errorf("su: %s is root, which makes su pointless: leave it out", quote(s.User))
	case group == "":
		return a, fmt.Errorf("su: this host does not know the user %s, so its group is unknown: set su.group, too",
			quote(s.User))
	}
	if g, err := user.LookupGroup(group); err == nil {
		group = g.Gid
	}
	gid, err := strconv.ParseUint(group, 10, 32)
	if err != nil {
		return a, fmt.Errorf("su: there is no group %s: give the name of a group of this host, or a gid",
			quote(s.Group))
	}
	return rotate.Account{UID: uint32(uid), GID: uint32(gid)}, nil
}
