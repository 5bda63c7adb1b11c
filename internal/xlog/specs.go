package xlog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
)

// Specs returns the outputs that several -Xlog options ask for, with warnings for people. Their
// files are rotated as rotation says, unless the options say otherwise, and named as by HotSpot,
// unless named is set: then rotation determines their names.
func Specs(args []string, rotation rotate.Options, named bool) (specs []output.Spec, warnings []string, err error) {
	config, err := Parse(args)
	if err != nil {
		return nil, nil, err
	}
	if len(config.Outputs) == 0 {
		return nil, nil,
			errors.New("-Xlog:disable leaves nothing to write: select what to log, as in -Xlog:gc*:file=gc.log")
	}
	if !named {
		rotation.Naming = rotate.NameByIndex
	}
	for i := range config.Outputs {
		o := &config.Outputs[i]
		s := output.Spec{Path: output.Named(o.Path), Rotate: rotation}
		switch {
		case o.IsFile:
		case o.Path == Stdout:
			s.Path = output.Stdout
		default:
			s.Path = output.Stderr
		}
		if o.FileCount != "" {
			if s.Rotate.Count, err = output.ParseFileCount(o.FileCount); err != nil {
				return nil, nil, fmt.Errorf("-Xlog: filecount %w", err)
			}
		}
		if o.FileSize != "" {
			if s.Rotate.Size, err = output.ParseSize(o.FileSize); err != nil {
				return nil, nil, fmt.Errorf("-Xlog: filesize %w", err)
			}
		}
		s.Format = formats.ForFile(o.Path)
		switch {
		case o.Selection.Empty():
			return nil, nil, fmt.Errorf("-Xlog selects nothing for %s: the tag sets are %s",
				o.Path, strings.Join(formats.TagSets(), ", "))
		case s.Format.Name == formats.Default:
			s.Selection = &o.Selection
			config.Warnings = append(config.Warnings, o.ReaderWarnings()...)
		case o.Decorated || o.Selection.Levels[formats.TagGC] < formats.LevelInfo:
			config.Warnings = append(config.Warnings, fmt.Sprintf(
				"%s is %s, which is always written in full: tags and decorators apply only to the unified format",
				o.Path, s.Format.Name))
		}
		specs = append(specs, s)
	}
	return specs, config.Warnings, nil
}
