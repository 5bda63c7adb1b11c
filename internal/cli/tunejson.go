package cli

import (
	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog/analysis"
)

// tuneJSON is the result of tune in JSON; it is part of gclog's compatibility promise.
type tuneJSON struct {
	Event struct {
		Action string `json:"action"`
	} `json:"event"`
	Command  []string         `json:"command"`
	Seed     uint64           `json:"seed"`
	Rounds   int              `json:"rounds"`
	Settings []tuneResultJSON `json:"settings"` // the first one is the program as it is
	Gclog    versionJSON      `json:"gclog"`
}

type tuneResultJSON struct {
	Name       string                    `json:"name"`
	Variables  map[string]string         `json:"variables"`
	Properties map[string]any            `json:"properties"`
	Optimal    bool                      `json:"optimal"`
	Runs       int                       `json:"runs"`
	Failed     []string                  `json:"failed"`
	Ignored    []string                  `json:"ignored"`
	Pauses     string                    `json:"pauses,omitempty"` // the metric that stands for the pauses
	Metrics    map[string]differenceJSON `json:"metrics"`          // b is with the setting, a without
}

func (t *tuning) document() *tuneJSON {
	d := &tuneJSON{Command: t.command, Seed: t.seed, Rounds: t.rounds, Gclog: versionJSON{t.p.version(), formats.Schema}}
	d.Event.Action = "gc-tune"
	for _, r := range t.settings {
		x := tuneResultJSON{
			Name: r.name, Variables: map[string]string{}, Properties: map[string]any{}, Optimal: r.optimal, Runs: len(r.trials),
			Failed: append([]string{}, r.failed...), Ignored: append([]string{}, r.ignored...), Metrics: map[string]differenceJSON{},
		}
		for _, v := range r.values {
			x.Variables[environmentPrefix+v.setting.Variable] = v.text
			if v.setting.Property != "" {
				x.Properties[v.setting.Property] = v.json
			}
		}
		if len(r.against.objectives) > 0 {
			x.Pauses = r.pauses()
			addDifferences(x.Metrics, r.against.metrics)
			addDifferences(x.Metrics, r.against.objectives[1:])
		}
		d.Settings = append(d.Settings, x)
	}
	return d
}

// addDifferences adds differences by name.
func addDifferences(to map[string]differenceJSON, list []analysis.Difference) {
	for i := range list {
		d := &list[i]
		j := differenceJSON{A: d.A, B: d.B, Verdict: d.Verdict, Reason: d.Why}
		if d.Verdict != analysis.TooLittleData {
			j.Change, j.Low, j.High = &d.Change, &d.Low, &d.High
		}
		to[d.Name] = j
	}
}
