package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
)

//go:embed page
var files embed.FS

// scripts are our own, in the order in which they run: as one function, so that they add no names to
// the page.
var scripts = []string{
	"dom.js", "unpack.js", "theme.js", "range.js", "chart.js", "charts.js", "gctable.js", "explain.js", "icicle.js",
	"heap.js", "stacks.js", "comparison.js", "main.js",
}

// A page is what the template shows.
type page struct {
	Content      any // a *Data or *Comparison
	Policy       string
	Style        template.HTML
	Scripts      template.HTML
	PageData     template.JS
	Tables       template.HTML // base64, as the others
	Explanations template.HTML
	Heaps        template.HTML
	Stacks       template.HTML
}

// WriteHTML writes the page. It loads nothing from a network, and allows no scripts and styles but
// those in it.
func (d *Data) WriteHTML(w io.Writer) error { return d.write(w, "page") }

// WritePicture writes a page with the first numbers and the charts of pauses and the heap, for a
// browser that makes a picture of it: PictureWidth by PictureHeight.
func (d *Data) WritePicture(w io.Writer) error { return d.write(w, "picture") }

// The size of a picture in pixels of CSS.
const (
	PictureWidth  = 1200
	PictureHeight = 920
)

func (d *Data) write(w io.Writer, name string) error {
	known := d.page
	known.Picture = name == "picture"
	data, err := json.Marshal(known)
	if err != nil {
		return err
	}
	heaps := []snapshotData{}
	for _, s := range d.Snapshots {
		heaps = append(heaps, newSnapshotData(s))
	}
	heap, err := json.Marshal(heaps)
	if err != nil {
		return err
	}
	var tree *Node
	if d.Stacks != nil {
		tree = d.Stacks.Tree
	}
	stacks, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	return writePage(w, name, d, data, d.tables, d.told, heap, stacks)
}

// writePage writes a template with what scripts need. data is JSON that escapes what HTML acts upon.
func writePage(w io.Writer, name string, content any, data, tables, told, heaps, stacks []byte) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"inc":  func(i int) int { return i + 1 },
		"list": func(list ...any) []any { return list },
		// numeric reports whether a column contains numbers: all but the last ones do.
		"numeric": func(g Grid, column, last int) bool { return column < len(g.Head)-last },
	}).ParseFS(files, "page/*.html")
	if err != nil {
		return err
	}
	own := "(() => {\n'use strict';\n" + file(scripts...) + "})();\n"
	uplot := file("uplot/uPlot.iife.min.js")
	style := file("uplot/uPlot.min.css") + colors() + file("report.css")
	p := &page{
		Content: content, PageData: template.JS(data), Tables: template.HTML(deflated(tables)),
		Explanations: template.HTML(deflated(told)), Heaps: template.HTML(deflated(heaps)),
		Stacks: template.HTML(deflated(stacks)),
		Policy: fmt.Sprintf("default-src 'none'; script-src %s %s; style-src %s; base-uri 'none'; form-action 'none'",
			hash(uplot), hash(own), hash(style)),
		Style: template.HTML("<style>" + style + "</style>"),
		// Neither may end its element early: TestScripts.
		Scripts: template.HTML("<script>" + uplot + "</script>\n<script>" + own + "</script>"),
	}
	return t.ExecuteTemplate(w, name, p)
}

// file returns the contents of files of the page. They are embedded.
func file(names ...string) string {
	var b bytes.Buffer
	for _, name := range names {
		content, err := files.ReadFile("page/" + name)
		if err != nil {
			panic(err)
		}
		b.Write(content)
	}
	return b.String()
}

// hash returns a source of a Content-Security-Policy that allows an element with this content.
func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// colors returns the variables of the style sheet for classes and series.
func colors() string {
	var light, dark, fills strings.Builder
	for c := range analysis.ClassAll {
		look := view.Of(c)
		fmt.Fprintf(&light, "--class-%s:%s;", classCSS(c), look.RGB)
		fmt.Fprintf(&dark, "--class-%s:%s;", classCSS(c), look.Dark)
		fmt.Fprintf(&fills, ".fill-%[1]s{fill:var(--class-%[1]s)} .hatch-%[1]s{fill:url(#hatch-%[1]s)}\n", classCSS(c))
	}
	for i, s := range view.Series() {
		fmt.Fprintf(&light, "--series-%d:%s;", i+1, s.RGB)
		fmt.Fprintf(&dark, "--series-%d:%s;", i+1, s.Dark)
	}
	return "\n:root{" + light.String() + "}\n@media (prefers-color-scheme: dark){:root{" + dark.String() + "}}\n" +
		fills.String()
}
