package grafana

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// A panel is a chart, a number or a table.
type panel struct {
	kind        cog.Builder[dashboard.Panel]
	title       string
	description string
	unit        string
	width       uint32 // of 24
	height      uint32
	queries     []query
	warn, alarm float64         // thresholds; 0: none
	links       []dataLink      // of each value
	columns     []column        // of tables
	format      promQueryFormat // "": time series
	instant     bool
}

type promQueryFormat = prometheus.PromQueryFormat

// A query is an expression with the name of its series.
type query struct {
	expr, legend string
}

// A column of a table is the value of the query of the same index, or with a label that label.
type column struct {
	name        string
	label       string
	unit        string
	warn, alarm float64
	links       []dataLink
}

type dataLink struct{ title, url string }

// Kinds of panels.

func number() cog.Builder[dashboard.Panel] {
	return stat.NewPanelBuilder().
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		GraphMode(common.BigValueGraphModeArea).ColorMode(common.BigValueColorModeValue)
}

func lines() cog.Builder[dashboard.Panel] { return chart() }

// stacked is for parts of a whole.
func stacked() cog.Builder[dashboard.Panel] {
	return chart().FillOpacity(40).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
}

// logarithmic is for durations, whose range is from microseconds to minutes.
func logarithmic() cog.Builder[dashboard.Panel] {
	return chart().ScaleDistribution(common.NewScaleDistributionConfigBuilder().Type(common.ScaleDistributionLog).Log(10))
}

func chart() *timeseries.PanelBuilder {
	return timeseries.NewPanelBuilder().
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeTable).
			Placement(common.LegendPlacementBottom).Calcs([]string{"lastNotNull", "max"}).SortBy("Max").SortDesc(true)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending)).
		LineWidth(1).FillOpacity(10).ShowPoints(common.VisibilityModeAuto).
		// A quantile without observations has no value.
		SpanNulls(common.BoolOrFloat64{Float64: cog.ToPtr(float64(spanMilliseconds))})
}

// spanMilliseconds is the longest gap that a line spans.
const spanMilliseconds = 600_000

// heat is for the buckets of histograms.
func heat() cog.Builder[dashboard.Panel] {
	return heatmap.NewPanelBuilder().Calculate(false).
		Color(heatmap.NewHeatmapColorOptionsBuilder().Mode(heatmap.HeatmapColorModeScheme).Scheme("Spectral").
			Fill("dark-orange").Scale(heatmap.HeatmapColorScaleExponential).Exponent(0.5).Steps(64).Reverse(true)).
		YAxis(heatmap.NewYAxisConfigBuilder().Unit("s").AxisPlacement(common.AxisPlacementLeft)).
		Tooltip(heatmap.NewHeatmapTooltipBuilder().Mode(common.TooltipDisplayModeSingle).YHistogram(true).ShowColorScale(true))
}

func rows() cog.Builder[dashboard.Panel] {
	return table.NewPanelBuilder().ShowHeader(true).CellHeight(common.TableCellHeightSm).
		Footer(common.NewTableFooterOptionsBuilder().Show(false).Reducer([]string{}))
}

var source = common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: cog.ToPtr("${datasource}")}

