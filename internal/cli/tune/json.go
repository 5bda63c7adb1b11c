package tune

import (
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/compare"
)

// documentJSON is the result of tune in JSON; it is part of gclog's compatibility promise.
type documentJSON struct {
	Event struct {
		Action string `json:"action"`
	} `json:"event"`
	Command  []string       `json:"command"`
	Seed     uint64         `json:"seed"`
	Rounds   int            `json:"rounds"`
	Settings []outcomeJSON  `json:"settings"` // the first one is the program as it is
	Gclog    assess.Version `json:"gclog"`
}

type outcomeJSON struct {
	Name       string                            `json:"name"`
	Variables  map[string]string                 `json:"variables"`
	Properties map[string]any                    `json:"properties"`
	Optimal    bool                              `json:"optimal"`
	Runs       int                               `json:"runs"`
	Failed     []string                          `json:"failed"`
	Ignored    []string                          `json:"ignored"`
	Pauses     string                            `json:"pauses,omitempty"` // the metric that stands for the pauses
	Metrics    map[string]compare.DifferenceJSON `json:"metrics"`          // b is with the setting, a without
}

func (t *tuning) document() *documentJSON {
	d := &documentJSON{Command: t.command, Seed: t.seed, Rounds: t.rounds, Gclog: assess.NewVersion(t.p.Run)}
	d.Event.Action = "gc-tune"
	for _, r := range t.settings {
		x := outcomeJSON{
			Name: r.name, Variables: map[string]string{}, Properties: map[string]any{}, Optimal: r.optimal,
			Runs: len(r.trials), Failed: append([]string{}, r.failed...), Ignored: append([]string{}, r.ignored...),
			Metrics: map[string]compare.DifferenceJSON{},
		}
		for _, v := range r.values {
			x.Variables[environmentPrefix+v.setting.Variable] = v.text
			if v.setting.Property != "" {
				x.Properties[v.setting.Property] = v.json
			}
		}
		if len(r.against.objectives) > 0 {
			x.Pauses = r.pauses()
			compare.AddDifferences(x.Metrics, r.against.metrics)
			compare.AddDifferences(x.Metrics, r.against.objectives[1:])
		}
		d.Settings = append(d.Settings, x)
	}
	return d
}
