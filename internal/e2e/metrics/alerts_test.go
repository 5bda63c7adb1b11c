//go:build linux

package metrics

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/goccy/go-yaml"
)

// An alertRule is an alert, or a recording rule.
type alertRule struct {
	Record      string            `yaml:"record"`
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func readRules(t *testing.T, name string) (all []alertRule) {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []alertRule `yaml:"rules"`
		} `yaml:"groups"`
	}
	readYAML(t, filepath.Join("samples", "prometheus", name), &file)
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// TestPrometheusRules: promtool accepts the rules, and its unit tests of them succeed.
func TestPrometheusRules(t *testing.T) {
	program.Needs(t, "promtool")
	dir := filepath.Join("samples", "prometheus")
	program.Must(t, "promtool", "check", "rules", filepath.Join(dir, "rules.yml"), filepath.Join(dir, "alerts.yml"))
	program.Must(t, "promtool", "test", "rules", filepath.Join(dir, "alerts.test.yml"))
}

// TestAlerts: each alert has a severity, texts, a unit test that it fires and one that it does not,
// and its runbook.
func TestAlerts(t *testing.T) {
	extent.Long(t)
	var tests struct {
		Tests []struct {
			Alerts []struct {
				Name     string `yaml:"alertname"`
				Expected []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		} `yaml:"tests"`
	}
	readYAML(t, filepath.Join("samples", "prometheus", "alerts.test.yml"), &tests)
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range tests.Tests {
		for _, a := range test.Alerts {
			if len(a.Expected) > 0 {
				fires[a.Name] = true
			} else {
				silent[a.Name] = true
			}
		}
	}
	var names []string
	for _, r := range readRules(t, "alerts.yml") {
		names = append(names, r.Alert)
		if !fires[r.Alert] || !silent[r.Alert] {
			t.Errorf("%s: no unit test that it fires, or none that it does not", r.Alert)
		}
		if s := r.Labels["severity"]; s != "warning" && s != "critical" {
			t.Errorf("%s: severity %q", r.Alert, s)
		}
		for _, name := range []string{"summary", "description"} {
			if r.Annotations[name] == "" {
				t.Errorf("%s has no %s", r.Alert, name)
			}
		}
		if want := "https://github.com/gclog/gclog/blob/main/docs/runbooks.md#" + strings.ToLower(r.Alert); r.Annotations["runbook_url"] != want {
			t.Errorf("%s: runbook_url %s, want %s", r.Alert, r.Annotations["runbook_url"], want)
		}
	}
	checkRunbooks(t, names)
}

// checkRunbooks: docs/runbooks.md has a section on each alert, in order. Each names a finding that
// exists, and a command that gclog accepts.
func checkRunbooks(t *testing.T, alerts []string) {
	t.Helper()
	page := readText(t, filepath.Join("docs", "runbooks.md"))
	findings := readText(t, filepath.Join("docs", "findings.md"))
	var titles []string
	for _, section := range strings.Split(page, "\n## ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		titles = append(titles, title)
		named := regexp.MustCompile(`\(findings\.md#([\w-]+)\)`).FindAllStringSubmatch(text, -1)
		for _, m := range named {
			if !strings.Contains(findings, `<a id="`+m[1]+`"></a>`) {
				t.Errorf("%s: there is no finding %s", title, m[1])
			}
		}
		_, block, there := strings.Cut(text, "```\n")
		block, _, _ = strings.Cut(block, "\n```")
		if named == nil || !there {
			t.Errorf("%s names no finding, or no command", title)
		}
		commands := append([]string{block}, between(text, "`gclog ")...)
		for _, command := range commands {
			accepted(t, title, command)
		}
	}
	if !slices.Equal(titles, alerts) {
		t.Errorf("the runbooks are about %v, the alerts are %v", titles, alerts)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// between returns the code in a text that starts like this.
func between(text, start string) (list []string) {
	for _, m := range regexp.MustCompile(regexp.QuoteMeta(start)+"([^`]*)`").FindAllStringSubmatch(text, -1) {
		list = append(list, strings.TrimPrefix(start, "`")+m[1])
	}
	return list
}

// accepted checks that gclog has a command and its flags, by its help.
func accepted(t *testing.T, where, command string) {
	t.Helper()
	words := strings.Fields(command)
	if len(words) < 2 || words[0] != "gclog" {
		t.Errorf("%s: %s is not a command of gclog", where, command)
		return
	}
	name := words[1:2]
	if words[1] == "heap" { // the others with subcommands have one help for all
		name = words[1:3]
	}
	help, err := exec.Command("gclog", append(slices.Clone(name), "--help")...).CombinedOutput()
	if err != nil || !strings.Contains(string(help), "gclog "+strings.Join(name, " ")+" - ") {
		t.Errorf("%s: %s: %v\n%s", where, command, err, help)
	}
	for _, word := range words {
		if strings.HasPrefix(word, "-") && !regexp.MustCompile(`(?m)(^ +|, )`+regexp.QuoteMeta(word)+`[ ,\n]`).Match(help) && !regexp.MustCompile(`^-\d`).MatchString(word) {
			t.Errorf("%s: gclog %s has no flag %s", where, strings.Join(name, " "), word)
		}
	}
}
