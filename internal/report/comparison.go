package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog/analysis"
)

// A Comparison is what a report says about two histories: both on the same scales. It does not say
// whether a difference is more than chance: gclog compare does.
type Comparison struct {
	Title, Version string
	Sides          [2]*Data
	Tiles          []PairOfTiles
	Metrics        []PairOfMetrics // the most important ones
	More           []PairOfMetrics // all others that are known for both
	New, Gone      []Finding       // findings of only the second and only the first
	Both           []Finding       // as the second has them
}

// PairOfTiles is a number of the first screen in both histories.
type PairOfTiles struct {
	Name string
	Tile [2]Tile
}

// PairOfMetrics is a metric in both histories.
type PairOfMetrics struct {
	Name, Help, Before, After, Change string
}

// important are the metrics that a comparison shows first.
var important = []string{
	"duration", "pause.share", "pause.p50", "pause.p99", "pause.max", "suspend.max", "mutator.100ms", "gc.rate",
	"gen0.rate", "gen1.rate", "gen2.blocking.rate", "background.rate", "gen0.pause.p50", "gen1.pause.p50",
	"gen2.blocking.pause.max", "background.pause.max", "alloc.rate", "promoted.mean", "heap.max", "heap.last.gen2",
	"heap.committed.max", "memory.rss.max", "gc.induced",
}

// Compare computes what a report says about two histories.
func Compare(before, after *Input) *Comparison {
	c := &Comparison{Version: after.Version, Sides: [2]*Data{New(before), New(after)}}
	c.Title = c.Sides[0].Title + " → " + c.Sides[1].Title
	for i, t := range c.Sides[0].Tiles {
		c.Tiles = append(c.Tiles, PairOfTiles{tileNames[i], [2]Tile{t, c.Sides[1].Tiles[i]}})
	}
	b := after.Summary.Metrics()
	for i, a := range before.Summary.Metrics() {
		if !a.Known() && !b[i].Known() {
			continue
		}
		m := PairOfMetrics{a.Name, a.Help, cell(a.Number), cell(b[i].Number), change(a.Number, b[i].Number)}
		if slices.Contains(important, a.Name) {
			c.Metrics = append(c.Metrics, m)
		} else if a.Known() && b[i].Known() {
			c.More = append(c.More, m)
		}
	}
	slices.SortFunc(c.Metrics,
		func(a, b PairOfMetrics) int { return slices.Index(important, a.Name) - slices.Index(important, b.Name) })
	c.Gone = without(c.Sides[0].Findings, c.Sides[1].Findings)
	c.New = without(c.Sides[1].Findings, c.Sides[0].Findings)
	c.Both = without(c.Sides[1].Findings, c.New)
	return c
}

// tileNames are the names of tiles if both histories need the same.
var tileNames = [...]string{"Paused", "Longest pause", "Heap after gen2", "Allocation rate", "Findings"}

// without returns the findings of rules of which others has none.
func without(list, others []Finding) (left []Finding) {
	for _, f := range list {
		if !slices.ContainsFunc(others, func(o Finding) bool { return o.Rule == f.Rule }) {
			left = append(left, f)
		}
	}
	return left
}

// change describes the difference of two numbers: of shares in percentage points.
func change(a, b analysis.Number) string {
	switch {
	case !a.Known() || !b.Known():
		return "–"
	case a.Value == b.Value:
		return "0 %"
	case a.Unit == "%":
		return signed(b.Value-a.Value) + " points"
	case a.Value == 0:
		return "–"
	}
	return signed(100*(b.Value-a.Value)/math.Abs(a.Value)) + " %"
}

// signed formats a number with its sign.
func signed(v float64) string {
	text := strings.TrimSuffix(analysis.Number{Value: math.Abs(v), Unit: "%"}.Text(), " %")
	if v < 0 {
		return "−" + text
	}
	return "+" + text
}

// WriteHTML writes the page.
func (c *Comparison) WriteHTML(w io.Writer) error {
	data, err := json.Marshal(struct {
		Sides [2]pageData `json:"sides"`
	}{[2]pageData{c.Sides[0].page, c.Sides[1].page}})
	if err != nil {
		return err
	}
	tables := append(slices.Clone(c.Sides[0].tables), c.Sides[1].tables...)
	return writePage(w, "comparison", c, data, tables, nil, nil, nil)
}

// WriteMarkdown writes the numbers for an issue tracker.
func (c *Comparison) WriteMarkdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# GC report: %s\n\n", escaped(c.Title))
	var rows [][]string
	for _, m := range c.Metrics {
		rows = append(rows, []string{m.Name, m.Before, m.After, m.Change})
	}
	markdownTable(b, []string{"metric", "A", "B", "change"}, rows)
	fmt.Fprintf(b, "\nA is %s, B is %s.\n", escaped(c.Sides[0].Source), escaped(c.Sides[1].Source))
	for _, x := range []struct {
		title string
		list  []Finding
	}{{"Findings only in B", c.New}, {"Findings only in A", c.Gone}, {"Findings in both, as in B", c.Both}} {
		if len(x.list) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n## %s\n\n", x.title)
		for _, f := range x.list {
			fmt.Fprintf(b, "- **%s: %s** (`%s`): %s\n", f.Severity, f.Title, f.Rule, escaped(f.Text))
		}
	}
	return b.Flush()
}
