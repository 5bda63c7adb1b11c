package output

import (
	"fmt"

	"github.com/gclog/gclog/formats"
)

// A Disk is the file system of a folder.
type Disk struct {
	ID         uint64 // differs from that of other file systems; 0: unknown
	Free, Size uint64 // bytes, Free for this user
	Memory     bool   // what is written there takes memory
}

// Spare returns how many bytes may be written without taking the last tenth of the disk, which is for
// others: logs, above all.
func (d Disk) Spare() uint64 { return d.Free - min(d.Free, d.Size/10) }

// A Reserve keeps something large from taking the last tenth of the disk of a folder. The zero Reserve
// allows everything.
type Reserve struct {
	Folder string

	granted int64 // bytes that may be written before the disk is asked again
}

// reserveStep is how many bytes are written between two looks at the disk.
const reserveStep = 4 << 20

// Take returns an error if so many bytes must not be written. A disk that cannot be asked has room.
func (r *Reserve) Take(bytes int) error {
	if r.granted -= int64(bytes); r.granted >= 0 || r.Folder == "" {
		return nil
	}
	d, err := DiskOf(r.Folder)
	if err == nil && d.Spare() < uint64(bytes)+reserveStep {
		r.granted = 0
		return &ReserveError{Folder: r.Folder, Disk: d}
	}
	r.granted = reserveStep
	return nil
}

// A ReserveError reports that only the last tenth of a disk is left.
type ReserveError struct {
	Folder string
	Disk   Disk
}

func (e *ReserveError) Error() string {
	return fmt.Sprintf("%s has only %s of %s left, and the last tenth of a disk is for others",
		e.Folder, formats.SizeText(int64(e.Disk.Free)), formats.SizeText(int64(e.Disk.Size)))
}
