package harmless

import (
	"fmt"
	"slices"
	"strings"
)

// A cell is one combination of a value of each factor.
type cell struct{ runtime, start, action, other, moment, ending string }

// A factor is something in which cells differ, with its values.
type factor struct {
	name   string
	values []value
}

type value struct{ name, meaning string }

const (
	core31 = "core31"
	net10  = "net10"

	plain          = "plain"
	defaultSuspend = "default-suspend"
	otherSuspend   = "other-suspend"
	otherNosuspend = "other-nosuspend"
	oursSuspend    = "ours-suspend"
	oursNosuspend  = "ours-nosuspend"

	none  = "none"
	stops = "stops"
	drops = "drops"

	beforeListening = "before-listening"
	suspended       = "suspended"
	resumed         = "resumed"
	load            = "load"
	backgroundGC    = "background-gc"
	exit            = "exit"

	normal       = "normal"
	gclogKilled  = "gclog-killed"
	targetKilled = "target-killed"
)

// factors returns the factors in the order in which a cell's name lists their values.
func factors() []factor {
	return []factor{
		{"runtime", []value{
			{core31, ".NET Core 3.1"},
			{"net8", ".NET 8"},
			{"net9", ".NET 9"},
			{net10, ".NET 10"},
			{"net11", ".NET 11"},
			{"aot8", "NativeAOT 8"},
			{"aot9", "NativeAOT 9"},
			{"aot10", "NativeAOT 10"},
			{"aot11", "NativeAOT 11"},
		}},
		{"start", []value{
			{plain, "no diagnostic ports are configured"},
			{defaultSuspend, "`DOTNET_DefaultDiagnosticPortSuspend=1`: another tool resumes the runtime at its default port"},
			{otherSuspend, "a port of another tool suspends the runtime"},
			{otherNosuspend, "the same with `nosuspend`"},
			{oursSuspend, "the port of `gclog daemon --listen PATH` or `gclog run --suspend` suspends the runtime"},
			{oursNosuspend, "the same with `nosuspend`, or without `--suspend`"},
			{otherSuspend + "+" + oursNosuspend, "a list of these two ports"},
			{otherSuspend + "+" + oursSuspend, "a list: each of the two has to resume the runtime"},
			{oursSuspend + "+" + otherSuspend, "the same list in the other order"},
			{otherNosuspend + "+" + oursSuspend, "a list of these two ports"},
			{otherSuspend + "+" + otherSuspend, "a list: ports of two other tools"},
		}},
		{"action", []value{
			{"ps", "`gclog ps`"},
			{"doctor", "`gclog doctor PID`"},
			{"settings", "`gclog settings PID`"},
			{"attach", "`gclog attach`"},
			{"record", "`gclog record`"},
			{"gc", "`gclog gc PID`"},
			{"snapshot", "`gclog heap snapshot PID`"},
			{"run", "`gclog run`"},
			{"daemon", "`gclog daemon`"},
			{"attach+daemon", "both at once"},
			{"attach+attach", "two at once"},
			{"settings+attach", "both at once"},
			{"attach+snapshot", "both at once"},
		}},
		{"other", []value{
			{none, "no other tool has sessions"},
			{stops, "another tool begins sessions and stops them, concurrently with gclog"},
			{drops, "another tool begins sessions and closes their connections"},
		}},
		{"moment", []value{
			{beforeListening, "gclog begins before the runtime listens"},
			{suspended, "gclog begins while a port suspends the runtime"},
			{resumed, "gclog begins as soon as the runtime was resumed, or in a start without suspension listens"},
			{load, "gclog begins while the program allocates and collects"},
			{backgroundGC, "gclog begins when a background collection has begun"},
			{exit, "gclog begins, and the program exits 0 to 100 ms later"},
		}},
		{"ending", []value{
			{normal, "the command ends by itself, by SIGINT or SIGTERM, or with the program"},
			{gclogKilled, "gclog is killed with SIGKILL"},
			{targetKilled, "the program is killed with SIGKILL"},
		}},
	}
}

// A rule excludes cells that cannot exist.
type rule struct {
	reason   string
	excludes func(c cell) bool
}

