package rotate

import "testing"

func TestUIDMap(t *testing.T) {
	for _, tc := range []struct {
		name, ids string
		want      bool
	}{
		{"the host", "         0          0 4294967295\n", true},
		{"one user is root", "         0       1000          1\n", false},
		{"a container without root", "         0       1000          1\n         1     100000      65536\n", true},
		{"a short range", "0 100000 65534\n", false},
		{"up to it", "0 100000 65535\n", true},
		{"from behind it", "65535 100000 10\n", false},
		{"nobody is", "65534 1000 1\n", true},
		{"a namespace without ids", "", false},
		{"what nobody can read", "x y z\n", true},
	} {
		if got := covers([]byte(tc.ids), 65534); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}
