package report

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gclog/gclog/internal/view"
)

// WriteMarkdown writes the numbers and findings for an issue tracker: the dialect of GitHub.
func (d *Data) WriteMarkdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# GC report: %s\n\n", escaped(d.Title))
	if d.Verdict != "" {
		fmt.Fprintf(b, "**%s**\n\n", escaped(d.Verdict))
	}
	markdownFacts(b, d.Facts)
	if d.History {
		d.markdownHistory(b)
	}
	if d.Stacks != nil {
		d.Stacks.markdown(b)
	}
	for _, s := range d.Snapshots {
		s.markdown(b)
	}
	fmt.Fprintf(b, "\nWritten by gclog %s from %s.\n", d.Version, escaped(d.Source))
	return b.Flush()
}

func markdownFacts(b io.Writer, list []Fact) {
	for _, f := range list {
		fmt.Fprintf(b, "- %s: %s\n", f.Name, escaped(f.Text))
	}
}

func (d *Data) markdownHistory(b io.Writer) {
	fmt.Fprint(b, "\n| |")
	for _, t := range d.Tiles {
		fmt.Fprintf(b, " %s |", t.Name)
	}
	fmt.Fprintf(b, "\n|---|%s\n| |", strings.Repeat("---|", len(d.Tiles)))
	for _, t := range d.Tiles {
		fmt.Fprintf(b, " **%s**<br>%s |", escaped(t.Value), escaped(strings.Join(t.Notes, "; ")))
	}
	fmt.Fprint(b, "\n\n## Findings\n\n")
	if len(d.Findings) == 0 {
		fmt.Fprint(b, "No rule found a problem.\n")
	}
	for _, f := range d.Findings {
		fmt.Fprintf(b, "- **%s: %s** (`%s`): %s", f.Severity, f.Title, f.Rule, escaped(f.Text))
		if len(f.GCs) > 0 {
			fmt.Fprint(b, " Collections:")
			for _, n := range f.GCs {
				fmt.Fprintf(b, " %d", n) // not #n, which would link to an issue
			}
			fmt.Fprint(b, ".")
		}
		fmt.Fprintf(b, "\n  - %s\n", f.Advice)
	}
	for _, g := range d.Classes {
		fmt.Fprintf(b, "\n## %s by class\n\n", g.Caption)
		markdownTable(b, g.Head, g.Rows)
	}
	for _, x := range []struct {
		title, head string
		list        []Bar
	}{{"Reasons", "reason", d.Reasons}, {"Conditions", "condition", d.Conditions}} {
		if len(x.list) == 0 {
			continue
		}
		var rows [][]string
		for _, r := range x.list {
			rows = append(rows, []string{r.Name, fmt.Sprint(r.Count), fmt.Sprintf("%.1f %%", r.Percent)})
		}
		fmt.Fprintf(b, "\n## %s\n\n", x.title)
		markdownTable(b, []string{x.head, "GCs", "share"}, rows)
	}
}

// markdownRows is how many types, paths or callers Markdown lists.
const markdownRows = 20

// markdown writes what a heap snapshot contains, without what takes a page to read.
func (s *Snapshot) markdown(b io.Writer) {
	fmt.Fprint(b, "\n## Heap snapshot\n\n")
	markdownFacts(b, s.Facts)
	if s.Other != "" {
		fmt.Fprintf(b, "- note: %s\n", escaped(s.Other))
	}
	if s.Incomplete != "" {
		fmt.Fprintf(b, "- incomplete: %s\n", escaped(s.Incomplete))
	}
	if len(s.Suspects) > 0 {
		fmt.Fprint(b, "\n### Suspects\n\n")
	}
	for _, x := range s.Suspects {
		fmt.Fprintf(b,
			"- **%s**. %s\n", escaped(x.Text), escaped(strings.Join(append([]string{x.Held}, x.Path...), " ")))
		fmt.Fprintf(b, "  - %s\n", escaped(x.Advice))
	}
	head, rows := []string{"type", "objects", "size", "retained"}, [][]string(nil)
	if s.Tree == nil {
		head = head[:3] // without the references it is unknown
	}
	for _, t := range s.Types[:min(len(s.Types), markdownRows)] {
		row := []string{
			t.Name, strconv.FormatUint(t.Objects, 10), view.Text(float64(t.Bytes), "bytes"),
			view.Text(float64(t.Retained), "bytes"),
		}
		rows = append(rows, row[:len(head)])
	}
	fmt.Fprint(b, "\n### Types\n\n")
	markdownTable(b, head, rows)
	if s.Before == "" {
		return
	}
	rows = nil
	for _, g := range s.Growth[:min(len(s.Growth), markdownRows)] {
		sign := ""
		if g.Bytes > 0 {
			sign = "+"
		}
		rows = append(rows,
			[]string{g.Name, fmt.Sprintf("%+d", g.Objects), sign + view.Text(float64(g.Bytes), "bytes")})
	}
	fmt.Fprintf(b, "\n### Difference to %s\n\n", escaped(s.Before))
	markdownTable(b, []string{"type", "objects more", "bytes more"}, rows)
}

func markdownTable(w io.Writer, head []string, rows [][]string) {
	fmt.Fprintf(w, "| %s |\n|---|%s\n", strings.Join(head, " | "), strings.Repeat("---:|", len(head)-1))
	for _, r := range rows {
		for _, c := range r {
			fmt.Fprintf(w, "| %s ", escaped(c))
		}
		fmt.Fprintln(w, "|")
	}
}

// escaped returns text without what Markdown and HTML act upon, in one line.
func escaped(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == ':' && strings.HasPrefix(s[i:], "://"), r == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www"):
			// It would be a link.
			b.WriteByte('\\')
			b.WriteRune(r)
		case strings.ContainsRune("\\`*_[]|~#!", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@': // it would notify people
			b.WriteString("@\u200b")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
