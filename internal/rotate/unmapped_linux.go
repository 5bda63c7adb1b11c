package rotate

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
)

// isUnmapped reports whether an owner does not exist in this user namespace: the kernel shows all
// such owners as one number. Nobody inside the namespace can be such an owner; outside it, that is
// whoever created the namespace, or root, as for most of what a container is given.
func isUnmapped(uid uint32) bool {
	var shown uint32
	b, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil {
		return false
	}
	if _, err := fmt.Sscan(string(b), &shown); err != nil || uid != shown {
		return false
	}
	ids, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && !covers(ids, uid)
}

// covers reports whether a uid_map covers an id inside the namespace. Its lines contain the first
// id inside, the first id outside and the count. An unreadable map counts as covering it.
func covers(ids []byte, uid uint32) bool {
	lines := bufio.NewScanner(bytes.NewReader(ids))
	for lines.Scan() {
		var inside, outside, n uint64
		if _, err := fmt.Sscan(lines.Text(), &inside, &outside, &n); err != nil {
			return true
		}
		if id := uint64(uid); id >= inside && id-inside < n {
			return true
		}
	}
	return lines.Err() != nil
}
