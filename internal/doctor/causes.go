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
	{"A process cannot be attached to", attachCauses},
	{"A process can be attached to, but", limitCauses},
	{"A file cannot be read", fileCauses},
	{"A recording is read, but something is missing in it", recordingCauses},
	{"A log of gclog is read, but something is missing in it", logCauses},
	{"The machine, and gclog's rights on it", machineCauses},
}

var attachCauses = []Cause{
	{
		"no-process", "There is no process with this pid.",
		"Look for the pid with gclog ps. A pid that was read inside of a container is another one on the host.",
	},
	{
		"hidden", "There is a process with this pid, but /proc does not show it: it is mounted with hidepid.",
		"Run gclog as root or as the user of the process, or add gclog's user to the group of the mount's option gid=.",
	},
	{
		"thread", "The number is that of a thread, not of a process.",
		"Take the pid of the process that the thread belongs to; the message names it.",
	},
	{
		"ended", "The process has ended: it is a zombie, which waits for its parent to notice.",
		"Nothing can be attached to any more. If zombies pile up in a container, give it an init process (docker run --init).",
	},
	{
		"kernel-thread", "It is a thread of the kernel, not a program.",
		"Choose another pid: gclog ps lists the .NET processes.",
	},
	{
		"other-user", "The process belongs to another user.",
		"Run gclog as that user or as root; or give it the capabilities SYS_PTRACE and DAC_OVERRIDE, for a service or a container.",
	},
	{
		"no-ptrace", "The process is in another container or has more rights than gclog, which has no capability SYS_PTRACE: its files cannot be seen.",
		"Run gclog as root of the host, or add the capability: docker run --cap-add SYS_PTRACE, securityContext.capabilities.add in Kubernetes, AmbientCapabilities in systemd.",
	},
	{
		"no-dac-override", "gclog is root, but has no capability DAC_OVERRIDE: it may neither read the TMPDIR of other users' processes nor open their sockets.",
		"Add the capability DAC_OVERRIDE, or run gclog as the user of the process.",
	},
	{
		"no-access", "The operating system does not let gclog look at the process.",
		"Run gclog as root of the host. If that is so already, look into the log of SELinux or AppArmor for a denial.",
	},
	{
		"stuck", "A look at the process does not end: the file system of its temporary directory does not answer (FUSE, NFS), or the kernel keeps who looks.",
		"Find out what the message names: a program that serves FUSE and hangs, a server of NFS that is down (findmnt, dmesg). gclog looks again when the look has ended.",
	},
	{
		"too-many-files", "gclog itself may not open any more files.",
		"Raise the limit in the shell or service that starts gclog: ulimit -n 16384, LimitNOFILE=16384.",
	},
	{
		"not-dotnet", "There is no .NET runtime in the process.",
		"Choose another pid with gclog ps: a launcher, a shell or dotnet watch is the parent of the process that is meant. If it has just been started, try again.",
	},
	{
		"mono", "The process runs on Mono, which has no diagnostics socket. The same holds for the .NET Framework on Windows.",
		"Nothing can be done from outside: gclog is for .NET Core 3.1 and up and for NativeAOT. On Windows PerfView collects GC events of the .NET Framework.",
	},
	{
		"no-event-source", "It is a NativeAOT program without a diagnostics socket: it was built without EventSourceSupport.",
		"Publish it with <EventSourceSupport>true</EventSourceSupport>.",
	},
	{
		"too-old", "The process runs on .NET Core 2.x or 1.x, which have no diagnostics socket.",
		"Upgrade the program: 3.1 is the oldest that can be attached to.",
	},
	{
		"diagnostics-off", "The process was started with its diagnostics switched off: DOTNET_EnableDiagnostics=0, DOTNET_EnableDiagnostics_IPC=0, or the same with COMPlus_.",
		"Start it without the variable. Where it is set because the root file system is read-only, mount a volume on /tmp instead (emptyDir in Kubernetes).",
	},
	{
		"tmpdir-missing", "The temporary directory of the process does not exist, or cannot be opened: its runtime could not make its socket.",
		"Make the directory, or set another TMPDIR, and restart the process.",
	},
	{
		"tmpdir-readonly", "The temporary directory of the process is read-only: its runtime could not make its socket.",
		"Mount a volume on /tmp (emptyDir in Kubernetes, --tmpfs /tmp in Docker), or set TMPDIR to a writable directory, and restart the process.",
	},
	{
		"tmpdir-full", "The temporary directory of the process is full, of bytes or of files: its runtime could not make its socket.",
		"Make room and restart the process: the socket is made in its start only.",
	},
	{
		"tmpdir-long", "The path of the temporary directory is too long: the path of a socket has at most 107 bytes, of which its name takes about 40.",
		"Set a shorter TMPDIR and restart the process.",
	},
	{
		"socket-deleted", "The socket was deleted while the process runs.",
		"Restart the process. Then keep cleaners from it: for systemd-tmpfiles a file in /etc/tmpfiles.d with the line x /tmp/dotnet-diagnostic-*; containers that share /tmp must not empty it.",
	},
	{
		"no-socket", "There is a .NET runtime, but no socket in its temporary directory.",
		"If the process has just been started, try again. If it stays so, restart it with a TMPDIR that it may write to.",
	},
	{
		"planted-link", "What has the name of the socket is a link or a file. gclog does not follow it: somebody may want it to talk to another process.",
		"Find out who made it (ls -l), delete it, and restart the process.",
	},
	{
		"stale-socket", "Nobody listens on the socket: an earlier process with the same pid was killed and left it, or the runtime has closed it.",
		"Delete the socket and restart the process. If the process is about to end, nothing is to be done.",
	},
	{
		"wrong-peer", "Another process listens on the socket of this one.",
		"Find out why: the message names the process. gclog does not talk to it. Restart the process that is meant in a temporary directory that others may not write to.",
	},
	{
		"suspended", "The runtime is suspended in its start until the owner of a diagnostic port (DOTNET_DiagnosticPorts) resumes it. gclog begins no session before that: it could make the program crash. attach, record, summary and the daemon wait.",
		"Start the tool that owns the port, which the message names (gclog daemon --listen PATH, dotnet-monitor, dotnet-trace). Or restart the process with ,nosuspend after the path, or without the variable.",
	},
	{
		"stopped", "The process is stopped (SIGSTOP, Ctrl-Z, a frozen container).",
		"Let it go on: kill -CONT PID, fg in its shell, docker unpause.",
	},
	{
		"traced", "A debugger has stopped the process.",
		"Let it go on in the debugger, or detach the debugger; the message names its process.",
	},
	{
		"no-answer", "The runtime takes the connection and does not answer.",
		"Look what it does: it may wait for memory, for a disk, or hang. A process without CPU time (docker pause, cgroup limits) answers late. If it stays so, take a dump with dotnet-dump or gcore before you restart it.",
	},
	{
		"hang-up", "The runtime closes the connection without an answer: it is about to end, has run out of file descriptors, or is damaged.",
		"Try again. Compare the files that the process has open (ls /proc/PID/fd) with its limit (Max open files in /proc/PID/limits).",
	},
	{
		"no-protocol", "What answers on the socket does not speak the protocol of .NET's diagnostics.",
		"Find out what listens there: another program has made a socket of this name.",
	},
	{
		"sessions-full", "The runtime refused the session with a general failure: most often 64 sessions are open in it, which is its limit.",
		"End the tools that are attached to it (dotnet-trace, dotnet-counters, dotnet-monitor, APM agents). Sessions of tools that were killed end with their next event. At last restart the process.",
	},
	{
		"starting", "The runtime is still starting: gclog begins no session yet, or the runtime refused it.",
		"Try again in a second. If it stays so it waits for a diagnostic port: see suspended.",
	},
	{
		"unsupported", "The runtime cannot make such sessions at all.",
		"Upgrade the runtime; a NativeAOT program must be published with <EventSourceSupport>true</EventSourceSupport>.",
	},
	{
		"unknown-command", "The runtime does not know the request: it is older than .NET Core 3.1, or no runtime.",
		"Upgrade the program: 3.1 is the oldest that can be attached to.",
	},
	{
		"refused", "The runtime refused the session, for a reason that its code tells.",
		"If the message speaks of a bad request, it is a defect of gclog: report it with the message. Else restart the process.",
	},
}

