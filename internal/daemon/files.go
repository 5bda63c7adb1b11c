package daemon

import (
	"fmt"

	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/output"
)

// checkFiles tells at the start what else would be found out when there are many
// processes: that no more files can be opened.
func (d *Daemon) checkFiles() {
	most, each := d.config.Discovery.MaxProcesses, attach.SessionFiles+output.FilesOpen*len(d.config.Outputs)
	if limit := filesMost(); uint64(most*each) > limit {
		d.log.Warn().Msg(fmt.Sprintf("gclog may have %d files open, which is enough for about %d processes and not for discovery.max_processes = %d: raise the limit (LimitNOFILE, ulimit -n)",
			limit, limit/uint64(each), most))
	}
}
