package config

import (
	"strings"
	"testing"
)

// TestOnce: if two outputs with the same file both fit a process, by two of its names, it is in the
// file once.
func TestOnce(t *testing.T) {
	l := mustLoad(t, "outputs:\n  - {path: a-%p.json, only: [{process: api}]}\n  - {path: a-%p.json, only: [{process: dotnet}]}\n")
	if specs := l.OutputsFor(&Subject{Processes: []string{"api", "dotnet"}}); len(specs) != 1 {
		t.Errorf("%+v", specs)
	}
}

// TestOverride: flags take precedence over everything else, and are checked in the same way.
func TestOverride(t *testing.T) {
	const text = "discovery: {listen: [/a]}\noutputs:\n  - {xlog: \"gc*:file=a-%p.log:tid\"}\n  - {path: b-%p.json}\n"
	l := mustLoad(t, text)
	if err := l.Override(nil, nil); err != nil || len(l.Outputs) != 2 || len(l.Warnings) != 2 {
		t.Errorf("%+v, %v, %q", l.Outputs, err, l.Warnings)
	}
	if err := l.Override([]string{"x-%p.json", "y-%p.log"}, []string{"/b"}); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range l.OutputsFor(&Subject{}) {
		paths = append(paths, spec.Path+" "+spec.Format.Name)
	}
	if got := strings.Join(paths, ", "); got != "x-%p.json json, y-%p.log unified" || strings.Join(l.Discovery.Listen, " ") != "/a /b" || len(l.Warnings) != 0 {
		t.Errorf("%s, %q, %q", got, l.Discovery.Listen, l.Warnings)
	}
	for _, x := range []struct{ output, listen, want string }{
		{"x.log", "/b", "--output: outputs[0].path: a file in the format unified can contain only one process"},
		{"-", "/b", "--output -: - is not a file: the daemon writes only to files"},
		{"x-%p.log", "/a", `--listen: discovery.listen[1]: duplicate "/a"`},
		{"x-%p.log", "/b,c", `--listen /b,c: "/b,c": DOTNET_DiagnosticPorts cannot have a path with a comma`},
	} {
		if err := mustLoad(t, text).Override([]string{x.output}, []string{x.listen}); err == nil || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("%+v: %v", x, err)
		}
	}
}
