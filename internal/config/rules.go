package config

import (
	"fmt"
	"slices"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/xlog"
	"github.com/gclog/gclog/session"
)

// Included reports whether a process is to be logged; if not, why, as the end of a sentence.
func (l *Loaded) Included(s *Subject) (included bool, why string) {
	for i := range l.Discovery.Exclude {
		if l.Discovery.Exclude[i].Fits(s) {
			path := item("discovery.exclude", i)
			return false, fmt.Sprintf("excluded by %s (%s)", path, l.origins[path])
		}
	}
	fits := func(m Match) bool { return m.Fits(s) }
	if len(l.Discovery.Include) > 0 && !slices.ContainsFunc(l.Discovery.Include, fits) {
		return false, fmt.Sprintf("not in discovery.include (%s)", l.origins[item("discovery.include", 0)])
	}
	return true, ""
}

// Refused returns why a process must not be logged whatever it reports about itself; "" if that is
// undecided. s is what can be known without asking the process: everything except its entry
// assembly, service and namespace.
func (l *Loaded) Refused(s *Subject) string {
	open := func(m Match) bool { return m.EntryAssembly != "" || m.Service != "" || m.Namespace != "" }
	fits := func(m Match) bool { return !open(m) && m.Fits(s) }
	include := l.Discovery.Include
	included := len(include) == 0 || slices.ContainsFunc(include, fits) || slices.ContainsFunc(include, open)
	if included && !slices.ContainsFunc(l.Discovery.Exclude, fits) {
		return ""
	}
	_, why := l.Included(s)
	return why
}

// service returns the rule for a process: the first that fits, or nil. Its service patterns apply
// to the service that was found out, s.Service.
func (c *Config) service(s *Subject) *Service {
	for i := range c.Services {
		if c.Services[i].Match.Fits(s) {
			return &c.Services[i]
		}
	}
	return nil
}

// Identify returns the name of the service that a process belongs to, and the level of its session.
func (c *Config) Identify(s *Subject) (service, level string) {
	service, level = s.Service, c.Session.Level
	if rule := c.service(s); rule != nil {
		if rule.Name != "" {
			service = rule.Name
		}
		if rule.Level != "" {
			level = rule.Level
		}
	}
	return service, level
}

// TakesSnapshots reports whether snapshots of a process are taken when its heap grows. Its service
// must be the one that Identify returned.
func (c *Config) TakesSnapshots(s *Subject) bool {
	o := &c.Heap.Auto
	return o.Enabled && (len(o.Only) == 0 || slices.ContainsFunc(o.Only, func(m Match) bool { return m.Fits(s) }))
}

// InTable reports whether the records of a process are written to Parquet files. Its service must be
// the one that Identify returned.
func (c *Config) InTable(s *Subject) bool {
	o := &c.Parquet
	return o.Path != "" && (len(o.Only) == 0 || slices.ContainsFunc(o.Only, func(m Match) bool { return m.Fits(s) }))
}

// SnapshotFolder returns the directory that these snapshots are written to. It may have a place for
// the name of the host: daemons that share a directory would take each other's snapshots for their
// own. By default it does if the first output has one.
func (c *Config) SnapshotFolder() string {
	return c.folder(c.Heap.Auto.Directory, "heap")
}

// Counters returns the counters of the runtime that a session listens to.
func (c *Config) Counters() attach.Counters {
	if c.Session.Counters == 0 {
		return attach.Counters{}
	}
	list, _ := attach.ParseCounters("", c.Session.Counters) // its kind has checked it
	return list
}

// SessionConfig returns what a session of a level listens to.
func (c *Config) SessionConfig(level string) (session.Config, error) {
	return attach.SessionConfig(level, c.Session.Providers, true)
}

// OutputsFor returns where the records of a process are written. Its service must be the one that
// Identify returned. Of outputs with the same path only the first is used, so that nothing is in a
// file twice.
func (c *Config) OutputsFor(s *Subject) (specs []output.Spec) {
	for i := range c.Outputs {
		o := &c.Outputs[i]
		if len(o.Only) > 0 && !slices.ContainsFunc(o.Only, func(m Match) bool { return m.Fits(s) }) {
			continue
		}
		spec, err := o.resolve()
		if err != nil || slices.ContainsFunc(specs, func(x output.Spec) bool { return x.Path == spec.Path }) {
			continue // a loaded configuration has no errors, but its accounts may have been removed
		}
		specs = append(specs, spec)
	}
	return specs
}

// Paths returns the paths of all outputs, with their places.
func (c *Config) Paths() (list []string) {
	for i := range c.Outputs {
		if spec, _, err := c.Outputs[i].spec(); err == nil { // a loaded configuration has no errors
			list = append(list, spec.Path)
		}
	}
	return list
}

// resolve returns where an output is written and in which format, on this host.
func (o *Output) resolve() (output.Spec, error) {
	spec, _, err := o.spec()
	if err == nil {
		spec.Rotate.As, err = o.Su.account()
	}
	return spec, err
}

// spec returns where an output is written and in which format, without the account on this host,
// and warnings for people.
func (o *Output) spec() (spec output.Spec, warnings []string, err error) {
	rotate := rotate.Options{Count: o.FileCount, Size: o.FileSize, Mode: o.Mode}
	if rotate.Naming, err = output.ParseNaming(o.RotationNames); err != nil {
		return spec, nil, err
	}
	if o.Xlog == "" {
		f, err := formats.Find(o.Format)
		return output.Spec{Path: o.Path, Format: f, Rotate: rotate}, nil, err
	}
	specs, warnings, err := xlog.Specs([]string{o.Xlog}, rotate, true)
	if err != nil {
		return spec, nil, err
	}
	return specs[0], warnings, nil
}
