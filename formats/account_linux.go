package formats

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// privileged reports whether gclog may write where its user may not: as root, or with the
// capability to inspect all processes.
func privileged() bool {
	if os.Geteuid() == 0 {
		return true
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_DAC_OVERRIDE) != 0
}

// Do runs f with the account's rights to files, in a thread of its own that ends with f, because a
// thread's original rights cannot be restored reliably.
func (a Account) Do(f func() error) error {
	if a == (Account{}) || int(a.UID) == os.Geteuid() && int(a.GID) == os.Getegid() && !privileged() {
		return f()
	}
	result, panicked := make(chan error), make(chan any)
	go func() {
		runtime.LockOSThread() // never unlocked
		defer func() {
			if x := recover(); x != nil {
				panicked <- x
			}
		}()
		if err := a.assume(); err != nil {
			result <- fmt.Errorf("writing as uid %d, gid %d: %w", a.UID, a.GID, err)
			return
		}
		result <- f()
	}()
	select {
	case err := <-result:
		return err
	case x := <-panicked:
		panic(x)
	}
}

// assume gives the thread the rights of the account, and no others.
func (a Account) assume() error {
	if err := unix.Setgroups([]int{int(a.GID)}); err != nil {
		return errors.Join(errors.New("it requires root, or the capabilities SETUID and SETGID"), err)
	}
	_, _ = unix.SetfsgidRetGid(int(a.GID)) // these return the previous id, not an error
	_, _ = unix.SetfsuidRetUid(int(a.UID))
	gid, _ := unix.SetfsgidRetGid(-1)
	uid, _ := unix.SetfsuidRetUid(-1)
	if uid != int(a.UID) || gid != int(a.GID) {
		return errors.New("it requires root, or the capabilities SETUID and SETGID")
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	data[0].Effective, data[1].Effective = 0, 0
	return unix.Capset(&header, &data[0])
}
