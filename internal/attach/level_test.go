package attach

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// TestLevels: what a session listens to at each level, and how large its buffer is.
func TestLevels(t *testing.T) {
	const runtime, private = clr.RuntimeProvider, clr.PrivateProvider
	for _, c := range []struct {
		level   string
		records bool
		buffer  uint32
		want    string
	}{
		{"light", true, 16, runtime + " 0x1 4 []"},
		{"normal", true, 16, runtime + " 0x1 4 []; " + private + " 0x1 4 []"},
		{"full", true, 64, runtime + " 0x1 5 [203 29]; " + private + " 0x1 4 []"},
		{"full", false, 64, runtime + " 0x1 5 []; " + private + " 0x1 4 []"},
	} {
		cfg, err := SessionConfig(c.level, nil, c.records)
		if err != nil || fmt.Sprint(cfg.BufferMB) != fmt.Sprint(c.buffer) || shown(cfg) != c.want {
			t.Errorf("%s: %s with %d MB, %v", c.level, shown(cfg), cfg.BufferMB, err)
		}
	}
	if _, err := SessionConfig("loud", nil, true); err == nil || !strings.Contains(err.Error(), "light, normal or full") {
		t.Errorf("loud: %v", err)
	}
}

// shown formats the providers of a session.
func shown(cfg session.Config) string {
	var list []string
	for _, p := range cfg.Providers {
		s := fmt.Sprintf("%s %#x %d %v", p.Name, p.Keywords, p.Level, p.Exclude)
		if p.Filter != "" {
			s += " " + p.Filter
		}
		list = append(list, s)
	}
	return strings.Join(list, "; ")
}

// TestProviders: additional providers, in dotnet-trace's syntax.
func TestProviders(t *testing.T) {
	const first = clr.RuntimeProvider + " 0x1 4 []"
	for in, want := range map[string]string{
		"Mine":                               first + "; Mine 0xffffffffffffffff 5 []",
		" Mine ":                             first + "; Mine 0xffffffffffffffff 5 []",
		"Mine:":                              first + "; Mine 0xffffffffffffffff 5 []",
		"Mine:1f":                            first + "; Mine 0x1f 5 []",
		"Mine:0X1F:":                         first + "; Mine 0x1f 5 []",
		"Mine:1:0":                           first + "; Mine 0x1 0 []",
		"Mine:1:5":                           first + "; Mine 0x1 5 []",
		"Mine::LogAlways":                    first + "; Mine 0xffffffffffffffff 0 []",
		"Mine::warning":                      first + "; Mine 0xffffffffffffffff 3 []",
		"Mine::Verbose:a=b;c=d:e":            first + "; Mine 0xffffffffffffffff 5 [] a=b;c=d:e",
		"A:1:1,B:2:2":                        first + "; A 0x1 1 []; B 0x2 2 []",
		"A:1:1,A:6:3:f,A:8:2":                first + "; A 0xf 3 [] f",
		clr.RuntimeProvider + ":8000:5":      clr.RuntimeProvider + " 0x8001 5 []",
		clr.RuntimeProvider + ":8000:1":      clr.RuntimeProvider + " 0x8001 4 []",
		"":                                   "a provider needs a name",
		":1:1":                               "a provider needs a name",
		"Mine:xyz":                           `the keywords "xyz" are not a hexadecimal number`,
		"Mine:1:6":                           `the level "6" is neither 0 to 5`,
		"Mine:1:-1":                          `the level "-1" is neither 0 to 5`,
		"Mine:1:loud":                        `the level "loud" is neither 0 to 5`,
		"Mine:8000000000000001:1":            first + "; Mine 0x8000000000000001 1 []",
		"Mine:1ffffffffffffffff":             "not a hexadecimal number",
		"Mine:1:informational,:2:2":          "a provider needs a name",
		"Mine:1:informational,Other:2:error": first + "; Mine 0x1 4 []; Other 0x2 2 []",
	} {
		cfg, err := SessionConfig("light", []string{in}, true)
		if err != nil {
			if !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "providers ") {
				t.Errorf("%q: %v, want %s", in, err, want)
			}
		} else if got := shown(cfg); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	// A user who names the runtime's provider explicitly gets all its events.
	cfg, err := SessionConfig("full", []string{clr.RuntimeProvider + ":1:5"}, true)
	if err != nil || cfg.Providers[0].Exclude != nil {
		t.Errorf("%s, %v", shown(cfg), err)
	}
}

// TestProgramNames: the name that people know a process by.
func TestProgramNames(t *testing.T) {
	for want, c := range map[string]struct {
		entry, executable, name string
		line                    []string
	}{
		"shop":                 {"shop", "/usr/bin/dotnet", "dotnet", []string{"dotnet", "/srv/other.dll"}},
		"shop.api":             {"shop.api.dll", "", "", nil},
		"a-program-of-its-own": {"", "/srv/a-program-of-its-own", "a-program-of-it", []string{"x"}},
		"other":                {"", "/usr/bin/dotnet", "dotnet", []string{"dotnet", "/srv/other.dll", "third.dll"}},
		"dotnet":               {"", "/usr/bin/dotnet", "dotnet", []string{"dotnet"}},
		"renamed":              {"", "/usr/bin/dotnet", "renamed", []string{"dotnet", "run"}},
		"no-rights":            {"", "", "no-rights", nil},
	} {
		p := &host.Process{Executable: c.executable, Name: c.name, CommandLine: c.line}
		if got := programName(p, c.entry); got != want {
			t.Errorf("%+v is called %q, not %q", c, got, want)
		}
	}
	// A process whose name cannot be read.
	if got := programName(&host.Process{Executable: "/usr/bin/dotnet", CommandLine: []string{"dotnet"}}, ""); got != "dotnet" {
		t.Errorf("it is called %q", got)
	}
	for version, want := range map[string]bool{"8.0.1": true, "8": true, "10.0": true, "7.0.9": false, "": false, "x.1": false} {
		if atLeast(version, 8) != want {
			t.Errorf("%q is at least 8: %v", version, !want)
		}
	}
}