var limitCauses = []Cause{
	{
		"core31", "It is .NET Core 3.1, which knows no ProcessInfo and no diagnostic ports: the id of the runtime and the version stay unknown, and gclog run may miss the first collections.",
		"Nothing: collections and pauses are complete.",
	},
	{
		"runtime-old", "The runtime is older than .NET 9: it does not tell the settings of its GC when gclog attaches.",
		"Nothing: server or workstation GC is told by threads, variables and runtimeconfig.json, and by the first collections.",
	},
	{
		"native-aot", "It is a NativeAOT program, which has fewer events: allocation ticks and types may be missing, and when it aborts its socket stays.",
		"Nothing: collections and pauses are complete.",
	},
	{
		"tmpdir-differs", "The temporary directory of the process is not the one that gclog has. gclog finds the socket all the same; dotnet-trace and its like do not.",
		"For those tools set TMPDIR to the directory of the process.",
	},
	{
		"other-container", "The process is in another container or mount namespace. gclog reaches it through /proc/PID/root.",
		"Nothing, as long as gclog may do that: it needs the capability SYS_PTRACE.",
	},
	{
		"time-namespace", "The process is in another time namespace: the start that it knows of itself differs from the host's, and so does the name of its socket.",
		"Nothing: the newest socket of its pid is taken, and times in logs are those of the host's clock.",
	},
	{
		"ignored", "The process was started with GCLOG_IGNORE=1: gclog daemon leaves it alone.",
		"Start it without the variable if the daemon is to log it; gclog attach does not mind.",
	},
	{
		"waiting-port", "The process has a diagnostic port (DOTNET_DiagnosticPorts) that stops every program that it starts until somebody connects.",
		"Write ,nosuspend behind the path unless the first collection matters.",
	},
}

