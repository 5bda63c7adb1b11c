//go:build !linux

package formats

import (
	"errors"
	"os"
)

func privileged() bool { return os.Geteuid() == 0 }

// Do refuses an account: only on Linux has a thread rights of its own.
func (a Account) Do(f func() error) error {
	if a != (Account{}) {
		return errors.New("su: this system cannot write as another user than that of gclog")
	}
	return f()
}
