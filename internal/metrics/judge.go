package metrics

import (
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// A judge has the verdict about what a process does now.
type judge struct {
	process  gclog.Process // what is known of it
	findings *analysis.Findings
	judged   time.Time
}

// judgeEvery is how often a verdict is made anew, at most: it takes some 100 µs.
const judgeEvery = 5 * time.Second

// take takes a record. The verdict at the end of a session stays until the next one begins.
func (j *judge) take(r gclog.Record, s *state) {
	if _, starts := r.(*gclog.Start); starts || j.findings == nil {
		j.findings, j.judged = analysis.NewFindingsNow(&j.process, analysis.Thresholds{}), time.Time{}
	}
	if end, ends := r.(*gclog.End); ends {
		s.cause = j.findings.Conclude(end).Cause
		j.findings = nil
		return
	}
	j.findings.Observe(r)
}

// renew makes the verdict at a time.
func (j *judge) renew(now time.Time, s *state) {
	if j.findings == nil || now.Sub(j.judged).Abs() < judgeEvery {
		return
	}
	defer func() {
		if recover() != nil { // a defect must not end the daemon
			j.findings, s.cause = nil, ""
		}
	}()
	j.judged = now
	j.findings.Observe(&gclog.End{At: int64(now.Sub(j.process.Sync))})
	s.cause = j.findings.Verdict().Cause
}