var fileCauses = []Cause{
	{
		"missing", "There is no such file, and no process of that name.",
		"Check the path and the folder that gclog runs in.",
	},
	{
		"unreadable", "The file cannot be opened, or reading fails.",
		"Check its permissions (ls -l) and the disk.",
	},
	{
		"directory", "It is a directory.",
		"Give a file in it. gclog convert takes several.",
	},
	{
		"empty", "The file is empty.",
		"The recorder was ended before anything came. Record again.",
	},
	{
		"begin", "The file has the first bytes of a recording and nothing behind them.",
		"The recorder was killed at once, or the disk was full. Record again.",
	},
	{
		"etl", "It is a Windows ETW log (.etl).",
		"Open it with PerfView on Windows, or record with gclog record.",
	},
	{
		"perf", "It is a recording of Linux perf.",
		"It holds no GC events. Record with gclog record.",
	},
	{
		"zip", "It is a zip archive, such as perfcollect makes, with data of perf and LTTng.",
		"Record with gclog record. An archive that holds a .nettrace is to be unpacked first.",
	},
	{
		"lttng", "It is an LTTng recording.",
		"Record with gclog record.",
	},
	{
		"gcdump", "It is a snapshot of a heap (.gcdump), which holds no events.",
		"Open it with PerfView, Visual Studio or dotnet-gcdump report. For a GC log record with gclog record.",
	},
	{
		"dump", "It is a memory dump of a process, which holds no events.",
		"Open it with dotnet-dump analyze.",
	},
	{
		"netperf", "It is a NetPerf file, the format before .nettrace, of .NET Core 2.x.",
		"Record again with a tool and a runtime of .NET Core 3.1 or later.",
	},
	{
		"etlx", "It is PerfView's own converted log (.etlx).",
		"Give the .nettrace file that it was made from.",
	},
	{
		"speedscope", "It is a profile for speedscope, which dotnet-trace convert made from a recording.",
		"Give the .nettrace file that it was made from.",
	},
	{
		"chromium", "It is a profile for Chromium's tracing page, which dotnet-trace convert made from a recording.",
		"Give the .nettrace file that it was made from.",
	},
	{
		"packed", "The file is packed, and what is in it is packed once more.",
		"Unpack it once, then give it to gclog.",
	},
	{
		"bad-packing", "The file is packed by gzip or zstd, and cannot be unpacked: it is cut off or damaged.",
		"Copy it again from where it comes from. What could be unpacked is read.",
	},
	{
		"java-log", "It is a GC log of a JVM, not of gclog.",
		"Open it with GCViewer, GCToolKit or garbagecat. gclog only reads logs that it wrote.",
	},
	{
		"not-ours", "It is neither a recording nor a log of gclog.",
		"gclog reads .nettrace, and its own logs in the formats unified (with times and DotNet: lines), json and csv; text is for eyes only.",
	},
	{
		"java-only", "It is a log that gclog wrote for Java tools, jdk8 or unified without DotNet: lines, and does not read back.",
		"Open it with GCViewer, GCToolKit or garbagecat. Have gclog write unified with gc+stats, json or csv, which it reads: -f, or -Xlog:gc*.",
	},
	{
		"truncated", "The recording is cut off in the middle.",
		"What is before the cut is converted by gclog convert. Copy the file again, or look for a disk that was full.",
	},
	{
		"unfinished", "The recording has no end: the process or the recorder was killed, or it is still being written.",
		"Nothing is missing before its last moment, up to 100 ms. Let recorders end by SIGINT or SIGTERM.",
	},
	{
		"damaged", "Bytes of the recording are wrong.",
		"What is before the damage is converted by gclog convert. Copy the file again and compare checksums.",
	},
	{
		"torn-line", "The last line of the log is not complete.",
		"If the log is being written, read again. Else its writer was killed or the disk was full; all lines before it are whole.",
	},
}

