package gclog

import "strconv"

// major returns the major version of the runtime, 0 if it is unknown.
func (p *Process) major() (n int) {
	for _, c := range []byte(p.RuntimeVersion) {
		if c < '0' || c > '9' || n > 100 {
			break
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// versionString formats the version of a runtime. It returns "" for the 4.x that .NET Core 3.1
// calls itself, which is meaningless.
func versionString(v [4]uint16) string {
	if v[0] < 5 {
		return ""
	}
	return strconv.Itoa(int(v[0])) + "." + strconv.Itoa(int(v[1])) + "." + strconv.Itoa(int(v[2]))
}
