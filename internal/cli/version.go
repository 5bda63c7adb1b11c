package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/urfave/cli/v2"
)

// linkedVersion is set by the linker of a release.
var linkedVersion string

// version returns the version of the release, or of the module that go install built.
func version() string {
	if linkedVersion != "" {
		return linkedVersion
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func (p *commands) versionCommand() *cli.Command {
	return &cli.Command{
		Name:   "version",
		Usage:  "print the version",
		Flags:  results.Flags(results.TextOrJSON),
		Action: results.Action(p.Run, results.TextOrJSON, p.printVersion),
	}
}

func (p *commands) printVersion(c *cli.Context, how string) error {
	if err := flags.NoArguments(c); err != nil {
		return err
	}
	v := struct {
		Version  string `json:"version"`
		Commit   string `json:"commit,omitempty"`
		Go       string `json:"go"`
		Platform string `json:"platform"`
		Schema   string `json:"schema"` // of the JSON records
	}{Version: p.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Schema: formats.Schema}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Commit = s.Value
			}
		}
	}
	if how == "json" {
		return formats.NewJSONEncoder(p.Out).Encode(v)
	}
	s := "gclog " + v.Version
	if v.Commit != "" {
		s += " (" + v.Commit[:min(12, len(v.Commit))] + ")"
	}
	_, err := fmt.Fprintf(p.Out, "%s, %s, %s\n", s, v.Go, v.Platform)
	return err
}
