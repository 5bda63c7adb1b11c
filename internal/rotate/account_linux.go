package rotate

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// capabilities returns the capabilities of this thread.
func capabilities() (data [2]unix.CapUserData, err error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	err = unix.Capget(&header, &data[0])
	return data, err
}

func setCapabilities(data [2]unix.CapUserData) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	return unix.Capset(&header, &data[0])
}

// privileged reports whether gclog may write where its user may not: as root, or with the
// capability to inspect all processes.
func privileged() bool {
	if os.Geteuid() == 0 {
		return true
	}
	data, err := capabilities()
	return err == nil && data[0].Effective&(1<<unix.CAP_DAC_OVERRIDE) != 0
}

// isOwn reports whether the account is that of this process.
func (a Account) isOwn() bool {
	return a == (Account{}) || int(a.UID) == os.Geteuid() && int(a.GID) == os.Getegid()
}

// Do runs f with the account's rights to files, in a thread of its own that ends with f, because a
// thread's original rights cannot be restored reliably.
func (a Account) Do(f func() error) error {
	if a == (Account{}) || a.isOwn() && !privileged() {
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

// assume gives the thread the rights of the account, and no others. Its uid stays gclog's, so that
// the user cannot end gclog.
func (a Account) assume() error {
	if err := unix.Setgroups([]int{int(a.GID)}); err != nil {
		return a.missing(err)
	}
	_, _ = unix.SetfsgidRetGid(int(a.GID)) // these return the previous id, not an error
	_, _ = unix.SetfsuidRetUid(int(a.UID))
	gid, _ := unix.SetfsgidRetGid(-1)
	uid, _ := unix.SetfsuidRetUid(-1)
	if uid != int(a.UID) || gid != int(a.GID) {
		return a.missing(unix.EPERM)
	}
	data, err := capabilities()
	if err != nil {
		return err
	}
	data[0].Effective, data[1].Effective = 0, 0
	return setCapabilities(data)
}

// missing returns what gclog lacks, or an error if that is something else.
func (a Account) missing(otherwise error) error {
	if err := a.Check(); err != nil {
		return err
	}
	return otherwise
}

// Check returns an error that says what gclog lacks to give up its own rights for those of the
// account, with the lines for its systemd unit.
func (a Account) Check() error {
	data, err := capabilities()
	if err != nil {
		return err
	}
	if a.isOwn() {
		if os.Geteuid() != 0 && data != ([2]unix.CapUserData{}) && isRefused(unix.SYS_CAPSET) {
			return errors.New("it requires the system call capset, to give up gclog's capabilities; in a systemd " +
				"unit, add SystemCallFilter=capset")
		}
		return nil
	}
	const both = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID
	var all, refused []string
	for _, c := range []struct {
		name   string
		number uintptr
	}{
		{"setgroups", unix.SYS_SETGROUPS},
		{"setgid", unix.SYS_SETGID},
		{"setuid", unix.SYS_SETUID},
		{"setresuid", unix.SYS_SETRESUID},
		{"setfsgid", unix.SYS_SETFSGID},
		{"setfsuid", unix.SYS_SETFSUID},
		{"capset", unix.SYS_CAPSET},
	} {
		if all = append(all, c.name); isRefused(c.number) {
			refused = append(refused, c.name)
		}
	}
	switch {
	case data[0].Effective&both != both:
		return fmt.Errorf("it requires root, or the capabilities SETUID and SETGID; in a systemd unit, add "+
			"AmbientCapabilities=CAP_SETUID CAP_SETGID, CapabilityBoundingSet=CAP_SETUID CAP_SETGID and "+
			"SystemCallFilter=%s", strings.Join(all, " "))
	case len(refused) > 0:
		return fmt.Errorf("it requires the system calls %s; in a systemd unit, add SystemCallFilter=%[1]s",
			strings.Join(refused, " "))
	}
	return nil
}

// isRefused reports whether a sandbox refuses a system call that sets ids or capabilities. It is
// called with ids and addresses that are none, which changes nothing.
func isRefused(call uintptr) bool {
	const none = ^uintptr(0)
	_, _, errno := unix.RawSyscall(call, none, none, none)
	return errno != 0 && errno != unix.EINVAL && errno != unix.EFAULT
}
