package gcsettings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/spelling"
	"github.com/gclog/gclog/parse/clr"
)

// A Configuration is what a process was started with, as far as it can be found out, and what is
// known of its runtime.
type Configuration struct {
	// Variables are those of the GC in the environment, as Variables returns them; nil: the
	// environment cannot be read.
	Variables map[string]string
	Config    *Config // nil: none was found
	Major     int     // version of the runtime; 0: unknown
	NativeAOT bool
	Windows   bool
	Server    string // "on", "off", or "" if unknown
	Segments  bool   // the GC is known to use segments
	Memory    Memory

	reported *clr.GCSettings // what the runtime reports; nil: nothing
}

// A Value is a setting that is set.
type Value struct {
	Setting Setting
	Name    string // of the variable or property
	Text    string // as it is written
	Value   string // how the runtime interprets it
	From    string // where it was set
	Note    string // what people may not expect of it, "" if nothing
	Number  uint64
}

// Ignored is something that is set but has no effect.
type Ignored struct {
	Name string
	Text string
	From string
	Why  string
}

// prefixes of variables; the first one takes precedence.
var prefixes = [...]string{"DOTNET_", "COMPlus_"}

// Environment is the origin of variables.
const Environment = "environment"

// The first versions of the runtime that support something.
const (
	dotnetPrefix = 6 // the prefix DOTNET_
	regions      = 7 // regions instead of segments
)

// Variables returns the variables of an environment that are settings of the GC, or look as if they
// were meant to be. The others are left out because nobody must see them.
func Variables(env map[string]string) map[string]string {
	if env == nil {
		return nil
	}
	known := variableNames()
	found := map[string]string{}
	for name, value := range env {
		bare, prefixed := bareName(name)
		if known[bare] || prefixed && strings.HasPrefix(bare, "gc") || isProperty(bare) {
			found[name] = value
		}
	}
	return found
}

// variableNames returns the names of all variables, without prefix and in lower case.
func variableNames() map[string]bool {
	names := map[string]bool{}
	for _, s := range Settings() {
		names[strings.ToLower(s.Variable)] = true
	}
	for _, name := range internals {
		names[strings.ToLower(name)] = true
	}
	return names
}

// bareName returns a name without prefix and in lower case.
func bareName(name string) (bare string, prefixed bool) {
	name = strings.ToLower(name)
	for _, prefix := range prefixes {
		if rest, ok := strings.CutPrefix(name, strings.ToLower(prefix)); ok {
			return rest, true
		}
	}
	return name, false
}

// isProperty reports whether a name is meant to be a property: in a variable it may have _ instead
// of the dots.
func isProperty(name string) bool {
	return len(name) >= len(propertyPrefix) &&
		strings.EqualFold(strings.ReplaceAll(name[:len(propertyPrefix)], "_", "."), propertyPrefix)
}

// Resolve returns which settings take effect, in the order of the table, and which do not.
func (c *Configuration) Resolve() (set []Value, ignored []Ignored) {
	ignored = c.misspelt()
	for _, s := range Settings() {
		v, more := c.resolve(&s)
		ignored = append(ignored, more...)
		if v != nil {
			set = append(set, *v)
		}
	}
	set, more := c.conflicts(set)
	return set, append(ignored, more...)
}

// Switch returns the value of a setting that is on or off, if the configuration contains it.
func (c *Configuration) Switch(variable string) (on, known bool) {
	for _, s := range Settings() {
		if s.Variable == variable && s.Kind == Bool {
			if v, _ := c.resolve(&s); v != nil {
				return v.Number != 0, true
			}
		}
	}
	return false, false
}

// isNumber reports whether a setting that was a switch is a number to this runtime.
func (c *Configuration) isNumber(s *Setting) bool {
	return s.NumberSince != 0 && c.Major >= s.NumberSince
}

// resolve returns the value of one setting, and what it overrides.
func (c *Configuration) resolve(s *Setting) (winner *Value, ignored []Ignored) {
	if c.isNumber(s) {
		number := *s
		number.Kind = Number
		s = &number
	}
	take := func(name, text, from string, r reading) {
		switch {
		case r.absent:
			ignored = append(ignored, Ignored{name, text, from, r.why})
		case winner != nil:
			ignored = append(ignored, Ignored{name, text, from, winner.Name + " wins"})
		case c.tooOld(s.Since):
			ignored = append(ignored, Ignored{
				name, text, from,
				fmt.Sprintf("the setting exists since .NET %d, the runtime is %s", s.Since, c.runtime()),
			})
		default:
			note := r.note
			if r.why != "" {
				note = r.why
			}
			winner = &Value{
				Setting: *s, Name: name, Text: text, Value: r.value, From: from, Note: note, Number: r.number,
			}
		}
	}
	for i, prefix := range prefixes {
		name := prefix + s.Variable
		text, there := c.variable(name)
		switch {
		case !there:
		case i == 0 && c.tooOld(dotnetPrefix):
			ignored = append(ignored, Ignored{
				name, text, Environment,
				fmt.Sprintf("the prefix DOTNET_ exists since .NET %d, the runtime is %s: write COMPlus_%s",
					dotnetPrefix, c.runtime(), s.Variable),
			})
		case i == 1 && c.NativeAOT:
			ignored = append(ignored, Ignored{
				name, text, Environment, "NativeAOT does not support the prefix COMPlus_: write DOTNET_" + s.Variable,
			})
		case c.NativeAOT:
			take(name, text, Environment, readStrict(s, text))
		default:
			take(name, text, Environment, readVariable(s, text))
		}
	}
	if c.Config == nil || s.Property == "" || c.NativeAOT {
		return winner, ignored
	}
	if value, ok := c.Config.Properties[s.Property]; ok {
		if since := s.PropertySince; c.tooOld(since) && !c.tooOld(s.Since) {
			ignored = append(ignored, Ignored{
				s.Property, propertyText(value), c.Config.Path,
				fmt.Sprintf("the property exists since .NET %d, the runtime is %s: use the variable %s",
					since, c.runtime(), s.Variable),
			})
		} else {
			take(s.Property, propertyText(value), c.Config.Path, readProperty(s, value))
		}
	}
	return winner, ignored
}

