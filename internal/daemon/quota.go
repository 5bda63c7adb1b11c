package daemon

import (
	"container/heap"
	"path/filepath"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/output"
)

// Which files are deleted because all of them are too large: those of the user who has the most, of that
// user's service that has the most, the oldest first. So whatever a process leaves, only files of its
// own user are deleted for it as long as others have less.

// A quota is files that share a limit, oldest first.
type quota struct {
	files []*leftFile
	most  int64
}

// byQuota divides files, oldest first, into those that share a limit: all, or with config.AutoTotal
// those on one file system.
func byQuota(list []leftFile, total int64) (quotas []*quota) {
	if total == 0 {
		return nil
	}
	byDisk, byFolder := map[uint64]*quota{}, map[string]*quota{}
	for i := range list {
		folder := filepath.Dir(list[i].path)
		if total > 0 {
			folder = ""
		}
		q := byFolder[folder]
		if q == nil {
			most, id := total, uint64(0)
			if total == config.AutoTotal {
				most = config.AutoTotalMost
				if disk, err := output.DiskOf(folder); err == nil {
					id, most = disk.ID, min(most, int64(disk.Size/10))
				}
			}
			if q = byDisk[id]; q == nil {
				q = &quota{most: most}
				byDisk[id], quotas = q, append(quotas, q)
			}
			byFolder[folder] = q
		}
		q.files = append(q.files, &list[i])
	}
	return quotas
}

// surplusFiles returns which files, given oldest first, are to be deleted until the rest has at most a
// size.
func surplusFiles(files []*leftFile, most int64) (surplus []*leftFile) {
	all := &share{}
	for i, f := range files {
		all.add(f, i, f.owners())
	}
	all.order()
	for all.size > most && all.count > 0 {
		surplus = append(surplus, all.take())
	}
	return surplus
}

// owners returns who shares the space with whom, on each level. A user who owns files about processes of
// others, as with su, could claim that they are of anyone.
func (f *leftFile) owners() []string {
	user := f.owner.UserID
	if f.owner.Account != "" {
		user = f.owner.Account
	}
	return []string{user, f.owner.UserID, f.owner.Service}
}

// A share is what an owner has: files, or shares of which the largest is first.
type share struct {
	size   int64
	count  int
	oldest int // the position of the first file that it had among all
	files  []*leftFile
	byName map[string]*share
	shares shares
}

// add adds the file at a position.
func (s *share) add(f *leftFile, position int, owners []string) {
	if s.count == 0 {
		s.oldest = position
	}
	s.size += f.size
	s.count++
	if len(owners) == 0 {
		s.files = append(s.files, f)
		return
	}
	of := s.byName[owners[0]]
	if of == nil {
		if s.byName == nil {
			s.byName = map[string]*share{}
		}
		of = &share{}
		s.byName[owners[0]], s.shares = of, append(s.shares, of)
	}
	of.add(f, position, owners[1:])
}

// order must be called before take.
func (s *share) order() {
	for _, of := range s.shares {
		of.order()
	}
	heap.Init(&s.shares)
}

// take removes the file that is the first to go.
func (s *share) take() (f *leftFile) {
	if len(s.shares) == 0 {
		f, s.files = s.files[0], s.files[1:]
	} else {
		of := s.shares[0]
		f = of.take()
		if of.count == 0 {
			heap.Pop(&s.shares)
		} else {
			heap.Fix(&s.shares, 0)
		}
	}
	s.size -= f.size
	s.count--
	return f
}

// shares is a heap of shares, the largest first; of equal ones, that which had the oldest file.
type shares []*share

func (s shares) Len() int      { return len(s) }
func (s shares) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s shares) Less(i, j int) bool {
	if s[i].size != s[j].size {
		return s[i].size > s[j].size
	}
	return s[i].oldest < s[j].oldest
}
func (s *shares) Push(x any) { *s = append(*s, x.(*share)) }
func (s *shares) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	*s = (*s)[:last]
	return x
}
