package outfile

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/output"
)

// ScratchFolders returns the folders for a file that nobody will see, the one on the disk with the most
// room first: that of the result, and those for temporary files. A file system in memory is the last
// resort.
func ScratchFolders(of string) []string {
	list := []string{of, os.TempDir()}
	if runtime.GOOS != "windows" {
		list = append(list, "/var/tmp")
	}
	disks := map[string]output.Disk{}
	for _, dir := range list {
		disks[dir], _ = output.DiskOf(dir) // one that cannot be asked has no room that is known
	}
	slices.SortStableFunc(list, func(a, b string) int {
		x, y := disks[a], disks[b]
		if x.Memory != y.Memory {
			if x.Memory {
				return 1
			}
			return -1
		}
		return cmp.Compare(y.Spare(), x.Spare())
	})
	return list
}

// OpenScratch creates a file in the first folder where that is possible. Its name is one that nobody
// can guess, and on most systems it has none any more when it is open.
func OpenScratch(folders []string) (*Recording, error) {
	var failed []error
	for _, folder := range folders {
		r, err := scratchIn(folder)
		if err == nil {
			return r, nil
		}
		failed = append(failed, &output.PathError{Path: folder, Err: cause.Of(err)})
	}
	return nil, errors.Join(failed...)
}

func scratchIn(folder string) (*Recording, error) {
	dir, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	name := ".gclog-" + program.RandomID()
	f, err := dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		_ = dir.Close()
		return nil, err
	}
	r := &Recording{f, filepath.Join(folder, name), dir}
	r.Remove()
	return r, nil
}
