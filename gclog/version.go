package gclog

import "strconv"

// versionString formats the version of a runtime. It returns "" for the 4.x that .NET Core 3.1
// calls itself, which is meaningless.
func versionString(v [4]uint16) string {
	if v[0] < 5 {
		return ""
	}
	return strconv.Itoa(int(v[0])) + "." + strconv.Itoa(int(v[1])) + "." + strconv.Itoa(int(v[2]))
}
