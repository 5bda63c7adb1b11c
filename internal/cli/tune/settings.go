package tune

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/gcsettings"
	"github.com/gclog/gclog/internal/spelling"
)

// A candidate is what tune sets for some runs: variables of the environment.
type candidate struct {
	name   string
	values []settingValue // none: the program as it is
}

// A settingValue is a setting of the GC and its value.
type settingValue struct {
	setting gcsettings.Setting
	text    string // in the environment: numbers are hexadecimal
	json    any    // in runtimeconfig.json
}

const (
	environmentPrefix = "DOTNET_"
	oldPrefix         = "COMPlus_" // the only one before .NET 6
)

// environment returns an environment with the variables of the setting in place of those that set
// the same.
func (s *candidate) environment(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.ContainsFunc(s.values, func(v settingValue) bool {
			return name == environmentPrefix+v.setting.Variable || name == oldPrefix+v.setting.Variable
		})
	})
	for _, v := range s.values {
		env = append(env, environmentPrefix+v.setting.Variable+"="+v.text, oldPrefix+v.setting.Variable+"="+v.text)
	}
	return env
}

// variables returns the settings as variables of the environment, for people.
func (s *candidate) variables() string {
	var list []string
	for _, v := range s.values {
		list = append(list, environmentPrefix+v.setting.Variable+"="+v.text)
	}
	return strings.Join(list, " ")
}

// properties returns the settings as JSON for runtimeconfig.json, and the variables that have no
// property.
func (s *candidate) properties() (text string, without []string) {
	var list []string
	for _, v := range s.values {
		if v.setting.Property == "" {
			without = append(without, v.setting.Variable)
			continue
		}
		value, _ := json.Marshal(v.json)
		list = append(list, fmt.Sprintf("%q: %s", v.setting.Property, value))
	}
	if len(list) == 0 {
		return "", without
	}
	return `{"configProperties": {` + strings.Join(list, ", ") + "}}", without
}

// ignored returns why the runtime ignores a part of the setting, as far as that is known. p is a
// process that ran with it.
func (s *candidate) ignored(p *gclog.Process) (list []string) {
	c := gcsettings.Configuration{
		Variables: map[string]string{},
		NativeAOT: p.Flavor == gclog.FlavorNativeAOT,
		Server:    onOff(p.Server),
	}
	c.Major = gclog.Major(p.RuntimeVersion)
	for _, v := range s.values {
		prefix := environmentPrefix
		if c.Major > 0 && c.Major < 6 {
			prefix = oldPrefix
		}
		c.Variables[prefix+v.setting.Variable] = v.text
		for _, x := range []struct {
			variable string
			is       gclog.Known
		}{{"gcServer", p.Server}, {"gcConcurrent", p.Concurrent}} {
			if v.setting.Variable != x.variable || x.is == gclog.Unknown {
				continue
			}
			if onOff(x.is) != onOff(gclog.KnownBool(v.text == "1")) {
				list = append(list,
					fmt.Sprintf("%s: the runtime reports that it is %s", v.setting.Variable, onOff(x.is)))
			}
		}
	}
	_, more := c.Resolve()
	for _, x := range more {
		list = append(list, x.Name+": "+x.Why)
	}
	return list
}

func onOff(k gclog.Known) string {
	return map[gclog.Known]string{gclog.Yes: "on", gclog.No: "off"}[k]
}

// parseTry reads a --try: NAME=VALUE, or several with commas.
func parseTry(text string) (s candidate, err error) {
	s.name = text
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return s, exit.Usagef("--try %s: write NAME=VALUE, such as gcServer=1 or GCgen0size=64M; several with "+
				"commas are tried together", text)
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name, environmentPrefix), oldPrefix)
		all := gcsettings.Settings()
		i := slices.IndexFunc(all, func(x gcsettings.Setting) bool { return x.Variable == name || x.Property == name })
		if i < 0 {
			var names []string
			for _, x := range all {
				names = append(names, x.Variable)
			}
			return s, exit.Usagef("--try %s: there is no setting %s%s (docs/settings.md lists them)",
				text, name, spelling.DidYouMean(name, names))
		}
		v, err := parseSetting(all[i], strings.TrimSpace(value))
		if err != nil {
			return s, exit.Usagef("--try %s: %w", text, err)
		}
		s.values = append(s.values, v)
	}
	return s, nil
}

// parseSetting reads the value of a setting as people write it: numbers are decimal, hexadecimal
// after 0x, or a size with a unit.
func parseSetting(s gcsettings.Setting, text string) (v settingValue, err error) {
	v = settingValue{setting: s, text: text, json: text}
	switch s.Kind {
	case gcsettings.Bool:
		on, known := map[string]bool{
			"1": true, "true": true, "on": true, "0": false, "false": false, "off": false,
		}[strings.ToLower(text)]
		if !known {
			return v, fmt.Errorf("%s is a switch: write 1 or 0", s.Variable)
		}
		v.json, v.text = on, "0"
		if on {
			v.text = "1"
		}
	case gcsettings.Number:
		n, err := strconv.ParseUint(strings.TrimSuffix(text, "%"), 0, 64)
		if err != nil && s.Unit == gcsettings.Bytes {
			var size float64
			size, err = analysis.ParseValue(text, "bytes")
			n = uint64(size)
		}
		if err != nil {
			return v, fmt.Errorf(
				"%s is a number: write one such as 2 or 0x20, or a size such as 64M for a number of bytes", s.Variable)
		}
		v = numberSetting(s, n)
	}
	return v, nil
}

func numberSetting(s gcsettings.Setting, n uint64) settingValue {
	return settingValue{setting: s, text: strconv.FormatUint(n, 16), json: n}
}

// asIs is the program without changes.
const asIs = "as it is"

// usualSettings returns the settings that are worth trying for a program that ran without any: what
// the runtime does already is left out. largest is the largest size of its heap.
func usualSettings(p *gclog.Process, largest uint64) (list []candidate) {
	major := gclog.Major(p.RuntimeVersion)
	processors := cmp.Or(p.Processors, 2)
	has := func(since int) bool { return major == 0 || major >= since }
	add := func(name, what string) {
		s, err := parseTry(what)
		if err != nil {
			panic(fmt.Sprintf("a setting of tune is wrong: %v", err))
		}
		s.name = name
		list = append(list, s)
	}
	if p.Server == gclog.Yes {
		add("workstation", "gcServer=0")
	}
	if p.Concurrent == gclog.No {
		add("concurrent", "gcConcurrent=1")
	} else {
		add("not concurrent", "gcConcurrent=0")
	}
	if processors > 1 {
		if has(8) {
			add("server, DATAS", "gcServer=1,GCDynamicAdaptationMode=1")
			add("server, no DATAS", "gcServer=1,GCDynamicAdaptationMode=0")
		} else {
			add("server", "gcServer=1")
		}
		if processors > 3 {
			n := processors / 2
			add(fmt.Sprintf("server, %d heaps", n), fmt.Sprintf("gcServer=1,GCHeapCount=%d", n))
		}
	}
	add("gen0 64 MB", "GCgen0size=64M")
	if has(6) {
		add("conserve memory", "GCConserveMemory=5")
	}
	if largest > 0 {
		const step = 1 << 20
		limit := max(32*step, (largest*5/4+step-1)/step*step)
		add(fmt.Sprintf("limit %d MB", limit/step), fmt.Sprintf("GCHeapHardLimit=%d", limit))
	}
	return list
}
