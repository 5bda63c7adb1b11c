// Package grafana makes the dashboards of samples/grafana, with the types of Grafana's own SDK.
// GCLOG_UPDATE=1 go test ./grafana writes them.
package grafana

import (
	"encoding/json"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// A board is a dashboard, with its panels in rows.
type board struct {
	uid, title, description string
	variables               []variable
	rows                    []row
}

type row struct {
	title  string
	panels []panel
}

// A variable offers the values of a label of gclog_process_info. It is there under all names that
// the metrics can have.
type variable struct {
	name, label, of string
	within          string // labels that select the values
	one             bool   // rather than any number of values, or all
}

// Oldest versions with everything that the dashboards use.
const (
	grafanaVersion = "10.0.0"
	schemaVersion  = 38
)

// JSON returns the model.
func (d board) JSON() ([]byte, error) {
	b := dashboard.NewDashboardBuilder(d.title).Uid(d.uid).Description(d.description).Tags([]string{"gclog", "dotnet"}).
		Timezone("browser").Time("now-3h", "now").Refresh("1m").Tooltip(dashboard.DashboardCursorSyncCrosshair).
		WithVariable(dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus"))
	for _, v := range d.variables {
		b.WithVariable(v.build())
	}
	for _, r := range d.rows {
		b.WithRow(dashboard.NewRowBuilder(r.title))
		for _, p := range r.panels {
			b.WithPanel(p)
		}
	}
	model, err := b.Build()
	if err != nil {
		return nil, err
	}
	model.SchemaVersion = schemaVersion
	model.Links = []dashboard.DashboardLink{{
		Title: "gclog", Type: dashboard.DashboardLinkTypeDashboards, Tags: []string{"gclog"}, IncludeVars: true, KeepTime: true,
	}}
	for i := range model.Panels {
		id := uint32(i + 1)
		if p := model.Panels[i].Panel; p != nil {
			p.Id = &id
		} else {
			model.Panels[i].RowPanel.Id = id
		}
	}
	text, err := json.Marshal(model)
	if err != nil {
		return nil, err
	}
	// What the SDK leaves out: what the dashboard needs, for the dialog that imports it.
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	all["__requires"] = d.requires(model)
	all["annotations"] = map[string]any{"list": []any{}}
	text, err = json.MarshalIndent(all, "", "  ")
	return append(text, '\n'), err
}

func (d board) requires(model dashboard.Dashboard) (list []map[string]string) {
	seen := map[string]bool{}
	add := func(kind, id, name, version string) {
		if !seen[id] {
			list = append(list, map[string]string{"type": kind, "id": id, "name": name, "version": version})
		}
		seen[id] = true
	}
	add("grafana", "grafana", "Grafana", grafanaVersion)
	add("datasource", "prometheus", "Prometheus", "1.0.0")
	for _, p := range model.Panels {
		if p.Panel != nil {
			add("panel", p.Panel.Type, p.Panel.Type, "")
		}
	}
	return list
}

func (v variable) build() *dashboard.QueryVariableBuilder {
	text := "label_values(gclog_process_info{" + v.within + "}, " + v.of + ")"
	b := dashboard.NewQueryVariableBuilder(v.name).Label(v.label).Datasource(source).
		Query(dashboard.StringOrMap{String: &text}).Definition(text).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortAlphabeticalAsc)
	if v.one {
		return b
	}
	all := func(s string) dashboard.StringOrArrayOfString {
		return dashboard.StringOrArrayOfString{ArrayOfString: []string{s}}
	}
	// .* also selects series without the label.
	return b.Multi(true).IncludeAll(true).AllValue(".*").
		Current(dashboard.VariableOption{Selected: cog.ToPtr(true), Text: all("All"), Value: all("$__all")})
}

// Expressions.

// allocated is the metric of what programs allocate. Prometheus moves the word "total" to the end of names
// that come by OTLP.
const allocated = `{__name__=~"dotnet_gc_heap_(total_)?allocated_bytes_total", {}}`

// of returns an expression in which METRIC{} stands for a metric of the selected processes.
func of(labels, expr string) string {
	expr = strings.ReplaceAll(expr, ", {}}", ", "+labels+"}")
	return strings.ReplaceAll(expr, "{}", "{"+labels+"}")
}

// missing returns how much is missing in the records of processes with these labels.
func missing(labels string) []query {
	return []query{
		{of(labels, "sum(increase(gclog_events_lost_total{}["+interval+"]))"), "events lost"},
		{of(labels, "sum(increase(gclog_gcs_incomplete_total{}["+interval+"]))"), "collections incomplete"},
		{of(labels, "sum(increase(gclog_gcs_missed_total{}["+interval+"]))"), "collections missed"},
		{of(labels, "sum(increase(gclog_records_dropped_total{}["+interval+"]))"), "records dropped"},
	}
}

// quantile returns a quantile of a histogram by labels. A Prometheus has either the series with
// buckets or the native histogram.
func quantile(q, metric, labels, window string, by ...string) string {
	return of(labels, "histogram_quantile("+q+", sum by ("+strings.Join(append(by, "le"), ", ")+") (rate("+metric+"_bucket{}["+window+"])))\n"+
		"or\nhistogram_quantile("+q+", "+sumBy(by)+"(rate("+metric+"{}["+window+"])))")
}

// count returns the rate of the observations of a histogram by labels.
func count(metric, labels, window string, by ...string) string {
	return of(labels, sumBy(by)+"(rate("+metric+"_count{}["+window+"]))\nor\nhistogram_count("+sumBy(by)+"(rate("+metric+"{}["+window+"])))")
}

// buckets returns what a heat map shows.
func buckets(metric, labels string) string {
	return of(labels, "sum by (le) (increase("+metric+"_bucket{}[$__rate_interval]))\nor\nsum(increase("+metric+"{}[$__rate_interval]))")
}

func sumBy(by []string) string {
	if len(by) == 0 {
		return "sum"
	}
	return "sum by (" + strings.Join(by, ", ") + ") "
}
