package host

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// locate finds the socket. If there is none, the error says why.
func (p *Process) locate() error {
	if uid := os.Geteuid(); uid != 0 && uid != p.UID && !reachesOthers() {
		return refuse(p.PID, CauseOtherUser, nil,
			"belongs to user %s (uid %d), gclog runs as uid %d: run gclog as that user or as root", p.User, p.UID, uid)
	}
	if found, err := p.search(); !found {
		return p.whyNoSocket(err)
	}
	return nil
}

// search looks for the socket. failure is the reason why it could not look in a directory.
func (p *Process) search() (found bool, failure error) {
	dirs := []string{p.tempDir}
	if p.tempDir != "/tmp" {
		dirs = append(dirs, "/tmp") // the runtime may have ignored a TMPDIR that it could not use
	}
	for _, dir := range dirs {
		r, err := p.ask(&request{
			Kind:   findSocket,
			Path:   dir,
			Name:   p.socketName(),
			Prefix: p.socketPrefix(),
			Oldest: p.Started.Add(-time.Second).UnixNano(),
			UID:    p.UID,
		})
		if err == nil && r.Name != "" {
			p.tempDir, p.socket = dir, r.Name
			return true, nil
		}
		if err != nil && failure == nil {
			failure = err
		}
	}
	return false, failure
}

// reachesOthers reports whether gclog, without being root, has the capabilities for looking into
// processes of other users and connecting to their sockets.
func reachesOthers() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	const both = 1<<unix.CAP_SYS_PTRACE | 1<<unix.CAP_DAC_OVERRIDE
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&both == both
}

// socketName returns the name of the socket outside time namespaces.
func (p *Process) socketName() string {
	return p.socketPrefix() + strconv.FormatUint(p.StartKey, 10) + "-socket"
}

func (p *Process) socketPrefix() string { return "dotnet-diagnostic-" + strconv.Itoa(p.InnerPID) + "-" }

// Socket returns the path of the socket as the process sees it, or "" if none is known.
func (p *Process) Socket() string {
	if p.socket == "" {
		return ""
	}
	return filepath.Join(p.tempDir, p.socket)
}
