package daemon

import (
	"strconv"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// What systemd is told. Without systemd nothing happens.
const (
	notifyReady    = systemd.SdNotifyReady
	notifyStopping = systemd.SdNotifyStopping
	notifyWatchdog = systemd.SdNotifyWatchdog
)

func notify(state string) {
	_, _ = systemd.SdNotify(false, state) // who does not listen need not know
}

// notifyReloading is what services of type notify-reload say, which systemd wants with
// the time of its clock.
func notifyReloading() string {
	return systemd.SdNotifyReloading + "\nMONOTONIC_USEC=" + strconv.FormatInt(monotonic().Microseconds(), 10)
}

// newWatchdog ticks twice as often as systemd wants to hear that the loop turns; never,
// if it does not.
func newWatchdog() <-chan time.Time {
	every, err := systemd.SdWatchdogEnabled(false)
	if err != nil || every <= 0 {
		return nil
	}
	return time.NewTicker(every / 2).C
}
