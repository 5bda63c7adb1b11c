package logs

import (
	"math"

	"github.com/gclog/gclog/gclog"
)

// maxGrowth limits how many snapshots and types of a record are kept.
const maxGrowth = 100

// readHeapGrowth reads what grew between heap snapshots.
func (l *jsonLine) readHeapGrowth(g *gclog.HeapGrowth) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "snapshots":
			for s.list(); s.element(); {
				if x := l.readSnapshot(); len(g.Snapshots) < maxGrowth {
					g.Snapshots = append(g.Snapshots, x)
				}
			}
		case "growth":
			for s.list(); s.element(); {
				if x := l.readTypeGrowth(); len(g.Types) < maxGrowth {
					g.Types = append(g.Types, x)
				}
			}
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readSnapshot() (x gclog.HeapSnapshot) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "file":
			x.File = keep(s.text())
		case "time":
			x.Time = unixTime(s.time())
		default:
			s.skip()
		}
	}
	return x
}

func (l *jsonLine) readTypeGrowth() (x gclog.TypeGrowth) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "type":
			x.Type = keep(s.text())
		case "objects":
			x.Objects = s.uint(math.MaxUint64)
		case "bytes":
			x.Bytes = s.uint(math.MaxUint64)
		case "objects_diff":
			x.ObjectsDiff = s.int()
		case "bytes_diff":
			x.BytesDiff = s.int()
		case "grew_every_time":
			x.EveryTime = s.bool()
		default:
			s.skip()
		}
	}
	return x
}
