//go:build !linux

package rotate

import (
	"errors"
	"os"
)

func privileged() bool { return os.Geteuid() == 0 }

// Check rejects any account but gclog's own: only Linux has rights per thread.
func (a Account) Check() error {
	if a != (Account{}) {
		return errors.New("su: on this system gclog cannot act as another user")
	}
	return nil
}

// Do runs f, unless the account is not gclog's own.
func (a Account) Do(f func() error) error {
	if err := a.Check(); err != nil {
		return err
	}
	return f()
}
