// Package kibana makes the saved objects of samples/kibana: a data view, visualizations of Lens,
// searches, and a dashboard of these. GCLOG_UPDATE=1 go test ./kibana writes them.
package kibana

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// object is a JSON object.
type object = map[string]any

// A savedObject is a line of the file that Kibana imports.
type savedObject struct {
	Attributes           object      `json:"attributes"`
	CoreMigrationVersion string      `json:"coreMigrationVersion"`
	ID                   string      `json:"id"`
	Managed              bool        `json:"managed"`
	References           []reference `json:"references"`
	Type                 string      `json:"type"`
	// The version of Kibana that changed the type last; later ones migrate from it.
	TypeMigrationVersion string `json:"typeMigrationVersion"`
}

type reference struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
}

// typeVersions are the versions of the types. Kibana 8.9 and later read them.
var typeVersions = map[string]string{"index-pattern": "8.0.0", "lens": "8.9.0", "search": "8.0.0", "dashboard": "8.9.0"}

const dataView = "gclog-records"

func newObject(kind, id string, attributes object, references ...reference) savedObject {
	if references == nil {
		references = []reference{}
	}
	return savedObject{Attributes: attributes, CoreMigrationVersion: "8.8.0", ID: id, References: references, Type: kind, TypeMigrationVersion: typeVersions[kind]}
}

func toDataView(name string) reference { return reference{dataView, name, "index-pattern"} }

// text returns JSON, which many attributes contain as text.
func text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // of strings and numbers
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func query(kql string) object { return object{"query": kql, "language": "kuery"} }

// A chart is a visualization with the time from left to right.
type chart struct {
	id, title, description string
	kql                    string   // records that it is about
	kind                   string   // line, area_stacked, bar_stacked
	by                     *split   // a series for each value; nil: one for each metric
	metrics                []metric // with by: one
}

// A split is a field, or several, whose values are series.
type split struct {
	label  string
	fields []string
	number bool // of a numeric field
	size   int
}

// A metric is what a series shows of a field.
type metric struct {
	label     string
	operation string // max, average, sum, percentile, count
	field     string
	per       string // s: divided by the seconds of each bar
	format    string // percent, bytes; "": that of the data view
}

const layer = "layer1"

// build returns a Lens object.
func (c chart) build() savedObject {
	columns := object{
		"x": object{
			"label": "@timestamp", "dataType": "date", "operationType": "date_histogram", "sourceField": "@timestamp", "isBucketed": true, "scale": "interval",
			"params": object{"interval": "auto", "includeEmptyRows": true, "dropPartials": false},
		},
	}
	var order, accessors []string
	if c.by != nil {
		columns["split"] = c.by.column()
		order = append(order, "split")
	}
	order = append(order, "x")
	for i, m := range c.metrics {
		name := fmt.Sprintf("m%d", i+1)
		columns[name] = m.column()
		order, accessors = append(order, name), append(accessors, name)
	}
	data := object{"layerId": layer, "layerType": "data", "seriesType": c.kind, "xAccessor": "x", "accessors": accessors, "position": "top", "showGridlines": false}
	if c.by != nil {
		data["splitAccessor"] = "split"
	}
	visible := func(x, left, right bool) object { return object{"x": x, "yLeft": left, "yRight": right} }
	return newObject("lens", c.id, object{
		"title": c.title, "description": c.description, "visualizationType": "lnsXY",
		"state": object{
			"datasourceStates": object{"formBased": object{"layers": object{layer: object{"columnOrder": order, "columns": columns, "incompleteColumns": object{}}}}},
			"visualization": object{
				"legend": object{"isVisible": true, "position": "bottom"}, "valueLabels": "hide", "fittingFunction": "None", "preferredSeriesType": c.kind,
				"axisTitlesVisibilitySettings": visible(false, false, false), "tickLabelsVisibilitySettings": visible(true, true, true),
				"gridlinesVisibilitySettings": visible(true, true, true), "layers": []object{data},
			},
			"query": query(c.kql), "filters": []any{}, "internalReferences": []any{}, "adHocDataViews": object{},
		},
	}, toDataView("indexpattern-datasource-layer-"+layer))
}

