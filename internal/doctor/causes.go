// Package doctor finds out why a process cannot be attached to, why a file cannot be read or what
// is missing in it, and what on the machine hinders gclog; and what to do about it.
//
// Every cause is a row of the table in causes.go: docs/troubleshooting.md is generated from it, and
// each row has a test that produces the cause.
package doctor

// A Cause is one reason why something does not work, or not as well as it could.
type Cause struct {
	ID   string
	What string // one general sentence; a Finding is about one process or file
	Way  string // what to do about it
}

// A Subject is what causes are about.
type Subject struct {
	Title  string
	Causes []Cause
}

// Table contains all causes.
var Table = []Subject{
	{"gclog cannot attach to a process", attachCauses},
	{"gclog can attach to a process, but", limitCauses},
	{"A file cannot be read", fileCauses},
	{"A recording can be read but is incomplete", recordingCauses},
	{"A gclog log can be read but is incomplete", logCauses},
	{"The machine and gclog's permissions", machineCauses},
}

var attachCauses = []Cause{
	{
		"no-process", "No process has this pid.",
		"Find the pid with gclog ps. A process in a container has a different pid on the host.",
	},
	{
		"hidden", "A process has this pid, but /proc is mounted with hidepid and does not show it.",
		"Run gclog as root or as the user of the process, or add gclog's user to the group in the mount option gid=.",
	},
	{
		"thread", "The number is a thread id, not a pid.",
		"Use the pid of the process that the thread belongs to; the message names it.",
	},
	{
		"ended", "The process has exited and is a zombie: its parent has not waited for it yet.",
		"There is nothing left to attach to. If zombies pile up in a container, give it an init process (docker run --init).",
	},
	{
		"kernel-thread", "It is a kernel thread, not a program.",
		"Choose another pid: gclog ps lists the .NET processes.",
	},
	{
		"other-user", "The process belongs to another user.",
		"Run gclog as that user or as root. In a service or a container, give it the capabilities SYS_PTRACE and DAC_OVERRIDE.",
	},
	{
		"no-ptrace", "The process is in another container or has more privileges than gclog. Without the capability SYS_PTRACE gclog cannot see its files.",
		"Run gclog as root on the host, or add the capability: docker run --cap-add SYS_PTRACE, securityContext.capabilities.add in Kubernetes, AmbientCapabilities in systemd.",
	},
	{
		"no-dac-override", "gclog runs as root without the capability DAC_OVERRIDE: it can neither read the TMPDIR of other users' processes nor open their sockets.",
		"Add the capability DAC_OVERRIDE, or run gclog as the user of the process.",
	},
	{
		"no-access", "The operating system does not let gclog inspect the process.",
		"Run gclog as root on the host. If it already does, look for a denial in the SELinux or AppArmor log.",
	},
	{
		"snapshot", "gclog is taking a heap snapshot of the process. Each session that starts or ends meanwhile would make the runtime collect and walk its heap once more.",
		"Nothing: gclog goes on when the snapshot is complete.",
	},
	{
		"stuck", "Inspecting the process hangs: the file system of its temporary directory does not respond (FUSE, NFS), or a system call is stuck in the kernel.",
		"Check what the message names: a FUSE server that hangs, an NFS server that is down (findmnt, dmesg). gclog tries again once the stuck call returns.",
	},
	{
		"too-many-files", "gclog has reached its limit of open files.",
		"Raise the limit in the shell or service that starts gclog: ulimit -n 16384, LimitNOFILE=16384.",
	},
	{
		"not-dotnet", "The process contains no .NET runtime.",
		"Choose another pid with gclog ps: the pid may be that of a launcher, a shell or dotnet watch, whose child is the .NET process. If the process has just been started, try again.",
	},
	{
		"mono", "The process runs on Mono, which has no diagnostics socket. The same holds for the .NET Framework on Windows.",
		"gclog cannot log it: it supports .NET Core 3.1 and later and NativeAOT. On Windows, PerfView collects the GC events of the .NET Framework.",
	},
	{
		"no-event-source", "It is a NativeAOT program without a diagnostics socket: it was built without EventSourceSupport.",
		"Publish it with <EventSourceSupport>true</EventSourceSupport>.",
	},
	{
		"too-old", "The process runs on .NET Core 2.x or 1.x, which have no diagnostics socket.",
		"Upgrade the program: gclog can attach to .NET Core 3.1 and later.",
	},
	{
		"diagnostics-off", "The process was started with diagnostics disabled: DOTNET_EnableDiagnostics=0, DOTNET_EnableDiagnostics_IPC=0, or the same with COMPlus_.",
		"Start it without the variable. If it is set because the root file system is read-only, mount a volume on /tmp instead (emptyDir in Kubernetes).",
	},
	{
		"tmpdir-missing", "The temporary directory of the process does not exist or cannot be opened: the runtime could not create its socket.",
		"Create the directory, or set another TMPDIR, and restart the process.",
	},
	{
		"tmpdir-readonly", "The temporary directory of the process is read-only: the runtime could not create its socket.",
		"Mount a volume on /tmp (emptyDir in Kubernetes, --tmpfs /tmp in Docker), or set TMPDIR to a writable directory, and restart the process.",
	},
	{
		"tmpdir-full", "The temporary directory of the process has no space or no inodes left: the runtime could not create its socket.",
		"Free some space and restart the process: a runtime creates its socket only at startup.",
	},
	{
		"tmpdir-long", "The path of the temporary directory is too long: the path of a socket is limited to 107 bytes, and its file name takes about 40 of them.",
		"Set a shorter TMPDIR and restart the process.",
	},
	{
		"socket-deleted", "The socket was deleted while the process was running.",
		"Restart the process. Then protect the socket from cleanup: for systemd-tmpfiles, add a file to /etc/tmpfiles.d with the line x /tmp/dotnet-diagnostic-*; containers that share /tmp must not empty it.",
	},
	{
		"no-socket", "The process contains a .NET runtime, but its temporary directory has no socket.",
		"If the process has just been started, try again. If the socket is still missing, restart the process with a TMPDIR that it can write to.",
	},
	{
		"planted-link", "The socket's path is a link or a regular file. gclog does not follow it, because it could lead to another process.",
		"Find out who created it (ls -l), delete it, and restart the process.",
	},
	{
		"stale-socket", "No process listens on the socket: an earlier process with the same pid was killed and left it behind, or the runtime has closed it.",
		"Delete the socket and restart the process. If the process is about to exit, there is nothing to do.",
	},
	{
		"wrong-peer", "Another process listens on the socket of this process.",
		"gclog does not connect to it. The message names the process; find out why it is listening there. Restart the intended process with a temporary directory that other users cannot write to.",
	},
	{
		"suspended", "The runtime is suspended at startup until the owner of a diagnostic port (DOTNET_DiagnosticPorts) resumes it. gclog does not start a session before then, because that could crash the program. attach, record, summary and the daemon wait.",
		"Start the tool that owns the port, which the message names (gclog daemon --listen PATH, dotnet-monitor, dotnet-trace). Or restart the process with ,nosuspend after the path, or without the variable.",
	},
	{
		"stopped", "The process is stopped (SIGSTOP, Ctrl-Z, a frozen container).",
		"Resume it: kill -CONT PID, fg in its shell, docker unpause.",
	},
	{
		"traced", "A debugger has stopped the process.",
		"Continue it in the debugger, or detach the debugger; the message names the debugger's process.",
	},
	{
		"no-answer", "The runtime accepts the connection but does not answer.",
		"Find out what the process is doing: it may be waiting for memory or for a disk, or it may hang. A process without CPU time (docker pause, cgroup limits) answers late. If it still does not answer, take a dump with dotnet-dump or gcore before you restart it.",
	},
	{
		"abandoned-walk", "All threads of the process are suspended for good by another tool's heap walk whose reader is gone: from .NET 11 on, a session in Block mode (dotnet-gcdump since 2026, dotnet-trace --buffering-mode Block) leaves the runtime waiting for a reader that was interrupted or killed.",
		"Kill the process with SIGKILL and restart it: it can neither be resumed nor handle SIGTERM. Let such tools finish, or take heap snapshots with gclog heap snapshot, which never uses Block mode.",
	},
	{
		"no-cpu", "The process answers late, because its threads wait for a processor: the host or the container is overloaded.",
		"gclog attach waits for it. Find out what uses the processors: top, /proc/pressure/cpu, cpu.stat of the control group. Pauses of the GC are longer than usual, too.",
	},
	{
		"hang-up", "The runtime closes the connection without an answer: it is about to exit, has run out of file descriptors, or is corrupted.",
		"Try again. Compare the number of files that the process has open (ls /proc/PID/fd) with its limit (Max open files in /proc/PID/limits).",
	},
	{
		"no-protocol", "The process that answers on the socket does not speak the .NET diagnostics protocol.",
		"Find out what listens there: another program has created a socket of this name.",
	},
	{
		"sessions-full", "The runtime refused the session with a generic error: most likely it has reached its limit of 64 sessions.",
		"Stop the tools that are attached to it (dotnet-trace, dotnet-counters, dotnet-monitor, APM agents). The session of a tool that was killed ends with its next event. If nothing else helps, restart the process.",
	},
	{
		"starting", "The runtime is still starting: gclog does not start a session yet, or the runtime refused the request.",
		"Try again in a second. If it is still starting then, it is waiting for a diagnostic port: see suspended.",
	},
	{
		"unsupported", "The runtime does not support such sessions.",
		"Upgrade the runtime. A NativeAOT program must be published with <EventSourceSupport>true</EventSourceSupport>.",
	},
	{
		"unknown-command", "The runtime does not know the request: it is older than .NET Core 3.1, or it is not a .NET runtime.",
		"Upgrade the program: gclog can attach to .NET Core 3.1 and later.",
	},
	{
		"refused", "The runtime refused the session; its error code says why.",
		"If the message mentions a bad request, it is a defect of gclog: report it with the message. Otherwise restart the process.",
	},
}

