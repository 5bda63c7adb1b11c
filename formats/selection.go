package formats

import (
	"slices"
	"strings"
)

// How the lines of the unified format and their decorations are selected: Java's -Xlog. Package
// internal/xlog parses its syntax.

// Level is the importance of a line. A selection contains the lines of its level and above.
type Level uint8

// The levels, from nothing to everything.
const (
	LevelOff Level = iota
	LevelError
	LevelWarning
	LevelInfo
	LevelDebug
	LevelTrace
)

// LevelNames are the names of the levels in -Xlog and in logs.
var LevelNames = [...]string{"off", "error", "warning", "info", "debug", "trace"}

// A TagSet is the topic of a line.
type TagSet uint8

// The tag sets of gclog's lines.
const (
	TagGC        TagSet = iota // one line at the end of each pause, and at the start and end of each concurrent phase
	TagStart                   // starts of pauses
	TagHeap                    // sizes; with debug, of each heap of server GC
	TagStats                   // values that have no counterpart in Java
	TagCPU                     // times; GCToolKit waits for these lines
	TagInit                    // header of each file
	TagErgo                    // why this generation was condemned, and the budgets
	TagAlloc                   // what the program allocated
	TagRef                     // pinned objects, handles, finalization
	TagPhases                  // where the pause went; with debug, what was marked from which roots
	TagSafepoint               // all suspensions of the program
	tagSets
)

var tagSetNames = [tagSets]string{
	"gc", "gc,start", "gc,heap", "gc,stats", "gc,cpu", "gc,init", "gc,ergo", "gc,alloc", "gc,ref", "gc,phases",
	"safepoint",
}

// TagSets lists the tag sets in -Xlog syntax: gc, gc+start, ...
func TagSets() (names []string) {
	for _, name := range tagSetNames {
		names = append(names, strings.ReplaceAll(name, ",", "+"))
	}
	return names
}

// A Decorator is an item that can be in front of a line.
type Decorator uint8

// The decorators, in the order in which they appear.
const (
	DecTime         Decorator = iota // local date and time
	DecUTCTime                       //
	DecUptime                        // age of the process
	DecTimeMillis                    // since 1970
	DecUptimeMillis                  //
	DecTimeNanos                     // since 1970
	DecUptimeNanos                   //
	DecHostname                      // of the host that gclog runs on
	DecPID                           //
	DecTID                           // thread that suspended the program
	DecLevel                         //
	DecTags                          //
	decorators
)

// DecoratorNames are -Xlog's long and short names of the decorators.
var DecoratorNames = [decorators][2]string{
	{"time", "t"},
	{"utctime", "utc"},
	{"uptime", "u"},
	{"timemillis", "tm"},
	{"uptimemillis", "um"},
	{"timenanos", "tn"},
	{"uptimenanos", "un"},
	{"hostname", "hn"},
	{"pid", "p"},
	{"tid", "ti"},
	{"level", "l"},
	{"tags", "tg"},
}

// Decorators is a set of decorators.
type Decorators uint16

// Of returns the set of the given decorators.
func Of(list ...Decorator) (d Decorators) {
	for _, x := range list {
		d |= 1 << x
	}
	return d
}

// Has reports whether x is in the set.
func (d Decorators) Has(x Decorator) bool { return d&(1<<x) != 0 }

// A Selection is which lines a unified log contains, and their decorations.
type Selection struct {
	Levels     [tagSets]Level // the least important level that is included
	Decorators Decorators
}

// defaultSelection returns the log that Java's tools read completely, with UTC: all of its lines
// were tested with them.
func defaultSelection() *Selection {
	s := &Selection{Decorators: Of(DecUTCTime, DecUptime, DecLevel, DecTags)}
	for _, t := range []TagSet{TagGC, TagStart, TagHeap, TagStats, TagCPU, TagInit} {
		s.Levels[t] = LevelInfo
	}
	return s
}

// Select selects the lines up to level of the tag set with exactly these tags or, with wildcard, of
// all tag sets that contain them. No tags with a wildcard means all. It returns false if there is
// no such tag set.
func (s *Selection) Select(tags []string, wildcard bool, level Level) (found bool) {
	for i, name := range tagSetNames {
		has := strings.Split(name, ",")
		other := func(tag string) bool { return !slices.Contains(has, tag) }
		if !wildcard && len(has) != len(tags) || slices.ContainsFunc(tags, other) {
			continue
		}
		s.Levels[i] = level
		found = true
	}
	return found
}

// Empty reports whether no line is selected except header lines, which are never written alone.
func (s *Selection) Empty() bool {
	for i, level := range s.Levels {
		if TagSet(i) != TagInit && level >= LevelInfo {
			return false
		}
	}
	return true
}

// Suspensions reports whether the selection has lines for suspensions that are not for the GC.
func (s *Selection) Suspensions() bool { return s != nil && s.Levels[TagSafepoint] >= LevelInfo }
