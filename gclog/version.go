package gclog

import "strconv"

// versionString prints the version of a runtime, but for the 4.x that .NET Core
// 3.1 calls itself, which says nothing to anybody.
func versionString(v [4]uint16) string {
	if v[0] < 5 {
		return ""
	}
	return strconv.Itoa(int(v[0])) + "." + strconv.Itoa(int(v[1])) + "." + strconv.Itoa(int(v[2]))
}
