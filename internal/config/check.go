package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
)

// forgetPath removes the default path of an output that the environment replaces with -Xlog.
func (c *Config) forgetPath(origins map[string]origin) {
	for i := range c.Outputs {
		if _, said := origins[item("outputs", i)+".path"]; !said && c.Outputs[i].Xlog != "" {
			c.Outputs[i].Path = ""
		}
	}
}

const maxOutputs = 100

// CheckHost returns an error for each problem that prevents a daemon of this user from using the
// configuration on this host: directories through which other users could redirect what it writes, as
// far as they are known before there is a process, accounts that do not exist, and secrets that cannot
// be read. Less serious problems are added to the warnings.
func (c *Loaded) CheckHost() error {
	var problems []error
	check := func(path string, rotate rotate.Options, dir string) {
		rotate.NoLinks = true
		warning, err := rotate.CheckFolder(dir)
		if at, ok := errors.AsType[*fs.PathError](err); ok {
			err = &output.PathError{Path: at.Path, Err: at.Err}
		}
		if err != nil {
			problems = append(problems, problem{c.origins[path], path, err.Error()})
		}
		if warning != "" {
			c.warn(path, "%s", warning)
		}
	}
	for i := range c.Outputs {
		path := item("outputs", i)
		spec, err := c.Outputs[i].resolve()
		switch {
		case err != nil:
			problems = append(problems, problem{c.origins[path], path, err.Error()})
		case !output.IsStream(spec.Path):
			check(path, spec.Rotate, output.KnownFolder(spec.Path))
		}
	}
	if c.Heap.Auto.Enabled {
		check("heap.auto.directory", rotate.Options{}, output.KnownFolder(filepath.Join(c.SnapshotFolder(), "file")))
	}
	for i := range c.Rules {
		for j := range c.Rules[i].Do {
			a, path := &c.Rules[i].Do[j], item(item("rules", i)+".do", j)
			if a.Exec.isSet() {
				account, err := a.Exec.Account()
				if err != nil {
					problems = append(problems, problem{c.origins[path], path, err.Error()})
				} else if text := asWhom(account); text != "" {
					c.warn(path+".exec", "%s", text)
				}
			}
			if text := a.Exec.missing(); text != "" {
				c.warn(path+".exec.command", "%s", text)
			}
		}
	}
	if c.Records() {
		check("recorder.directory", rotate.Options{}, output.KnownFolder(filepath.Join(c.RecordingFolder(), "file")))
	}
	if c.Parquet.Path != "" {
		check("parquet.path", rotate.Options{}, output.KnownFolder(c.Parquet.Path))
	}
	return errors.Join(append(problems, c.checkSecrets()...)...)
}

// check finds problems between values that are each valid on their own.
func (c *Loaded) check(l *loader) {
	c.Warnings = nil
	matches := func(list []Match, path string) {
		for i := range list {
			c.checkMatch(l, &list[i], item(path, i))
		}
	}
	matches(c.Discovery.Include, "discovery.include")
	matches(c.Discovery.Exclude, "discovery.exclude")
	matches(c.Heap.Auto.Only, "heap.auto.only")
	matches(c.Parquet.Only, "parquet.only")
	for i, socket := range c.Discovery.Listen {
		if slices.Contains(c.Discovery.Listen[:i], socket) {
			path := item("discovery.listen", i)
			l.wrong(l.origins[path], path, "duplicate %s", quote(socket))
		}
	}
	for i := range c.Services {
		s, path := &c.Services[i], item("services", i)
		c.checkMatch(l, &s.Match, path+".match")
		if s.Name == "" && s.Level == "" {
			l.wrong(l.origins[path], path, "the rule has no effect: set a name or a level")
		}
	}
	c.checkRules(l)
	c.checkServed()
	c.checkExported()
	c.checkQuotas()
	if len(c.Outputs) == 0 {
		l.wrong(l.origins["outputs"], "outputs",
			"the list is empty, so nothing would be written; if you leave the key out, there is one output, %s",
			defaults().Outputs[0].Path)
	}
	if len(c.Outputs) > maxOutputs {
		l.wrong(l.origins["outputs"], "outputs",
			"there are %d, but at most %d are allowed: gclog could have that many files open for each process",
			len(c.Outputs), maxOutputs)
		return
	}
	specs := make([]output.Spec, len(c.Outputs))
	for i := range c.Outputs {
		matches(c.Outputs[i].Only, item("outputs", i)+".only")
		c.checkOutput(l, i, specs)
	}
}

// warn adds a warning about a key.
func (c *Loaded) warn(path, format string, args ...any) {
	c.Warnings = append(c.Warnings, problem{c.origins[path], path, fmt.Sprintf(format, args...)}.Error())
}

// checkServed warns of keys without an effect because nothing is served over TCP.
func (c *Loaded) checkServed() {
	if c.HTTP.Listen != "" {
		return
	}
	const useless = "it has no effect without http.listen, such as 127.0.0.1:9799"
	if c.HTTP.WebConfig != "" {
		c.warn("http.web_config", useless)
	}
	if c.Metrics.Enabled {
		c.warn("metrics.enabled", useless)
	}
}

