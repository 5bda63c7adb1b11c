package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
)

// pageData is what the scripts of the page know besides the tables.
type pageData struct {
	Sync    int64       `json:"sync"`   // Unix time of time stamp 0 in milliseconds
	Offset  int         `json:"offset"` // of the time zone in seconds
	Zone    string      `json:"zone"`
	From    int64       `json:"from"` // the window, as time stamps in nanoseconds
	To      int64       `json:"to"`
	Command string      `json:"command"`
	GCs     packedTable `json:"gcs"`
	Pauses  packedTable `json:"pauses"`
	Classes []classData `json:"classes"`
	Gaps    []gap       `json:"gaps"`
	Marks   []mark      `json:"marks"` // heap snapshots
	// Explained are the rows whose explanations are in the page, in their order.
	Explained []int `json:"explained"`
	Snapshots int   `json:"snapshots"`
	Stacks    bool  `json:"stacks"` // there is an icicle of allocations
	History   bool  `json:"history"`
	Picture   bool  `json:"picture"` // only the charts of a picture
	Limit     int64 `json:"limit"`   // the hard limit of the heap in bytes; 0: none is known
	// Thresholds are the lengths of pauses that stand out, in nanoseconds.
	Thresholds []int64 `json:"thresholds"`
}

// classData is how a class is named and drawn.
type classData struct {
	ID    string `json:"id"` // in the column class
	CSS   string `json:"css"`
	Title string `json:"title"`
	Shape string `json:"shape"`
}

// A mark is a moment on the time line.
type mark struct {
	At   int64  `json:"at"`
	Text string `json:"text"`
}

// records fills in the tables and the explanations.
func (d *Data) records(in *Input) {
	r := in.Records
	explained := r.explained()
	r.gcs.finish()
	r.pauses.finish()
	r.gcs.sort("start")
	r.pauses.sort("start")
	d.figures(in)
	if n := r.gcs.rows(); n < r.gcs.added {
		d.Thinned = fmt.Sprintf(
			"The table and the charts show %s of %s collections: of each few consecutive ones those with the longest "+
				"pause, the largest heap and the highest allocation rate. All other numbers are of all collections.",
			thousands(n), thousands(r.gcs.added))
	}
	sync := in.Process.Sync
	zone, offset := sync.Zone()
	p := pageData{
		Snapshots: len(in.Snapshots), History: true, Sync: sync.UnixMilli(), Offset: offset, Zone: zone,
		From: in.Summary.Window.From, To: in.Summary.Window.To, Command: view.OneLine(in.Command),
		Gaps: append([]gap{}, r.gaps...), Marks: []mark{}, Explained: []int{},
	}
	if in.Process.HasLimits {
		p.Limit = int64(min(in.Process.Limits.HardLimit, mostSafe))
	}
	for _, l := range view.Lengths()[1:] {
		p.Thresholds = append(p.Thresholds, l.From)
	}
	for c := range analysis.ClassAll {
		p.Classes = append(p.Classes, classData{c.String(), classCSS(c), view.ClassTitle(c), view.Of(c).Shape})
	}
	for _, s := range in.Snapshots {
		if !s.Time.IsZero() {
			text := "heap snapshot " + filepath.Base(s.Name)
			if s.Other != "" {
				text += fmt.Sprintf(" of process %d", s.PID)
			}
			p.Marks = append(p.Marks, mark{int64(s.Time.Sub(sync) / time.Nanosecond), text})
		}
	}
	var columns []byte
	p.GCs, columns = packTable(r.gcs)
	d.tables = columns
	p.Pauses, columns = packTable(r.pauses)
	d.tables = append(d.tables, columns...)

	row := map[int]int{}
	for i, id := range r.gcs.ids {
		row[id] = i
	}
	context := analysis.Context{Process: in.Process, Begin: in.Begin, HasBegin: true, Log: in.Format, Peers: r.peers}
	list := []*explanation{}
	for _, k := range explained {
		p.Explained = append(p.Explained, row[k.id])
		e := analysis.Explain(k.d, context)
		list = append(list, newExplanation(k.d, &e))
	}
	d.page = p
	d.told, _ = json.Marshal(list) // plain data
}

// explained returns the records to explain: those that findings name, and the longest.
func (r *Recorder) explained() []kept {
	r.forget()
	slices.SortFunc(r.kept, func(a, b kept) int { return cmp.Compare(a.id, b.id) })
	return r.kept
}

// thousands formats a large number.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
