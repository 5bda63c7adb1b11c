//go:build !linux

package formats

import (
	"errors"
	"os"
)

func privileged() bool { return os.Geteuid() == 0 }

// Do rejects any account but gclog's own: only Linux has rights per thread.
func (a Account) Do(f func() error) error {
	if a != (Account{}) {
		return errors.New("su: on this system gclog cannot write as another user")
	}
	return f()
}