var limitCauses = []Cause{
	{
		"core31", "It is .NET Core 3.1, which supports neither ProcessInfo nor diagnostic ports: the runtime's id and version are unknown, and gclog run may miss the first collections.",
		"No action needed: collections and pauses are complete.",
	},
	{
		"runtime-old", "The runtime is older than .NET 9: it does not report its GC settings when gclog attaches.",
		"No action needed: gclog detects server or workstation GC by threads, variables and runtimeconfig.json, and by the first collections.",
	},
	{
		"native-aot", "It is a NativeAOT program, whose events say less: up to .NET 8 there are no allocations, and none of any version has their types. If it aborts, it leaves its socket behind.",
		"No action needed: collections and pauses are complete.",
	},
	{
		"heap-walk-crash", "The process is a NativeAOT program of .NET 10 with server GC, or may be one: it would crash (SIGSEGV) in a heap walk. gclog does not ask for one, whether for a snapshot or with --providers.",
		"Start the program with DOTNET_gcServer=0, or publish it with .NET 11, whose server GC walks its heap. Do not try with another tool: dotnet-gcdump crashes it, too.",
	},
	{
		"native-aot-old", "The process is a NativeAOT program of .NET 8 or 9, whose runtime neither collects nor walks its heap on request.",
		"Publish it with .NET 10 or later.",
	},
	{
		"tmpdir-differs", "The process has a different temporary directory from gclog's. gclog finds the socket anyway; dotnet-trace and similar tools do not.",
		"For those tools set TMPDIR to the directory of the process.",
	},
	{
		"other-container", "The process is in another container or mount namespace. gclog reaches it through /proc/PID/root.",
		"No action needed as long as gclog has the capability SYS_PTRACE.",
	},
	{
		"time-namespace", "The process is in another time namespace: it sees a different start time for itself than the host does, and so the name of its socket differs, too.",
		"No action needed: gclog uses the latest socket of the pid, and logs have the times of the host's clock.",
	},
	{
		"ignored", "The process was started with GCLOG_IGNORE=1: gclog daemon ignores it.",
		"To have the daemon log it, start it without the variable. gclog attach works regardless.",
	},
	{
		"waiting-port", "The process has a diagnostic port (DOTNET_DiagnosticPorts) that suspends every .NET program it starts until the port's owner resumes it.",
		"Add ,nosuspend after the path unless the first collection matters.",
	},
}

