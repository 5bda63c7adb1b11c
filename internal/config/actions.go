package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/gclog/gclog/internal/condition"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/rules"
)

// Rules and what they do.

// isSet reports whether the user is given.
func (s Su) isSet() bool { return s != Su{} }

// The actions that are sections are set if what they need is given.
func (a RecordAction) isSet() bool  { return a.Before > 0 }
func (a LevelAction) isSet() bool   { return a.To != "" }
func (a ExecAction) isSet() bool    { return len(a.Command) > 0 }
func (a WebhookAction) isSet() bool { return a.URL != "" }

// Names returns the keys of what the action does.
func (a *Action) Names() (list []string) {
	for _, x := range []struct {
		key string
		set bool
	}{
		{"log", a.Log != ""},
		{"record", a.Record.isSet()},
		{"level", a.Level.isSet()},
		{"exec", a.Exec.isSet()},
		{"webhook", a.Webhook.isSet()},
		{"heap_snapshot", a.HeapSnapshot},
	} {
		if x.set {
			list = append(list, x.key)
		}
	}
	return list
}

// Compile returns what decides when the rule fires.
func (r *Rule) Compile() (*rules.Rule, error) {
	kind, err := rules.ParseKind(r.Event)
	if err != nil {
		return nil, err
	}
	return rules.New(r.Name, kind, r.When, r.For, r.Every, r.Cooldown)
}

// Applies reports whether the rule applies to a process. Its service must be the one that Identify
// returned.
func (r *Rule) Applies(s *Subject) bool {
	return len(r.Only) == 0 || slices.ContainsFunc(r.Only, func(m Match) bool { return m.Fits(s) })
}

// Account returns the user that the command runs as, nil for gclog's own.
func (a *ExecAction) Account() (*rotate.Account, error) {
	if !a.Su.isSet() {
		return nil, nil
	}
	account, err := a.Su.account()
	return &account, err
}

// asWhom says why a command cannot run as an account, nil for gclog's own, or that it has more rights
// than it may need; "" if neither is so.
func asWhom(account *rotate.Account) string {
	if account == nil && os.Geteuid() == 0 {
		return "the command runs as root, as gclog does: set su, unless it needs that"
	}
	if account == nil {
		account = &rotate.Account{}
	}
	if err := account.Check(); err != nil {
		return "the command will fail: " + err.Error()
	}
	return ""
}

// HasSu reports whether something is written or run as a user other than gclog's.
func (c *Config) HasSu() bool {
	return slices.ContainsFunc(c.Outputs, func(o Output) bool { return o.Su.isSet() }) ||
		slices.ContainsFunc(c.Rules, func(r Rule) bool {
			return slices.ContainsFunc(r.Do, func(a Action) bool { return a.Exec.Su.isSet() })
		})
}

// missing says that the program is not there, "" if it is or gclog cannot know.
func (a *ExecAction) missing() string {
	if !a.isSet() {
		return ""
	}
	switch _, err := exec.LookPath(a.Command[0]); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("there is no %s: the command will fail", quote(a.Command[0]))
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Sprintf("there is no %s in $PATH: the command will fail", quote(a.Command[0]))
	}
	return ""
}

// Records reports whether a rule writes recordings.
func (c *Config) Records() bool {
	return slices.ContainsFunc(c.Rules, func(r Rule) bool {
		return slices.ContainsFunc(r.Do, func(a Action) bool { return a.Record.isSet() })
	})
}

// RecordingFolder returns the directory of the recordings of rules: see SnapshotFolder.
func (c *Config) RecordingFolder() string {
	return c.folder(c.Recorder.Directory, "recordings")
}

// folder returns a directory for all processes, dir or by default name in that of the first output.
func (c *Config) folder(dir, name string) string {
	if dir != "" {
		return dir
	}
	first := c.Paths()[0]
	dir = filepath.Join(output.KnownFolder(first), name)
	if output.PerHost(first) {
		dir = filepath.Join(dir, "%hn")
	}
	return dir
}

// maxRules is more than anyone needs, and what a check of each collection against all of them costs
// is small.
const maxRules = 1000

// checkRules checks the rules and their actions.
func (c *Loaded) checkRules(l *loader) {
	if len(c.Rules) > maxRules {
		l.wrong(l.origins["rules"], "rules", "there are %d, but at most %d are allowed", len(c.Rules), maxRules)
		return
	}
	for i := range c.Rules {
		r, path := &c.Rules[i], item("rules", i)
		at := l.origins[path]
		switch {
		case r.Name == "":
			l.wrong(at, path, "the rule has no name: set name")
		case slices.ContainsFunc(c.Rules[:i], func(other Rule) bool { return other.Name == r.Name }):
			l.wrong(l.origins[path+".name"], path+".name", "another rule is called %s, too", quote(r.Name))
		}
		if len(r.Do) == 0 {
			l.wrong(at, path, "the rule does nothing: set do, such as do: [{log: warn}]")
		}
		for j := range r.Only {
			c.checkMatch(l, &r.Only[j], item(path+".only", j))
		}
		if err := c.checkRule(l, r, path); err != nil {
			l.wrong(at, path, "%v", err)
		}
		for j := range r.Do {
			c.checkAction(l, r, &r.Do[j], item(path+".do", j))
		}
	}
}

// checkRule compiles a rule. An error about its condition is reported where that is.
func (c *Loaded) checkRule(l *loader, r *Rule, path string) error {
	_, err := r.Compile()
	if wrong, ok := err.(*condition.Error); ok { //nolint:errorlint // it is never wrapped
		l.wrong(l.origins[path+".when"], path+".when", "%v", wrong)
		return nil
	}
	return err
}

// checkAction checks one action of a rule.
func (c *Loaded) checkAction(l *loader, r *Rule, a *Action, path string) {
	at := l.origins[path]
	set := a.Names()
	all := names(fields(reflect.TypeFor[Action]()))
	switch {
	case len(set) == 0 && l.origins[path+".record"] != (origin{}):
		l.wrong(l.origins[path+".record"], path+".record", "set before, such as before: 30s")
	case len(set) == 0:
		l.wrong(at, path, "the action is empty: set one of %s", strings.Join(all, ", "))
	case len(set) > 1:
		l.wrong(at, path, "it has %s: write an element of the list for each", strings.Join(set, " and "))
	case r.Event == rules.OnExit.String() && (a.Level.isSet() || a.HeapSnapshot):
		l.wrong(at, path, "%s is not possible for a process that has exited", set[0])
	}
}