// checkQuotas warns of a retention that one process, or one service, could fill alone: its files, and the
// files of others that have less, are then deleted soon after their processes have exited.
func (c *Loaded) checkQuotas() {
	const path = "retention.total"
	total := c.Retention.Total
	switch total {
	case 0:
		return
	case AutoTotal:
		total = AutoTotalMost
	}
	size := func(n int64) string { return kinds["total"].print(n) }
	var logs int64
	for i := range c.Outputs {
		o := &c.Outputs[i]
		if o.FileCount == 0 {
			c.warn(item("outputs", i)+".filecount", "without rotation the log of one process alone can fill %s", path)
			return
		}
		logs += int64(o.FileCount+1) * o.FileSize
	}
	if logs >= total {
		c.warn(path, "the logs of one process can have %s (filecount and filesize of the outputs), so that it alone "+
			"can fill %s: raise it, or lower those", size(logs), size(total))
	}
	records := slices.ContainsFunc(c.Rules, func(r Rule) bool {
		return slices.ContainsFunc(r.Do, func(a Action) bool { return a.Record.isSet() })
	})
	if recordings := int64(c.Recorder.Keep) * c.Recorder.Memory; records && recordings >= total {
		c.warn("recorder.keep", "%d recordings of one service can have %s (recorder.memory each), so that it alone "+
			"can fill %s, %s: lower it, or raise that",
			c.Recorder.Keep, size(recordings), path, size(total))
	}
}

// checkExported warns of the port that OpenTelemetry has for gRPC.
func (c *Loaded) checkExported() {
	const path = "otlp.endpoint"
	if u, err := url.Parse(string(c.OTLP.Endpoint)); err == nil && u.Port() == "4317" {
		c.warn(path, "port 4317 is usually for gRPC, which gclog does not send; the port for HTTP is usually 4318")
	}
}

// checkMatch: a match without conditions would fit everything, which is rarely intended.
func (c *Loaded) checkMatch(l *loader, m *Match, path string) {
	if *m == (Match{}) {
		at := l.origins[path]
		if at == (origin{}) {
			at = l.origins[strings.TrimSuffix(path, ".match")]
		}
		l.wrong(at, path, "it has no conditions: give a pattern, such as process: \"*\"")
	}
}

// checkOutput checks one output, also against those before it, whose specs are set.
func (c *Loaded) checkOutput(l *loader, i int, specs []output.Spec) {
	o, path := &c.Outputs[i], item("outputs", i)
	at := l.origins[path]
	where := path + ".path"
	switch {
	case o.Path == "" && o.Xlog == "":
		l.wrong(at, path, "the output has no destination: set path or xlog")
		return
	case o.Xlog != "" && o.Path != "":
		l.wrong(l.origins[path+".xlog"], path+".xlog", "path and xlog are mutually exclusive: set one of them")
		return
	case o.Xlog != "":
		where = path + ".xlog"
		if o.Format != "" {
			l.wrong(l.origins[path+".format"], path+".format",
				"the file's extension determines the format of xlog (unified by default): leave format out")
			return
		}
	}
	if at = l.origins[where]; at == (origin{}) {
		at = l.origins[path]
	}
	spec, warnings, err := o.spec()
	if err == nil && o.Xlog != "" {
		err = checkFile(spec.Path)
	}
	if err != nil {
		l.wrong(at, where, "%v", err)
		return
	}
	for _, w := range warnings {
		c.Warnings = append(c.Warnings, problem{at, where, w}.Error())
	}
	if su := path + ".su"; o.Su.User == "" && o.Su.Group != "" {
		l.wrong(l.origins[su+".group"], su, "group %s is set without a user: set su.user, too", quote(o.Su.Group))
	}
	if !spec.Format.ManyProcesses() && !output.PerProcess(spec.Path) {
		l.wrong(at, where, "a file in the format %s can contain only one process: put %%p, the pid, into %s",
			spec.Format.Name, spec.Path)
	}
	for k, before := range specs[:i] {
		same := before.Path != "" && filepath.Clean(before.Path) == filepath.Clean(spec.Path)
		if same && onlyMeet(c.Outputs[k].Only, o.Only) {
			l.wrong(at, where,
				"%s is also the file of outputs[%d]: some processes would be logged to it twice", spec.Path, k)
		}
	}
	specs[i] = spec
	if o.Xlog != "" { // its options take precedence
		if o.FileCount != spec.Rotate.Count {
			o.FileCount, l.origins[path+".filecount"] = spec.Rotate.Count, at
		}
		if o.FileSize != spec.Rotate.Size {
			o.FileSize, l.origins[path+".filesize"] = spec.Rotate.Size, at
		}
	}
}

// onlyMeet reports whether there can be a process that both fit.
func onlyMeet(a, b []Match) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(m Match) bool {
		return slices.ContainsFunc(b, func(o Match) bool { return m.meet(&o) })
	})
}
