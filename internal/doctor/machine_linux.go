package doctor

import (
	"os"
	"strconv"
	"strings"
	"unsafe"

	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"golang.org/x/sys/unix"
)

// fewFiles is a low limit of open files: the default of many systems.
const fewFiles = 1024

// machine adds what Linux reports about itself and about gclog's rights.
func (r *Report) machine(h *host.Host) {
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		r.fact("kernel", "%s", unix.ByteSliceToString(name.Release[:]))
	}
	r.rights()
	if options := procOptions(); hides(options) {
		r.fact("proc", "%s", strings.Join(options, ","))
		if !has(unix.CAP_SYS_PTRACE) {
			r.add(Warning, "hidepid",
				"/proc is mounted with %s: gclog does not see the processes of other users", strings.Join(options, ","))
		}
	}
	if p, err := h.Describe(os.Getpid()); err == nil {
		r.fact("container", "%s", p.ContainerID)
	}
	const first = "pid:[4026531836]" // PROC_PID_INIT_INO
	if ns, err := os.Readlink("/proc/self/ns/pid"); err == nil && ns != first {
		r.add(Note, "own-pid-namespace", "gclog runs in its own pid namespace: it sees only the processes in it")
	}
	r.fact("pidfd_exit_info", "%s", yes(hasPidfdInfo()))
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		files := "unlimited"
		if limit.Max != unix.RLIM_INFINITY {
			files = strconv.FormatUint(limit.Max, 10)
		}
		r.fact("open_files", "%s", files)
		if limit.Max < fewFiles { // programs in Go raise their soft limit to it
			r.add(Warning, "few-files", "gclog may have %d files open, enough for about %d sessions",
				limit.Max, limit.Max/(attach.SessionFiles+output.FilesOpen))
		}
	}
	r.fact("yama_ptrace_scope", "%s", firstLine("/proc/sys/kernel/yama/ptrace_scope"))
	r.fact("gclog_security_label", "%s", procText(os.Getpid(), "attr", "current"))
	r.fact("seccomp", "%s", seccomp())
}

func (r *Report) rights() {
	root, ptrace, override := os.Geteuid() == 0, has(unix.CAP_SYS_PTRACE), has(unix.CAP_DAC_OVERRIDE)
	switch {
	case !root && !(ptrace && override):
		r.add(Note, "own-processes",
			"gclog runs as uid %d%s: it can reach only the processes of this user", os.Geteuid(), capabilitiesText())
	case root && !ptrace:
		r.add(Warning, "machine-no-ptrace",
			"gclog runs as root without the capability SYS_PTRACE: it cannot attach to processes in other containers")
	}
	if root && !override {
		r.add(Warning, "machine-no-dac-override",
			"gclog runs as root without the capability DAC_OVERRIDE: it cannot attach to processes of other users")
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func hides(options []string) bool {
	for _, o := range options {
		if v, ok := strings.CutPrefix(o, "hidepid="); ok && v != "0" && v != "off" {
			return true
		}
	}
	return false
}

// hasPidfdInfo reports whether the kernel reports how a process ended to processes other than its
// parent: Linux 6.15 and later.
func hasPidfdInfo() bool {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PIDFD_GET_INFO, uintptr(unsafe.Pointer(&info)))
	return errno == 0
}

// seccomp returns the mode in which system calls of gclog are filtered, as sandboxes do; "" if they
// are not.
func seccomp() string {
	for line := range strings.Lines(procText(os.Getpid(), "status")) {
		if mode, ok := strings.CutPrefix(line, "Seccomp:"); ok && strings.TrimSpace(mode) != "0" {
			return "mode " + strings.TrimSpace(mode)
		}
	}
	return ""
}