func rules() []rule {
	return []rule{
		{
			".NET Core 3.1 has no diagnostic ports and cannot be suspended: its start is always `plain`.",
			func(c cell) bool { return c.runtime == core31 && c.start != plain },
		},
		{
			".NET 9 and NativeAOT 9 are left out where a list of ports suspends them, or another tool: in that they are as the versions before and after them.",
			func(c cell) bool {
				return (c.runtime == "net9" || c.runtime == "aot9") && c.start != plain && c.start != oursSuspend && c.start != oursNosuspend
			},
		},
		{
			"A start without a port that suspends has no time at which the runtime is suspended.",
			func(c cell) bool { return c.moment == suspended && !c.suspends() },
		},
		{
			"`gclog run` starts the program itself, so it always begins before the runtime listens.",
			func(c cell) bool { return c.action == "run" && c.moment != beforeListening },
		},
		{
			"`gclog run` appends a port of its own to those that it inherits: the start is one whose list ends with ours, or `default-suspend`.",
			func(c cell) bool {
				return c.action == "run" && c.runtime != core31 && !strings.HasPrefix(c.lastPort(), "ours") && c.start != defaultSuspend
			},
		},
		{
			"A daemon whose port suspends the runtime resumes it, and cannot begin later than that.",
			func(c cell) bool {
				return c.has("daemon") && strings.Contains(c.start, oursSuspend) && c.moment != beforeListening && c.moment != suspended
			},
		},
		{
			"gclog takes no snapshot while background collections go on (`TestLiveSnapshot`). If the first one begins between its last look and its request, as the program of `background-gc` may do, the runtime walks its heap at every collection until none is running, which may take minutes. No tool can end that.",
			func(c cell) bool { return c.has("snapshot") && c.moment == backgroundGC },
		},
		{
			"A program that exits by itself is not killed as well.",
			func(c cell) bool { return c.moment == exit && c.ending == targetKilled },
		},
	}
}

// impossible returns why a cell cannot exist, or "" if it can.
func (c cell) impossible() string {
	for _, r := range rules() {
		if r.excludes(c) {
			return r.reason
		}
	}
	return ""
}

// String returns the name of the cell.
func (c cell) String() string {
	return strings.Join([]string{c.runtime, c.start, c.action, c.other, c.moment, c.ending}, "/")
}

// parseCell returns the cell with a name.
func parseCell(name string) (cell, error) {
	v := strings.Split(name, "/")
	all := factors()
	if len(v) != len(all) {
		return cell{}, fmt.Errorf("cell %q has %d values, and there are %d factors", name, len(v), len(all))
	}
	for i, f := range all {
		if !slices.ContainsFunc(f.values, func(x value) bool { return x.name == v[i] }) {
			return cell{}, fmt.Errorf("cell %q: %s is no value of the factor %s", name, v[i], f.name)
		}
	}
	c := cell{v[0], v[1], v[2], v[3], v[4], v[5]}
	if reason := c.impossible(); reason != "" {
		return cell{}, fmt.Errorf("cell %q is impossible: %s", name, reason)
	}
	return c, nil
}

// commands returns the gclog commands of the action.
func (c cell) commands() []string { return strings.Split(c.action, "+") }

// has reports whether a command belongs to the action.
func (c cell) has(command string) bool { return slices.Contains(c.commands(), command) }

// ports returns the diagnostic ports that the start configures, by the names of their values.
func (c cell) ports() []string {
	if c.start == plain || c.start == defaultSuspend {
		return nil
	}
	return strings.Split(c.start, "+")
}

// lastPort returns the last of the ports, or "" if there is none.
func (c cell) lastPort() string {
	if ports := c.ports(); len(ports) > 0 {
		return ports[len(ports)-1]
	}
	return ""
}

// suspends reports whether any port suspends the runtime.
func (c cell) suspends() bool { return c.othersSuspend() || strings.Contains(c.start, oursSuspend) }

// othersSuspend reports whether another tool has to resume the runtime.
func (c cell) othersSuspend() bool {
	return c.start == defaultSuspend || strings.Contains(c.start, otherSuspend)
}

// hasOurs reports whether one of the ports is gclog's.
func (c cell) hasOurs() bool { return strings.Contains(c.start, "ours-") }

// ignores reports whether the runtime neither collects nor walks its heap on request.
func (c cell) ignores() bool { return c.runtime == "aot8" || c.runtime == "aot9" }

// isAOT reports whether the program was compiled ahead of time.
func (c cell) isAOT() bool { return strings.HasPrefix(c.runtime, "aot") }
