package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/internal/host"
	"golang.org/x/sys/unix"
)

func procPath(pid int, names ...string) string {
	return filepath.Join(append([]string{"/proc", strconv.Itoa(pid)}, names...)...)
}

// procText reads a small file of /proc; it returns "" if that fails.
func procText(pid int, names ...string) string {
	b, err := os.ReadFile(procPath(pid, names...))
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(b), "\x00\n")
}

// refine looks closer at a process that cannot be attached to. It returns a more specific cause, or
// "", and a better sentence, or "" if the existing one will do.
func refine(h *host.Host, pid int, id string) (finer, text string) {
	switch id {
	case "no-socket":
		if uid, hidden := hidesEnvironment(pid); hidden {
			return noOverride(pid, uid)
		}
	case "not-dotnet", "other-user":
		if isKernelThread(pid) {
			return "kernel-thread", fmt.Sprintf("process %d (%s) is a kernel thread", pid, procText(pid, "comm"))
		}
		if id == "other-user" {
			return refineUser(pid)
		}
		if uid, hidden := hidesEnvironment(pid); hidden {
			return noOverride(pid, uid)
		}
		p, err := h.Describe(pid)
		if err != nil {
			return "", ""
		}
		mono, _ := p.Maps("/libmonosgen", "/libmono-2.0", "/mono-sgen")
		switch {
		case p.SocketDeleted():
			return "socket-deleted", fmt.Sprintf("process %d (%s) listens on a diagnostics socket that was deleted, "+
				"probably by a cleanup of temporary files; restart the process", pid, p.Name)
		case mono != "":
			return "mono", fmt.Sprintf("process %d (%s) runs on Mono, which has no diagnostics socket",
				pid, procText(pid, "comm"))
		case p.IsNativeAOT():
			return "no-event-source", fmt.Sprintf("process %d (%s) is a NativeAOT program without a diagnostics "+
				"socket: it was built without EventSourceSupport", pid, procText(pid, "comm"))
		}
	}
	return "", ""
}

// hidesEnvironment reports whether root lacks the capability to read the environment of a process,
// and with it its TMPDIR.
func hidesEnvironment(pid int) (uid uint32, hidden bool) {
	f, err := os.Open(procPath(pid, "environ"))
	if err == nil {
		_ = f.Close()
	}
	var st unix.Stat_t
	hidden = errors.Is(err, os.ErrPermission) && os.Geteuid() == 0 && !has(unix.CAP_DAC_OVERRIDE) &&
		unix.Stat(procPath(pid), &st) == nil
	return st.Uid, hidden
}

func noOverride(pid int, uid uint32) (finer, text string) {
	return "no-dac-override", fmt.Sprintf("process %d belongs to uid %d, and gclog is root without the capability "+
		"DAC_OVERRIDE: it cannot read the TMPDIR of the process or open its socket", pid, uid)
}

// refineUser returns the cause, and a sentence about what the owner of the process could do or
// which rights gclog lacks; both are "" if there is nothing to add.
func refineUser(pid int) (finer, text string) {
	var st unix.Stat_t
	if unix.Stat(procPath(pid), &st) != nil {
		return "", ""
	}
	if os.Geteuid() == 0 {
		if has(unix.CAP_DAC_OVERRIDE) {
			return "", ""
		}
		return noOverride(pid, st.Uid)
	}
	return "other-user", fmt.Sprintf(
		"process %d belongs to uid %d, gclog runs as uid %d%s: sudo -u '#%d' gclog attach %d, or sudo gclog attach %d",
		pid, st.Uid, os.Geteuid(), capabilitiesText(), st.Uid, pid, pid)
}

// isKernelThread checks the flags of the process, which every user may read.
func isKernelThread(pid int) bool {
	const flagKernelThread = 0x00200000 // PF_KTHREAD
	stat := procText(pid, "stat")
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 7 {
		return false
	}
	flags, err := strconv.ParseUint(fields[9-3], 10, 64)
	return err == nil && flags&flagKernelThread != 0
}

// namespaces adds which namespaces a process does not share with gclog.
func (r *Report) namespaces(p *host.Process) {
	differs := func(kind string) bool {
		mine, err := os.Readlink(procPath(os.Getpid(), "ns", kind))
		theirs, errTheirs := os.Readlink(procPath(p.PID, "ns", kind))
		return err == nil && errTheirs == nil && mine != theirs
	}
	var apart []string
	for _, kind := range []string{"mnt", "pid"} {
		if differs(kind) {
			apart = append(apart, kind)
		}
	}
	if len(apart) > 0 {
		r.add(Note, "other-container",
			"process %d has its own namespaces (%s): gclog reaches its socket through /proc/%d/root",
			p.PID, strings.Join(apart, ", "), p.PID)
	}
	if differs("time") {
		r.add(Note, "time-namespace",
			"process %d is in its own time namespace: it sees a different start time for itself than the host does",
			p.PID)
	}
}

// describeMore adds what security modules report, if there are any.
func (r *Report) describeMore(p *host.Process) {
	if label := procText(p.PID, "attr", "current"); label != "" && label != "unconfined" {
		r.fact("security_label", "%s", label)
	}
	if id := r.Err; id != nil && CauseOf(id) == "no-ptrace" {
		r.fact("yama_ptrace_scope", "%s", firstLine("/proc/sys/kernel/yama/ptrace_scope"))
		r.fact("gclog_security_label", "%s", procText(os.Getpid(), "attr", "current"))
	}
}

// has reports whether gclog has a capability.
func has(capability int) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return false
	}
	return data[capability/32].Effective&(1<<(capability%32)) != 0
}

// needed are the capabilities that are needed to reach all processes.
var needed = []struct {
	name   string
	number int
}{{"SYS_PTRACE", unix.CAP_SYS_PTRACE}, {"DAC_OVERRIDE", unix.CAP_DAC_OVERRIDE}}

func capabilitiesText() string {
	var with, without []string
	for _, c := range needed {
		if has(c.number) {
			with = append(with, c.name)
		} else {
			without = append(without, c.name)
		}
	}
	switch {
	case len(without) == 0:
		return " with " + strings.Join(with, " and ")
	case len(with) == 0:
		return " without " + strings.Join(without, " and ")
	}
	return " with " + strings.Join(with, " and ") + ", without " + strings.Join(without, " and ")
}

func firstLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return string(line)
}

// procOptions returns the mount options of /proc; of several mounts the last hides the others.
func procOptions() (options []string) {
	b, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(b)) {
		fields := strings.Fields(line)
		if len(fields) > 6 && fields[4] == "/proc" && slices.Contains(fields, "proc") {
			options = strings.Split(fields[len(fields)-1], ",")
		}
	}
	return options
}
