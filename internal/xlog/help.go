package xlog

import (
	"strings"

	"github.com/gclog/gclog/formats"
)

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
 Example: -Xlog:gc*:file=gc-%p.log:time,uptime,level,tags:filecount=5,filesize=10m`
}