var fileCauses = []Cause{
	{
		"missing", "There is no such file and no process of that name.",
		"Check the path and the working directory of gclog.",
	},
	{
		"unreadable", "The file cannot be opened or read.",
		"Check its permissions (ls -l) and the disk.",
	},
	{
		"directory", "It is a directory.",
		"Name a file in it. gclog convert accepts several.",
	},
	{
		"empty", "The file is empty.",
		"The recorder ended before it received any data. Record again.",
	},
	{
		"begin", "The file has the first bytes of a recording and nothing after them.",
		"The recorder was killed right after its start, or the disk was full. Record again.",
	},
	{
		"etl", "It is a Windows ETW log (.etl).",
		"Open it with PerfView on Windows, or record with gclog record.",
	},
	{
		"perf", "It is a Linux perf recording.",
		"It contains no GC events. Record with gclog record.",
	},
	{
		"zip", "It is a zip archive with perf and LTTng data, such as perfcollect writes.",
		"Record with gclog record. If the archive contains a .nettrace file, unpack it first.",
	},
	{
		"lttng", "It is an LTTng recording.",
		"Record with gclog record.",
	},
	{
		"gcdump", "It is a heap snapshot (.gcdump), which contains no events.",
		"Analyze it with gclog heap (gclog heap stat, gclog heap suspects), PerfView or Visual Studio. For a GC log, record with gclog record.",
	},
	{
		"dump", "It is a memory dump of a process, which contains no events.",
		"Open it with dotnet-dump analyze.",
	},
	{
		"netperf", "It is a NetPerf file, the format of .NET Core 2.x that .nettrace replaced.",
		"Record again with a tool and a runtime of .NET Core 3.1 or later.",
	},
	{
		"etlx", "It is a log converted by PerfView (.etlx).",
		"Use the .nettrace file that it was converted from.",
	},
	{
		"speedscope", "It is a speedscope profile, which dotnet-trace convert wrote from a recording.",
		"Use the .nettrace file that it was converted from.",
	},
	{
		"chromium", "It is a profile for Chromium's tracing page, which dotnet-trace convert wrote from a recording.",
		"Use the .nettrace file that it was converted from.",
	},
	{
		"packed", "The file is compressed twice.",
		"Decompress it once, then pass it to gclog.",
	},
	{
		"bad-packing", "The file is compressed with gzip or zstd and cannot be decompressed: it is truncated or corrupted.",
		"Copy it again from its source. gclog reads what it could decompress.",
	},
	{
		"unpack-limit", "The file is compressed with gzip or zstd and contains more than gclog reads of such a file.",
		"If it may be as large as that, read all of it with --max-unpacked SIZE, or decompress it first.",
	},
	{
		"java-log", "It is a GC log of a JVM, not of gclog.",
		"Open it with GCViewer, GCToolKit or garbagecat. gclog reads only logs that it wrote.",
	},
	{
		"not-ours", "It is neither a recording nor a gclog log.",
		"gclog reads .nettrace recordings and its own logs in the formats unified (with DotNet: lines), json and csv. It does not read the text format.",
	},
	{
		"java-only", "It is a log that gclog wrote for Java tools (jdk8, or unified without DotNet: lines) and cannot read back.",
		"Open it with GCViewer, GCToolKit or garbagecat. For a log that gclog can read, write unified with gc+stats, json or csv: -f, or -Xlog:gc*.",
	},
	{
		"truncated", "The recording is truncated.",
		"gclog convert converts everything before the cut. Copy the file again, or check whether a disk was full.",
	},
	{
		"unfinished", "The recording has no end: the process or the recorder was killed, or it is still being written.",
		"At most its last 100 ms are missing. Stop recorders with SIGINT or SIGTERM.",
	},
	{
		"damaged", "The recording is corrupted.",
		"gclog convert converts everything before the corrupted bytes. Copy the file again and compare checksums.",
	},
	{
		"torn-line", "The last line of the log is incomplete.",
		"If the log is still being written, read it again. Otherwise its writer was killed or the disk was full; all lines before it are complete.",
	},
}

