package output

import "golang.org/x/sys/windows"

// DiskOf returns the file system of a folder.
func DiskOf(dir string) (d Disk, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return d, err
	}
	err = windows.GetDiskFreeSpaceEx(name, &d.Free, &d.Size, nil)
	return d, err
}
