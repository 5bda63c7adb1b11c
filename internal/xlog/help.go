package xlog

import (
	"strings"

	"github.com/gclog/gclog/formats"
)

// HelpOption is the option that asks for Help.
const HelpOption = "-Xlog:help"

// InsteadOf returns what to write instead of an option of JVMs before Java 9.
func InsteadOf(option string) string {
	for _, o := range [...]struct{ part, instead string }{
		{"LogFile", "write -Xlog:gc*:file=gc.log::filecount=5,filesize=20m"},
		{"Stopped", "write -Xlog:safepoint:file=safepoints.log"},
		{"Concurrent", "write -Xlog:safepoint:file=safepoints.log"},
		{"Details", "write -Xlog:gc*:file=gc.log, or --format jdk8 -o gc.log for lines in the JDK 8 style"},
		{
			"Stamps",
			"write -Xlog:gc*:file=gc.log, which includes them, or --format jdk8 -o gc.log for lines in the JDK 8 style",
		},
		{"Ergonomics", "write -Xlog:gc+ergo:file=gc.log"},
		{"AdaptiveSizePolicy", "write -Xlog:gc+ergo:file=gc.log"},
		{"Reference", "write -Xlog:gc+ref:file=gc.log"},
		{"HeapAtGC", "write -Xlog:gc+heap=debug:file=gc.log"},
		{"GC", "write -Xlog:gc:file=gc.log"},
	} {
		if strings.Contains(option, o.part) {
			return o.instead
		}
	}
	return "gclog changes nothing in the process and supports only Java's logging options: -Xlog:gc*:file=gc.log"
}

// Help explains -Xlog to people.
func Help() string {
	var decorators []string
	for _, d := range formats.DecoratorNames {
		decorators = append(decorators, d[0]+" ("+d[1]+")")
	}
	return `-Xlog[:WHAT[:OUTPUT[:DECORATORS[:OPTIONS]]]]
 WHAT: tag[+tag...][*][=level],... or all, disable
  tag sets: ` + strings.Join(formats.TagSets(), ", ") + `
  levels: ` + strings.Join(formats.LevelNames[:], ", ") + `; info if there is none
 OUTPUT: stdout, stderr, file=NAME; the format is that of the extension
 DECORATORS: none, or ` + strings.Join(decorators, ", ") + `; time,uptime,level,tags if there are none
 OPTIONS: filecount=N,filesize=N[K|M|G]
 Example: -Xlog:gc*:file=gc-%p.log:time,uptime:filecount=5,filesize=10m`
}
