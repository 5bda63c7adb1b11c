package formats

import (
	"slices"
	"strings"
)

// What the lines of the unified format are chosen by, and what stands before them:
// Java's -Xlog. Package internal/xlog reads its syntax.

// Level is how important a line is. A selection takes the lines of its level and
// above.
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

// LevelNames are what -Xlog and the logs call the levels.
var LevelNames = [...]string{"off", "error", "warning", "info", "debug", "trace"}

// A TagSet is what a line is about.
type TagSet uint8

// The tag sets of our lines.
const (
	TagGC        TagSet = iota // a line for the end of each pause, and for begin and end of each concurrent phase
	TagStart                   // begins of pauses
	TagHeap                    // sizes; with debug of each heap of server GC
	TagStats                   // what Java has no place for
	TagCPU                     // times; GCToolKit waits for these lines
	TagInit                    // head of each file
	TagErgo                    // why this generation, and the budgets
	TagAlloc                   // what the program allocated
	TagRef                     // pinned objects, handles, finalization
	TagPhases                  // what a pause was spent on; with debug what was marked from which roots
	TagSafepoint               // all suspensions of the program
	tagSets
)

var tagSetNames = [tagSets]string{
	"gc", "gc,start", "gc,heap", "gc,stats", "gc,cpu", "gc,init", "gc,ergo", "gc,alloc", "gc,ref", "gc,phases", "safepoint",
}

// TagSets lists the tag sets as -Xlog writes them: gc, gc+start, ...
func TagSets() (names []string) {
	for _, name := range tagSetNames {
		names = append(names, strings.ReplaceAll(name, ",", "+"))
	}
	return names
}

// A Decorator is one of the things that can stand before a line.
type Decorator uint8

// The decorators, in the order in which they stand there.
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
	DecTID                           // thread that stopped the program
	DecLevel                         //
	DecTags                          //
	decorators
)

// DecoratorNames are what -Xlog calls the decorators, in full and in short.
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

// Decorators is a set of them.
type Decorators uint16

// Of returns the set with the given ones.
func Of(list ...Decorator) (d Decorators) {
	for _, x := range list {
		d |= 1 << x
	}
	return d
}

// Has reports whether x is in the set.
func (d Decorators) Has(x Decorator) bool { return d&(1<<x) != 0 }

// A Selection is which lines a unified log has, and what stands before them.
type Selection struct {
	Levels     [tagSets]Level // the least important lines that are taken
	Decorators Decorators
}

// defaultSelection is the log that Java's tools read to the last line, with UTC: all
// that is in it was held against them.
func defaultSelection() *Selection {
	s := &Selection{Decorators: Of(DecUTCTime, DecUptime, DecLevel, DecTags)}
	for _, t := range []TagSet{TagGC, TagStart, TagHeap, TagStats, TagCPU, TagInit} {
		s.Levels[t] = LevelInfo
	}
	return s
}

// Select takes the lines up to level of the tag set with exactly these tags; with
// wildcard of all those that have them. No tags and a wildcard are all. It is false if
// there is no such tag set.
func (s *Selection) Select(tags []string, wildcard bool, level Level) (found bool) {
	for i, name := range tagSetNames {
		has := strings.Split(name, ",")
		if !wildcard && len(has) != len(tags) || slices.ContainsFunc(tags, func(tag string) bool { return !slices.Contains(has, tag) }) {
			continue
		}
		s.Levels[i] = level
		found = true
	}
	return found
}

// Empty reports whether no line is selected but those of heads, which are not written
// alone.
func (s *Selection) Empty() bool {
	for i, level := range s.Levels {
		if TagSet(i) != TagInit && level >= LevelInfo {
			return false
		}
	}
	return true
}

// Suspensions reports whether the selection has lines for suspensions that are not the
// GC's.
func (s *Selection) Suspensions() bool { return s != nil && s.Levels[TagSafepoint] >= LevelInfo }
