package tune

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/compare"
	"github.com/gclog/gclog/internal/view"
)

// A page is the result of tune for people.
type page struct {
	bytes.Buffer
	t     *tuning
	width int
	paint func(screen.Style, string) string
}

func (t *tuning) print() error {
	x := &page{t: t, width: screen.TextWidth(t.p.Unfiltered), paint: screen.Painter(screen.Colored(t.p.Unfiltered))}
	x.overview()
	for _, r := range t.settings {
		x.setting(r)
	}
	x.optimal()
	_, err := x.WriteTo(t.p.Out)
	return err
}

// overview prints a table with a row for each setting.
func (x *page) overview() {
	pauses := strings.TrimPrefix(x.t.knownPercentile(), "pause.")
	table := view.NewTable("", "runs", pauses, "paused", "memory", x.t.throughputName(), "CPU time")
	for _, r := range x.t.settings {
		row := []string{view.OneLine(r.name), fmt.Sprint(len(r.trials))}
		if len(r.trials) == 0 {
			table.Add(append(row, "failed", "", "", "", "")...)
			continue
		}
		row = append(row, r.value("pause."+pauses).Text(), r.value("pause.share").Text())
		for _, d := range r.against.objectives[min(1, len(r.against.objectives)):] {
			row = append(row, d.B.Text())
		}
		for len(row) < len(table.Columns) {
			row = append(row, "")
		}
		if r.optimal {
			row[0] = "* " + row[0]
		} else {
			row[0] = "  " + row[0]
		}
		table.Add(row...)
	}
	table.Print(x, x.width)
	view.Wrapped(x, x.width, 2,
		"* no other setting is better in one of pauses, memory, throughput and CPU time, and not worse in any")
}

// knownPercentile returns the highest percentile of the pauses that is known of each setting.
func (t *tuning) knownPercentile() string {
	for _, name := range pausePercentiles {
		unknown := func(r *outcome) bool { return len(r.trials) > 0 && !r.value(name).Known() }
		if !slices.ContainsFunc(t.settings, unknown) {
			return name
		}
	}
	return pausePercentiles[len(pausePercentiles)-1]
}

// pauses returns the name of the percentile by which settings are compared.
func (r *outcome) pauses() string {
	if len(r.against.objectives) == 0 {
		return pausePercentiles[len(pausePercentiles)-1]
	}
	return r.against.objectives[0].Name
}

// value returns a metric of all runs with the setting.
func (r *outcome) value(metric string) analysis.Number {
	i := slices.IndexFunc(r.against.metrics, func(d analysis.Difference) bool { return d.Name == metric })
	if i < 0 {
		return analysis.Number{Why: "no run counted"}
	}
	return r.against.metrics[i].B
}

// setting prints what a setting changes.
func (x *page) setting(r *outcome) {
	if r == x.t.settings[0] && len(r.failed) == 0 {
		return
	}
	fmt.Fprintf(x, "\n%s\n", x.paint(screen.Heading, view.OneLine(r.name)))
	for _, why := range r.ignored {
		view.Hanging(x, x.width, 11, "  ignored: ", view.OneLine(why))
	}
	if n := len(r.failed); n > 0 {
		view.Hanging(x, x.width, 10, "  failed: ",
			fmt.Sprintf("%d of %s: %s", n, view.Counted(uint64(n+len(r.trials)), "run"), view.OneLine(r.failed[0])))
	}
	if r == x.t.settings[0] || len(r.trials) == 0 {
		return
	}
	for _, v := range compare.VerdictOrder[:2] {
		var list []string
		for _, d := range append(slices.Clone(r.against.objectives[1:]), r.against.metrics...) {
			if d.Verdict == v {
				list = append(list, fmt.Sprintf("%s %s (%s to %s)",
					d.Name, compare.ChangeText(d.Change), compare.ChangeText(d.Low), compare.ChangeText(d.High)))
			}
		}
		if len(list) > 0 {
			title := strings.ToLower(compare.VerdictTitles[v])
			var b bytes.Buffer
			view.Hanging(&b, x.width, 10, fmt.Sprintf("  %-8s", title+":"), strings.Join(list, ", "))
			x.WriteString(strings.Replace(b.String(), title, x.paint(compare.VerdictStyles[v], title), 1))
		}
	}
	differs := func(d analysis.Difference) bool { return d.Verdict >= analysis.Better }
	if !slices.ContainsFunc(r.against.objectives, differs) && !slices.ContainsFunc(r.against.metrics, differs) {
		fmt.Fprintln(x, "  no detectable difference")
	}
	if d := r.against.objectives[0]; d.Verdict == analysis.TooLittleData {
		view.Hanging(x, x.width, 10, "  too little data: ", "pauses: "+view.OneLine(d.Why))
	}
}

// optimal prints how to set the settings that are worth it.
func (x *page) optimal() {
	for i, r := range x.t.settings {
		if !r.optimal || i == 0 {
			continue
		}
		fmt.Fprintf(x, "\nTo set %s\n", view.OneLine(r.name))
		view.Hanging(x, x.width, 4, "  ", r.variables())
		text, without := r.properties()
		if text != "" {
			view.Hanging(x, x.width, 4, "  runtimeconfig.json: ", text)
		}
		if len(without) > 0 && text != "" {
			view.Hanging(x, x.width, 4, "  ", strings.Join(without, ", ")+" only in the environment")
		}
	}
}
