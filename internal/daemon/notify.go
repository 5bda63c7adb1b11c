package daemon

import (
	"strconv"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// Notifications to systemd. Without systemd they do nothing.
const (
	notifyReady    = systemd.SdNotifyReady
	notifyStopping = systemd.SdNotifyStopping
	notifyWatchdog = systemd.SdNotifyWatchdog
)

func notify(state string) {
	_, _ = systemd.SdNotify(false, state) // whoever does not listen need not know
}

// notifyReloading returns the notification of services of type notify-reload, which systemd
// requires to contain its monotonic clock's time.
func notifyReloading() string {
	return systemd.SdNotifyReloading + "\nMONOTONIC_USEC=" + strconv.FormatInt(monotonic().Microseconds(), 10)
}

// newWatchdog returns a ticker that ticks twice as often as systemd requires a sign of life from
// the loop; it never ticks if systemd requires none.
func newWatchdog() <-chan time.Time {
	every, err := systemd.SdWatchdogEnabled(false)
	if err != nil || every <= 0 {
		return nil
	}
	return time.NewTicker(every / 2).C
}