// Build implements cog.Builder.
func (p panel) Build() (dashboard.Panel, error) {
	b, err := p.kind.Build()
	if err != nil {
		return b, err
	}
	b.Title, b.Description, b.Datasource = &p.title, &p.description, &source
	b.GridPos = &dashboard.GridPos{W: p.width, H: p.height}
	if b.FieldConfig == nil {
		b.FieldConfig = dashboard.NewFieldConfigSource()
	}
	d := &b.FieldConfig.Defaults
	if p.unit != "" {
		d.Unit = &p.unit
	}
	custom, isChart := d.Custom.(*timeseries.FieldConfig)
	if !isChart || custom.ScaleDistribution == nil { // a logarithm has no zero
		d.Min = cog.ToPtr(0.0)
	}
	d.Links = links(p.links)
	d.Color = &dashboard.FieldColor{Mode: dashboard.FieldColorModeIdPaletteClassic}
	if steps := thresholds(p.warn, p.alarm); steps != nil {
		d.Thresholds = steps
		if b.Type == "stat" {
			d.Color = &dashboard.FieldColor{Mode: dashboard.FieldColorModeIdThresholds}
		} else if isChart {
			custom.ThresholdsStyle = &common.GraphThresholdsStyleConfig{Mode: common.GraphThresholdsStyleModeDashed}
		}
	}
	for i, q := range p.queries {
		target := prometheus.NewDataqueryBuilder().RefId(refID(i)).Expr(q.expr).LegendFormat(q.legend).Datasource(source)
		if p.format != "" {
			target.Format(p.format)
		}
		if p.instant {
			target.Instant()
		} else {
			target.Range()
		}
		t, err := target.Build()
		if err != nil {
			return b, err
		}
		b.Targets = append(b.Targets, t)
	}
	p.tabulate(&b)
	return b, nil
}

func refID(i int) string { return string(rune('A' + i)) }

func thresholds(warn, alarm float64) *dashboard.ThresholdsConfig {
	if warn == 0 && alarm == 0 {
		return nil
	}
	steps := []dashboard.Threshold{{Color: "green"}}
	if warn != 0 {
		steps = append(steps, dashboard.Threshold{Value: &warn, Color: "orange"})
	}
	if alarm != 0 {
		steps = append(steps, dashboard.Threshold{Value: &alarm, Color: "red"})
	}
	return &dashboard.ThresholdsConfig{Mode: dashboard.ThresholdsModeAbsolute, Steps: steps}
}

func links(list []dataLink) (to []dashboard.DashboardLink) {
	for _, l := range list {
		to = append(to, dashboard.DashboardLink{Title: l.title, Url: &l.url, Type: dashboard.DashboardLinkTypeLink})
	}
	return to
}

// tabulate makes the results of all queries the columns of one table.
func (p panel) tabulate(b *dashboard.Panel) {
	if len(p.columns) == 0 {
		return
	}
	names, order, keep := map[string]string{}, map[string]int{}, []string{}
	value := 0
	for i, c := range p.columns {
		field := c.label
		if field == "" {
			field = "Value #" + refID(value)
			if len(p.queries) == 1 {
				field = "Value"
			}
			value++
		}
		names[field], order[field] = c.name, i
		keep = append(keep, field)
		var properties []dashboard.DynamicConfigValue
		if c.unit != "" {
			properties = append(properties, dashboard.DynamicConfigValue{Id: "unit", Value: c.unit})
		}
		if steps := thresholds(c.warn, c.alarm); steps != nil {
			properties = append(properties, dashboard.DynamicConfigValue{Id: "thresholds", Value: steps},
				dashboard.DynamicConfigValue{Id: "custom.cellOptions", Value: map[string]string{"type": "color-text"}},
				dashboard.DynamicConfigValue{Id: "color", Value: map[string]string{"mode": "thresholds"}})
		}
		if c.links != nil {
			properties = append(properties, dashboard.DynamicConfigValue{Id: "links", Value: links(c.links)})
		}
		if properties != nil {
			b.FieldConfig.Overrides = append(b.FieldConfig.Overrides, dashboard.DashboardFieldConfigSourceOverrides{
				Matcher: dashboard.MatcherConfig{Id: "byName", Options: c.name}, Properties: properties,
			})
		}
	}
	b.Transformations = []dashboard.DataTransformerConfig{
		{Id: "merge", Options: map[string]any{}},
		{Id: "filterFieldsByName", Options: map[string]any{"include": map[string]any{"names": keep}}},
		{Id: "organize", Options: map[string]any{"renameByName": names, "indexByName": order, "excludeByName": map[string]bool{}}},
	}
}
