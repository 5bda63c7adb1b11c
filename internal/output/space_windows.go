package output

import "golang.org/x/sys/windows"

// FreeSpace returns how many bytes the file system of a folder has left for this user.
func FreeSpace(dir string) (bytes uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	err = windows.GetDiskFreeSpaceEx(name, &bytes, nil, nil)
	return bytes, err
}
