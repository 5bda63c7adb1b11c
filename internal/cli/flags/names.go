package flags

// The names of flags that mean the same in all commands.
const (
	Config        = "config"   // the configuration of the daemon
	Cooldown      = "cooldown" // of rules
	Counters      = "counters"
	CountersEvery = "counters-every"
	Do            = "do" // what rules do
	FailIf        = "fail-if"
	For           = "for" // how long something is watched
	Format        = "format"
	Header        = "header" // of stat: also -h N, as in jstat
	Local         = "local"  // times are local ones
	Name          = "name"   // of a process
	Newest        = "newest" // of several processes
	On            = "on"     // a rule
	Output        = "output"
	PID           = "pid" // dotnet-trace calls it --process-id
	Threshold     = "threshold"

	// Command is set if the arguments are a command to run: they were after "--".
	Command = "command"
)

// Java's syntax for what is logged, and where.
const (
	Xlog         = "xlog"
	XlogVariable = "GCLOG_XLOG"
	XlogHelp     = "xlog-help" // what -Xlog:help is converted to
)