func (c *Configuration) tooOld(since int) bool { return c.Major != 0 && c.Major < since }

// runtime returns the version for people.
func (c *Configuration) runtime() string {
	if c.Major == 3 {
		return ".NET Core 3.1"
	}
	return ".NET " + strconv.Itoa(c.Major)
}

// flavour returns whether the process uses server GC: "on", "off", or "" if that is unknown.
func (c *Configuration) flavour() string {
	on, known := c.Switch("gcServer")
	switch {
	case c.Server != "":
		return c.Server
	case c.NativeAOT && (on || !known): // server GC cannot be turned on if it is not built in
		return ""
	case !known && (c.Variables == nil || c.Config == nil):
		return ""
	}
	return flavour(gclog.KnownBool(on))
}

// variable returns a variable: on Windows names are case-insensitive.
func (c *Configuration) variable(name string) (string, bool) {
	if v, ok := c.Variables[name]; ok || !c.Windows {
		return v, ok
	}
	for other, v := range c.Variables {
		if strings.EqualFold(other, name) {
			return v, true
		}
	}
	return "", false
}

// misspelt returns the variables and properties that no runtime knows.
func (c *Configuration) misspelt() (list []Ignored) {
	settings := Settings()
	var bare, properties []string
	for _, s := range settings {
		bare = append(bare, s.Variable)
		if s.Property != "" {
			properties = append(properties, s.Property)
		}
	}
	bare = append(bare, internals...)
	var variables []string
	for _, name := range bare {
		variables = append(variables, prefixes[0]+name, prefixes[1]+name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Variables)) {
		if has(variables, name, c.Windows) {
			continue
		}
		why := ""
		if rest, _ := bareName(name); isProperty(rest) {
			why = "it is the name of a property, which has an effect only in runtimeconfig.json" +
				variableOf(settings, rest)
		} else if right := withCase(variables, name); right != "" {
			why = "names are case-sensitive: write " + right
		} else if right := withCase(bare, name); right != "" {
			why = "the prefix is missing: write DOTNET_" + right
		} else {
			why = "there is no such setting" + nearest(name, variables)
		}
		list = append(list, Ignored{name, c.Variables[name], Environment, why})
	}
	if c.Config == nil {
		return list
	}
	for _, name := range slices.Sorted(maps.Keys(c.Config.Properties)) {
		if slices.Contains(properties, name) {
			continue
		}
		if !isProperty(name) {
			right := ""
			bare, _ := bareName(name)
			for _, s := range settings {
				switch {
				case !strings.EqualFold(s.Variable, bare):
				case s.Property == "" || c.tooOld(max(s.Since, s.PropertySince)):
					right = ": write " + prefixes[0] + s.Variable + " there"
				default:
					right = ": write " + s.Property
				}
			}
			why := "it is the name of a variable, which has an effect only in the environment" + right
			list = append(list, Ignored{name, propertyText(c.Config.Properties[name]), c.Config.Path, why})
			continue
		}
		why := "there is no such property" + nearest(name, properties)
		rest := name[len(propertyPrefix):]
		if right := withCase(properties, name); right != "" {
			why = "names are case-sensitive: write " + right
		} else if right := cmp.Or(withCase(bare, rest), withCase(bare, "GC"+rest)); right != "" {
			why = "this setting has no such property: use the variable DOTNET_" + right
			for _, s := range settings {
				if s.Variable == right && s.Property != "" {
					why = "there is no such property: write " + s.Property
				}
			}
		}
		list = append(list, Ignored{name, propertyText(c.Config.Properties[name]), c.Config.Path, why})
	}
	return list
}

// variableOf names the variable to use instead of a property; "" if there is none.
func variableOf(settings []Setting, property string) string {
	for _, s := range settings {
		if s.Property != "" && strings.EqualFold(s.Property, strings.ReplaceAll(property, "_", ".")) {
			return ": write " + prefixes[0] + s.Variable
		}
	}
	return ""
}

func has(list []string, name string, fold bool) bool {
	return slices.Contains(list, name) || fold && withCase(list, name) != ""
}

// withCase returns the name that differs in case only, or "" if there is none.
func withCase(list []string, name string) string {
	for _, s := range list {
		if strings.EqualFold(s, name) {
			return s
		}
	}
	return ""
}

// nearest suggests a similar name, regardless of case.
func nearest(name string, list []string) string {
	lower := make([]string, len(list))
	for i, s := range list {
		lower[i] = strings.ToLower(s)
	}
	hint := spelling.DidYouMean(strings.ToLower(name), lower)
	for i, s := range lower {
		if strings.Contains(hint, " "+s+"?") {
			return ", did you mean " + list[i] + "?"
		}
	}
	return hint
}