func (s *split) column() object {
	params := object{
		"size": s.size, "orderBy": object{"type": "column", "columnId": "m1"}, "orderDirection": "desc", "otherBucket": false, "missingBucket": false,
		"parentFormat": object{"id": "terms"}, "include": []any{}, "exclude": []any{}, "includeIsRegex": false, "excludeIsRegex": false,
	}
	if len(s.fields) > 1 {
		params["secondaryFields"] = s.fields[1:]
		params["parentFormat"] = object{"id": "multi_terms"}
	}
	kind := "string"
	if s.number {
		kind = "number"
	}
	return object{"label": s.label, "customLabel": true, "dataType": kind, "operationType": "terms", "scale": "ordinal", "sourceField": s.fields[0], "isBucketed": true, "params": params}
}

func (m metric) column() object {
	c := object{"label": m.label, "customLabel": true, "dataType": "number", "operationType": m.operation, "sourceField": m.field, "isBucketed": false, "scale": "ratio"}
	params := object{"emptyAsNull": true}
	switch m.operation {
	case "count":
		c["sourceField"] = "___records___"
	case "percentile":
		params = object{"percentile": 99}
	}
	if m.format != "" {
		params["format"] = object{"id": m.format, "params": object{"decimals": 1}}
	}
	if m.per != "" {
		c["timeScale"] = m.per
	}
	c["params"] = params
	return c
}

// A list is a search whose records are listed.
type list struct {
	id, title, description string
	kql                    string
	columns                []string
	sortBy                 string
}

func (l list) build() savedObject {
	const index = "kibanaSavedObjectMeta.searchSourceJSON.index"
	return newObject("search", l.id, object{
		"title": l.title, "description": l.description, "columns": l.columns, "sort": [][]string{{l.sortBy, "desc"}}, "grid": object{}, "rowsPerPage": 50,
		"hideChart": true, "isTextBasedQuery": false, "timeRestore": false,
		"kibanaSavedObjectMeta": object{"searchSourceJSON": text(object{"query": query(l.kql), "filter": []any{}, "indexRefName": index})},
	}, toDataView(index))
}

// A tile is a place on a dashboard, 48 wide.
type tile struct {
	savedObject
	width, height int
}

// A control offers the values of a field.
type control struct{ title, field string }

// dashboard returns a dashboard with the tiles in rows.
func newDashboard(id, title, description string, controls []control, tiles []tile) savedObject {
	var panels []object
	var references []reference
	x, y, height := 0, 0, 0
	for i, t := range tiles {
		if x+t.width > 48 {
			x, y, height = 0, y+height, 0
		}
		n := fmt.Sprint(i + 1)
		panels = append(panels, object{
			"type": t.Type, "panelIndex": n, "panelRefName": "panel_" + n, "embeddableConfig": object{"enhancements": object{}},
			"gridData": object{"x": x, "y": y, "w": t.width, "h": t.height, "i": n},
		})
		references = append(references, reference{t.ID, n + ":panel_" + n, t.Type})
		x, height = x+t.width, max(height, t.height)
	}
	group := object{}
	for i, c := range controls {
		n := fmt.Sprintf("control%d", i+1)
		group[n] = object{"order": i, "width": "medium", "grow": true, "type": "optionsListControl", "explicitInput": object{"id": n, "fieldName": c.field, "title": c.title}}
		references = append(references, toDataView("controlGroup_"+n+":optionsListDataView"))
	}
	return newObject("dashboard", id, object{
		"title": title, "description": description, "timeRestore": false, "version": 1, "panelsJSON": text(panels),
		"optionsJSON": text(object{"useMargins": true, "syncColors": true, "syncCursor": true, "syncTooltips": false, "hidePanelTitles": false}),
		"controlGroupInput": object{
			"controlStyle": "oneLine", "chainingSystem": "HIERARCHICAL", "panelsJSON": text(group),
			"ignoreParentSettingsJSON": text(object{"ignoreFilters": false, "ignoreQuery": false, "ignoreTimerange": false, "ignoreValidations": false}),
		},
		"kibanaSavedObjectMeta": object{"searchSourceJSON": text(object{"query": query(""), "filter": []any{}})},
	}, references...)
}