var recordingCauses = []Cause{
	{
		"no-gc-events", "There is no event of a collection: none happened, or they were not asked for.",
		"Record with gclog record, or with dotnet-trace collect --providers Microsoft-Windows-DotNETRuntime:0x1:4 (or --profile gc-collect), for longer than the time between two collections.",
	},
	{
		"no-pauses", "There are collections but no suspensions (SuspendEE, RestartEE): pauses and the time to stop the threads cannot be told.",
		"Record all events of the keyword GC (0x1) at level 4 (informational).",
	},
	{
		"no-heap-stats", "There are collections but no GCHeapStats: sizes of the heap and of the generations after a collection cannot be told.",
		"Record all events of the keyword GC (0x1) at level 4. Recordings that begin or end inside of their only collection lack them too.",
	},
	{
		"no-heap-history", "There are collections but no heap histories (GCGlobalHeapHistory, GCPerHeapHistory): reasons, sizes before, budgets, fragmentation and memory load cannot be told.",
		"Record all events of the keyword GC (0x1) at level 4, out of process: EventListener inside of the process does not deliver them.",
	},
	{
		"no-allocation-ticks", "There are no allocation ticks: it was recorded below level full, so what was allocated by which type cannot be told.",
		"Record with gclog record --level full, or Microsoft-Windows-DotNETRuntime:0x1:5. It costs the process more.",
	},
	{
		"no-private-events", "There are background collections but no events of the private provider: their phases (concurrent mark, sweep) have no times.",
		"Record with gclog record at level normal, or add Microsoft-Windows-DotNETRuntimePrivate:0x1:4. Recordings of dotnet-trace's profile gc-collect often lack them (dotnet/diagnostics 5465).",
	},
	{
		"lost-events", "The runtime dropped events because its buffer was full.",
		"The reader was too slow: a busy disk or processor, or too many events (level full, other providers). Records that they concern are marked. Ask for fewer events, or give a larger buffer (dotnet-trace --buffersize).",
	},
	{
		"missing-gcs", "Numbers of collections are missing.",
		"With lost events: see there. Else several files make one log, and one of them is not here.",
	},
	{
		"several-processes", "The recording holds several processes.",
		"gclog convert wants --pid N, %p in the name of the output, or the format json or csv.",
	},
	{
		"no-process-info", "The recording does not tell which process it is of.",
		"Nothing: rename the output yourself. Recordings of a whole machine know a process only by what it tells of itself.",
	},
	{
		"incomplete-gcs", "Collections are incomplete, and marked so in what is made of it: they were under way when it was begun or ended, or events of them are missing.",
		"One at the begin and one at the end is ordinary. If there are more, see lost-events.",
	},
	{
		"late-events", "Events came later than younger ones, and were put into their place only as far as that is possible.",
		"Nothing: the tool that wrote the file did not sort. Times of the events are right.",
	},
}