var recordingCauses = []Cause{
	{
		"no-gc-events", "The recording contains no GC events: no collection happened, or the events were not requested.",
		"Record with gclog record, or with dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x1:4 (or --profile gc-collect). Record for longer than the time between two collections.",
	},
	{
		"no-pauses", "There are collections but no suspensions (SuspendEE, RestartEE): pauses and the time to suspend are unknown.",
		"Record all events of the keyword GC (0x1) at level 4 (informational).",
	},
	{
		"no-heap-stats", "There are collections but no GCHeapStats: the sizes of the heap and of the generations after a collection are unknown.",
		"Record all events of the keyword GC (0x1) at level 4. They are also missing if the recording starts or ends during its only collection.",
	},
	{
		"no-heap-history", "There are collections but no heap histories (GCGlobalHeapHistory, GCPerHeapHistory): reasons, sizes before, budgets, fragmentation and memory load are unknown.",
		"Record all events of the keyword GC (0x1) at level 4 from outside the process: EventListener inside the process does not deliver them.",
	},
	{
		"no-allocation-ticks", "There are no allocation ticks: it was recorded below level full, so allocations by type are unknown.",
		"Record with gclog record --level full, or Microsoft-Windows-DotNETRuntime:0x1:5. That costs the process more.",
	},
	{
		"no-private-events", "There are background collections but no events of the private provider: their phases (concurrent mark, sweep) have no times.",
		"Record with gclog record at level normal, or add Microsoft-Windows-DotNETRuntimePrivate:0x1:4. Recordings of dotnet-trace's profile gc-collect often lack them (dotnet/diagnostics 5465).",
	},
	{
		"lost-events", "The runtime dropped events because its buffer was full.",
		"The reader was too slow: a busy disk or processor, or too many events (level full, other providers). The affected records are marked. Request fewer events or use a larger buffer (dotnet-trace --buffersize).",
	},
	{
		"missing-gcs", "Some collection numbers are missing.",
		"If events were lost, see lost-events. Otherwise the log consists of several files, and one of them is not here.",
	},
	{
		"several-processes", "The recording contains several processes.",
		"gclog convert requires --pid N, %p in the name of the output, or the format json or csv.",
	},
	{
		"no-process-info", "The recording does not say which process it is from.",
		"No action needed; rename the output yourself. A recording of a whole machine knows a process only by what it reports about itself.",
	},
	{
		"no-date", "The recording does not say when it was made: the date in its head is impossible, or after all events.",
		"Its times are counted from the start of 1970; durations and distances are right. The name of the file or its date may tell when it was made.",
	},
	{
		"incomplete-gcs", "Some collections are incomplete and marked as such in the output: they were in progress when the recording started or ended, or some of their events are missing.",
		"One at the start and one at the end are normal. If there are more, see lost-events.",
	},
	{
		"late-events", "Some events came after later ones, and gclog could sort only part of them.",
		"No action needed: the tool that wrote the file did not sort the events. Their times are correct.",
	},
}

