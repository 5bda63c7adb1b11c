package flame

import (
	"io"

	"github.com/gclog/gclog/formats"
)

// The file format of speedscope: https://www.speedscope.app/file-format-schema.json.
type speedscope struct {
	Schema   string              `json:"$schema"`
	Name     string              `json:"name,omitempty"`
	Exporter string              `json:"exporter"`
	Shared   speedscopeShared    `json:"shared"`
	Profiles []speedscopeProfile `json:"profiles"`
}

type speedscopeShared struct {
	Frames []speedscopeFrame `json:"frames"`
}

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
}

type speedscopeProfile struct {
	Type    string   `json:"type"`
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Start   uint64   `json:"startValue"`
	End     uint64   `json:"endValue"`
	Samples [][]int  `json:"samples"`
	Weights []uint64 `json:"weights"`
}

// WriteSpeedscope writes the bytes or the collections of the profile for speedscope.
func (p *Profile) WriteSpeedscope(w io.Writer) error {
	x := speedscope{
		Schema: "https://www.speedscope.app/file-format-schema.json", Name: p.Title, Exporter: "gclog",
		Shared: speedscopeShared{Frames: []speedscopeFrame{}},
	}
	for _, f := range p.Frames {
		x.Shared.Frames = append(x.Shared.Frames, speedscopeFrame{f.Name, f.File})
	}
	of := speedscopeProfile{Type: "sampled", Name: "bytes", Unit: "bytes", Samples: [][]int{}, Weights: []uint64{}}
	if kinds[p.Kind].counts {
		of.Name, of.Unit = "collections", "none"
	}
	for i := range p.Samples {
		weight := p.shown(&p.Samples[i])
		of.Samples = append(of.Samples, p.Samples[i].Stack)
		of.Weights = append(of.Weights, weight)
		of.End += weight
	}
	x.Profiles = []speedscopeProfile{of}
	return formats.NewJSONEncoder(w).Encode(x)
}
