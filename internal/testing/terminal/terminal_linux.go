package terminal

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Open returns the two sides of a terminal of a size: what is written to tty can be read from main,
// and the other way around.
func Open(columns, rows uint16) (main, tty *os.File, err error) {
	main, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, main.Close())
		}
	}()
	number, err := unix.IoctlGetInt(int(main.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	if err = unix.IoctlSetPointerInt(int(main.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	if err = Resize(main, columns, rows); err != nil {
		return nil, nil, err
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	return main, tty, err
}

// Resize changes the size of a terminal.
func Resize(main *os.File, columns, rows uint16) error {
	return unix.IoctlSetWinsize(int(main.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows})
}
