package grafana

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"sigs.k8s.io/yaml"
)

var boards = map[string]board{"fleet.json": fleet, "service.json": service}

// TestDashboards: the files of samples/grafana are what this package makes. The SDK reads them, each
// panel as the type that it names, without an unknown field.
func TestDashboards(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	for name, b := range boards {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("..", "..", "..", "samples", "grafana", "dashboards", name)
			want, err := b.JSON()
			if err != nil {
				t.Fatal(err)
			}
			if os.Getenv("GCLOG_UPDATE") != "" {
				if err := os.WriteFile(path, want, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("%s is not what the code says: GCLOG_UPDATE=1 rewrites it", path)
			}
			var all map[string]json.RawMessage
			if err := json.Unmarshal(got, &all); err != nil {
				t.Fatal(err)
			}
			// The SDK does not know what only the dialog for imports reads.
			delete(all, "__requires")
			text, err := json.Marshal(all)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := strictly(text); wrong != "" {
				t.Error(wrong)
			}
			for _, member := range []string{"transparent", "showLegend", "lineWidth", "legendFormat", "allValue", "yHistogram", "colorMode"} {
				if strictly([]byte(strings.Replace(string(text), `"`+member+`":`, `"unknown":`, 1))) == "" && strings.Contains(string(text), member) {
					t.Errorf("the SDK does not notice an unknown member instead of %s", member)
				}
			}
			var model dashboard.Dashboard
			if err := json.Unmarshal(text, &model); err != nil {
				t.Fatal(err)
			}
			if err := model.Validate(); err != nil {
				t.Error(err)
			}
			check(t, model, string(got))
		})
	}
}

// strictly returns what the SDK finds wrong with a model, down to the members of each kind of panel.
func strictly(text []byte) string {
	var model dashboard.Dashboard
	if err := model.UnmarshalJSONStrict(text); err != nil {
		return err.Error() // it returns an empty list of errors, too
	}
	return ""
}

// check holds a dashboard against what people expect of each.
func check(t *testing.T, model dashboard.Dashboard, text string) {
	t.Helper()
	if model.Uid == nil || *model.Uid == "" || model.SchemaVersion < 36 || model.Id != nil {
		t.Errorf("uid %v, schema version %d, id %v", model.Uid, model.SchemaVersion, model.Id)
	}
	var variables []string
	for _, v := range model.Templating.List {
		variables = append(variables, v.Name)
	}
	for _, name := range []string{"datasource", "namespace", "service", "instance"} {
		if !slices.Contains(variables, name) {
			t.Errorf("there is no variable %s", name)
		}
	}
	for _, m := range regexp.MustCompile(`\$\{?([a-zA-Z_.]+)`).FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[1], "__") && !slices.Contains(variables, m[1]) {
			t.Errorf("%s is not a variable", m[0])
		}
	}
	for _, m := range regexp.MustCompile(`"uid": "([^"]+)"`).FindAllStringSubmatch(text, -1) {
		if m[1] != *model.Uid && m[1] != "${datasource}" {
			t.Errorf("the data source %s is fixed", m[1])
		}
	}
	var rows []string
	ids := map[uint32]bool{}
	titles := map[string]bool{}
	for _, p := range model.Panels {
		if p.RowPanel != nil {
			rows = append(rows, *p.RowPanel.Title)
			clear(titles) // a row may have a title of another one
			continue
		}
		x := p.Panel
		title := *x.Title
		if titles[title] || x.Id == nil || ids[*x.Id] {
			t.Fatalf("two panels %q, or no id of its own", title)
		}
		titles[title], ids[*x.Id] = true, true
		if x.Description == nil || !strings.HasSuffix(*x.Description, ".") {
			t.Errorf("%s has no description", title)
		}
		if x.Type != "table" && x.Type != "heatmap" && x.FieldConfig.Defaults.Unit == nil {
			t.Errorf("%s has no unit", title)
		}
		if x.GridPos == nil || x.GridPos.X+x.GridPos.W > 24 || x.GridPos.H == 0 {
			t.Errorf("%s does not fit: %+v", title, x.GridPos)
		}
	}
	if want := []string{"Overview", "Pauses", "Ends", "Heap", "Allocation", "gclog"}; !slices.Equal(rows, want) {
		t.Errorf("rows %v", rows)
	}
}

// TestProvisioning: the files have no member that Grafana does not know.
func TestProvisioning(t *testing.T) {
	type sources struct {
		APIVersion  int `json:"apiVersion"`
		Datasources []struct {
			Name, Type, Access, URL string
			IsDefault               bool `json:"isDefault"`
			JSONData                struct {
				TimeInterval string `json:"timeInterval"`
				HTTPMethod   string `json:"httpMethod"`
			} `json:"jsonData"`
		}
	}
	type providers struct {
		APIVersion int `json:"apiVersion"`
		Providers  []struct {
			Name, Folder, Type    string
			AllowUIUpdates        bool `json:"allowUiUpdates"`
			UpdateIntervalSeconds int  `json:"updateIntervalSeconds"`
			Options               struct{ Path string }
		}
	}
	var s sources
	var p providers
	for name, into := range map[string]any{"datasources/prometheus.yaml": &s, "dashboards/gclog.yaml": &p} {
		b, err := os.ReadFile(filepath.Join("..", "..", "..", "samples", "grafana", "provisioning", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(b, into); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.APIVersion != 1 || len(s.Datasources) != 1 || s.Datasources[0].Type != "prometheus" || s.Datasources[0].URL == "" {
		t.Errorf("%+v", s)
	}
	if p.APIVersion != 1 || len(p.Providers) != 1 || p.Providers[0].Type != "file" || p.Providers[0].Options.Path == "" {
		t.Errorf("%+v", p)
	}
}
