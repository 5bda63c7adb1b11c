package daemon

import (
	"fmt"

	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/session"
)

// limits are the limits on processes and connections that keep gclog within the number of files it
// may have open, so that it can do what it has promised, whatever other processes do. A quarter of
// the files is for connections at diagnostic ports, an eighth for those of the HTTP servers, an
// eighth for looking at processes and for gclog itself; processes that are logged get the rest.
type limits struct {
	processes   int // logged processes
	connections int // at a diagnostic port
	requests    int // connections of an HTTP server
}

// ownFiles is how many files are reserved for looking at processes and for gclog itself.
const ownFiles = 256

func newLimits(c *config.Loaded, files uint64) limits {
	each := attach.SessionFiles + output.FilesOpen*len(c.Outputs)
	const enough = 1 << 20 // more than will ever be needed
	rest := int(min(files, enough))
	l := limits{requests: min(httpMost, rest/16)}
	own := min(ownFiles, rest/8)
	if n := len(c.Discovery.Listen); n > 0 {
		l.connections = min(session.PortConnections, rest/4/n)
	}
	rest -= own + 2*l.requests + l.connections*len(c.Discovery.Listen)
	l.processes = max(1, min(c.Discovery.MaxProcesses, rest/each))
	return l
}

// limit sets the limits for the current configuration. It warns that gclog may not open enough
// files for that, which would otherwise only show when there are many processes.
func (d *Daemon) limit() {
	files := filesMost()
	d.limits = newLimits(d.config, files)
	if most := d.config.Discovery.MaxProcesses; d.limits.processes < most {
		d.log.Warn().Msg(fmt.Sprintf("gclog may have %d files open, enough for %d processes but not for "+
			"discovery.max_processes = %d: raise the limit (LimitNOFILE, ulimit -n)",
			files, d.limits.processes, most))
	}
}