var logCauses = []Cause{
	{
		"foreign-lines", "Some lines of the log are damaged or were not written by gclog. They are skipped.",
		"If an application writes to the same stream, no action is needed. Otherwise check the lines that the message names.",
	},
	{
		"gaps", "The log records that it has gaps: events were lost, an output was too slow, or its disk was full.",
		"Its gc-gap records, or the lines about gaps, say when and why.",
	},
	{
		"no-session-end", "The log does not contain the end of a session: it is still being written, or gclog was killed.",
		"No action needed: all lines in the log are complete.",
	},
	{
		"repeated", "The log contains a collection twice: files were concatenated twice, or several sessions wrote to it at the same time.",
		"Pass the log of each session separately.",
	},
	{
		"rotated", "The log has been rotated: the older records are in other files.",
		"Together they are one log: pass all of them to gclog convert, or to the tool that analyzes them, in any order.",
	},
	{
		"rotated-incomplete", "The oldest file of the log is not the first one of its session: --filecount had older ones deleted.",
		"Keep more: --filecount, --filesize.",
	},
}

var machineCauses = []Cause{
	{
		"own-processes", "gclog is not root and has no capabilities: it can see and reach only the processes of its own user.",
		"For the processes of other users, run it as root or with the capabilities SYS_PTRACE and DAC_OVERRIDE.",
	},
	{
		"machine-no-ptrace", "gclog is root without the capability SYS_PTRACE: it cannot attach to processes in other containers or with more privileges.",
		"Add the capability: docker run --cap-add SYS_PTRACE, securityContext.capabilities.add in Kubernetes, AmbientCapabilities in systemd.",
	},
	{
		"machine-no-dac-override", "gclog is root without the capability DAC_OVERRIDE: it cannot open the sockets of other users.",
		"Add the capability DAC_OVERRIDE in the same place as SYS_PTRACE.",
	},
	{
		"hidepid", "/proc is mounted with hidepid: gclog does not see the processes of other users.",
		"Run gclog as root, or add its user to the group in the mount option gid=. In systemd: ProtectProc=default.",
	},
	{
		"own-pid-namespace", "gclog runs in its own pid namespace: it sees only the processes of its container.",
		"For the whole machine, run it on the host, or with hostPID: true (Kubernetes) or --pid=host (Docker). For one pod, share the pod's pid namespace.",
	},
	{
		"few-files", "gclog has a low limit of open files: each session needs about 12, and each of its outputs two.",
		"Raise the limit: ulimit -n 16384, LimitNOFILE=16384.",
	},
	{
		"bad-configuration", "The daemon's configuration is invalid: a daemon would not start with it, and a running one keeps its current configuration.",
		"Correct the line that the message names. gclog config validate reports the same problem; gclog config schema describes every key.",
	},
	{
		"odd-configuration", "The daemon's configuration is valid but probably not what you want.",
		"Read the message and the description of the key in docs/configuration.md.",
	},
	{
		"no-daemon", "There is a configuration for a daemon, but no daemon is ready at its control socket.",
		"Start it: systemctl start gclog, or gclog daemon. Its own log says why it is not running. If no daemon should run, no action is needed.",
	},
	{
		"no-dotnet", "No process with a .NET runtime was found.",
		"Start one. An ordinary user does not see the processes of other users; in a container gclog sees only the processes in it.",
	},
}

// find returns the cause with an id. ok is false if there is none.
func find(id string) (c Cause, ok bool) {
	for _, s := range Table {
		for _, c := range s.Causes {
			if c.ID == id {
				return c, true
			}
		}
	}
	return Cause{}, false
}