var logCauses = []Cause{
	{
		"foreign-lines", "Lines of the log are damaged or none of gclog's. They are passed over.",
		"If an application writes into the same stream, nothing. Else look at the lines that are named.",
	},
	{
		"gaps", "The log itself says that something is missing in it: events were lost, an output was too slow, or its disk was full.",
		"Look at its records gc-gap, or the lines about gaps, for when and why.",
	},
	{
		"no-session-end", "A session has no end in the log: it is still being written, or gclog was killed.",
		"Nothing: all lines that are there are whole.",
	},
	{
		"repeated", "The log contains a collection twice: files were put together twice, or sessions that ran at the same time wrote into it.",
		"Give what each session has written by itself.",
	},
	{
		"rotated", "The log has been rotated: the older records are in other files.",
		"They are one log: give all of them to gclog convert, or to what analyses, in any order.",
	},
	{
		"rotated-incomplete", "The oldest file of the log is not the first one of its session: older ones have been deleted, as --filecount says.",
		"Keep more: --filecount, --filesize.",
	},
}

var machineCauses = []Cause{
	{
		"own-processes", "gclog is not root and has no capabilities: it sees and reaches the processes of its own user only.",
		"For those of others run it as root, or with the capabilities SYS_PTRACE and DAC_OVERRIDE.",
	},
	{
		"machine-no-ptrace", "gclog is root without the capability SYS_PTRACE: processes in other containers, and those with more rights, cannot be attached to.",
		"Add the capability: docker run --cap-add SYS_PTRACE, securityContext.capabilities.add in Kubernetes, AmbientCapabilities in systemd.",
	},
	{
		"machine-no-dac-override", "gclog is root without the capability DAC_OVERRIDE: sockets of other users cannot be opened.",
		"Add the capability DAC_OVERRIDE in the same place.",
	},
	{
		"hidepid", "/proc is mounted with hidepid: processes of other users are not seen.",
		"Run gclog as root, or add its user to the group of the mount's option gid=. In systemd: ProtectProc=default.",
	},
	{
		"own-pid-namespace", "gclog is in a pid namespace of its own: it sees the processes of its container only.",
		"For the whole machine run it on the host, or with hostPID: true (Kubernetes), --pid=host (Docker). For one pod share its namespace.",
	},
	{
		"few-files", "gclog may open few files: each session takes about 12, and each of its outputs two.",
		"Raise the limit: ulimit -n 16384, LimitNOFILE=16384.",
	},
	{
		"bad-configuration", "The configuration of the daemon is wrong: it would not start, and a running one keeps what it has.",
		"Correct the line that is named. gclog config validate says the same, gclog config schema has every key.",
	},
	{
		"odd-configuration", "The configuration of the daemon is allowed, but hardly meant.",
		"Read the sentence, and docs/configuration.md about the key.",
	},
	{
		"no-daemon", "There is a configuration for a daemon, and none is ready at its control socket.",
		"Start it: systemctl start gclog, or gclog daemon. Its own log says why it does not run. If none is to run, nothing.",
	},
	{
		"no-dotnet", "No process with a .NET runtime was found.",
		"Start one; as an ordinary user you do not see those of others, and in a container only those in it.",
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
