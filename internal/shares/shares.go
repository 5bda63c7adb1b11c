// Package shares divides the room of a queue among the processes that fill it, and among their users:
// whoever fills it as fast as possible leaves room for the others, although nobody knows in advance
// how many there will be.
package shares

// A Room is the room of a queue, in any unit. It has no lock of its own.
type Room struct {
	most, used int
	users      map[string]*Share
	emptied    uint64 // how often it was
}

// A Share is what a process, or all processes of a user, have taken of a Room.
type Share struct {
	room    *Room
	user    *Share // the share of its user; nil: this is one
	used    int
	emptied uint64 // as the Room's when used was last right
}

const (
	// greed is how many times what is free one may have: alone, 3/4 of everything; of two who take what
	// they can, each 3/7.
	greed = 3
	// mostUsers is how many users are distinguished: a user may have tens of thousands of ids.
	mostUsers = 4096
)

// NewRoom returns a Room of a size.
func NewRoom(most int) *Room { return &Room{most: most, users: map[string]*Share{}} }

// Of returns the share of one more process of a user; "": it is unknown whose it is.
func (r *Room) Of(user string) *Share {
	if r.users[user] == nil && len(r.users) >= mostUsers {
		user = ""
	}
	x := r.users[user]
	if x == nil {
		x = &Share{room: r}
		r.users[user] = x
	}
	return &Share{room: r, user: x}
}

// Take takes n, or nothing if that would be more than the share of the process, or of its user.
func (s *Share) Take(n int) bool {
	r := s.room
	free := r.most - r.used - n
	if free < 0 || s.now()+n > greed*free || s.user.now()+n > greed*free {
		return false
	}
	s.used += n
	s.user.used += n
	r.used += n
	return true
}

// Give gives n back.
func (s *Share) Give(n int) {
	s.used -= n
	s.user.used -= n
	s.room.used -= n
}

// now returns what was taken since the room was last emptied.
func (s *Share) now() int {
	if s.emptied != s.room.emptied {
		s.emptied, s.used = s.room.emptied, 0
	}
	return s.used
}

// Used returns how much is taken.
func (r *Room) Used() int { return r.used }

// Empty gives everything back that anybody has taken.
func (r *Room) Empty() {
	r.used = 0
	r.emptied++
}
