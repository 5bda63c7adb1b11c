package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestFindingsExplained checks that the explanation of a collection that a finding names agrees
// with it.
func TestFindingsExplained(t *testing.T) {
	says := map[string]func(j *judge) bool{
		"induced-gcs": func(j *judge) bool { return j.caused("trigger/reason", "Induced") },
		"blocking-gen2": func(j *judge) bool {
			return j.d.Generation == gclog.Gen2 && !j.caused("generation/kind", "default") && !j.caused("generation/kind", "sustained-low-latency")
		},
		"memory-load-gen2": func(j *judge) bool {
			return j.d.Generation == gclog.Gen2 && (j.caused("generation/conditions", "HighMemory") || j.caused("generation/conditions", "AlmostMaxAlloc") || j.caused("generation/conditions", "FragmentedGen2VeryHighMemory"))
		},
		"too-many-gen2": func(j *judge) bool { return j.d.Generation == gclog.Gen2 },
		"provisional-mode": func(j *judge) bool {
			return j.by["what/provisional"] != nil || j.caused("generation/conditions", "PM") || j.caused("generation/conditions", "AvoidUnproductive")
		},
		"time-tuning": func(j *judge) bool {
			steps := j.by["generation/steps"]
			if steps == nil {
				return false
			}
			v, ok := fact(steps, "dotnet.gc.condemned.time_tuning")
			return ok && v > 0
		},
		"pinning": func(j *judge) bool {
			pins := j.by["result/pins"]
			return pins != nil && slices.ContainsFunc(pins.Facts, func(f analysis.Fact) bool { return f.Value > 0 })
		},
		"finalizer-backlog": func(j *judge) bool {
			return j.by["result/finalization"] != nil || j.by["result/finalizers"] != nil || j.by["result/finalizer-running"] != nil
		},
		"long-suspension": func(j *judge) bool {
			return strings.Contains(flat(j.e.Parts), "suspend=") && !strings.Contains(flat(j.e.Parts), "suspend=n/a")
		},
	}
	compared := map[string]int{}
	forEach(t, func(t *testing.T, tr recordings.Trace) {
		var all []*keeping
		stream := recordings.Read(t, tr.Path)
		read(t, stream, func(p *gclog.Process) gclog.Observer {
			k := &keeping{Peers: analysis.NewPeers(), process: p}
			all = append(all, k)
			return k.Observe
		})
		findings, processes := recorded(t, stream)
		for i, f := range findings {
			for _, k := range all {
				if k.process.ID != processes[i].ID {
					continue
				}
				for _, x := range f.List() {
					if says[x.Rule.ID] == nil {
						continue
					}
					for _, d := range k.records {
						if !slices.Contains(x.GCs, d.Number) {
							continue
						}
						compared[x.Rule.ID]++
						e := analysis.Explain(d, analysis.Context{Process: k.process, HasBegin: true, Peers: k.Peers})
						if !says[x.Rule.ID](newJudge(k, d, &e)) {
							t.Errorf("%s (%s) names %s, whose explanation has other reasons:\n%s%s", x.Rule.ID, x.Text, e.Title, sentences(e.Trigger), sentences(e.Generation))
						}
					}
				}
			}
		}
	})
	t.Log(compared)
}

// caused reports whether a statement has a cause whose name starts so.
func (j *judge) caused(statement, prefix string) bool {
	s := j.by[statement]
	return s != nil && slices.ContainsFunc(s.Causes, func(cause string) bool { return strings.HasPrefix(cause, prefix) })
}
