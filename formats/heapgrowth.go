package formats

import (
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
)

const (
	// growthTypes is how many types a sentence names.
	growthTypes = 3
	// growthName is how much of the name of a type it contains, in characters.
	growthName = 100
)

// GrowthText returns a sentence about what grew. It contains no characters that a terminal acts on.
func GrowthText(g *gclog.HeapGrowth) string {
	if len(g.Types) == 0 {
		return "no type has grown since the first heap snapshot"
	}
	var b strings.Builder
	b.WriteString("since the first heap snapshot ")
	for i := range g.Types[:min(growthTypes, len(g.Types))] {
		t := &g.Types[i]
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(OneLine(t.Type, growthName))
		if i == 0 {
			b.WriteString(" has grown by ")
		} else {
			b.WriteString(" by ")
		}
		b.WriteString(SizeText(max(0, t.BytesDiff)))
		if t.EveryTime {
			b.WriteString(" (every time)")
		}
	}
	return b.String()
}

func (j *jsonFormat) heapGrowth(dst []byte, g *gclog.HeapGrowth) []byte {
	o := j.begin(dst, g, len(g.Types) > 0, func(b []byte) []byte {
		quoted := appendJSONString(nil, GrowthText(g))
		return append(b, quoted[1:len(quoted)-1]...)
	})
	j.event(&o, "event", "gc-heap-growth")
	o.close()
	j.about(&o, g.At)
	o.open("heap")
	o.openList("snapshots")
	for i := range g.Snapshots {
		s := &g.Snapshots[i]
		o.openElement()
		o.text("file", s.File)
		if !s.Time.IsZero() {
			o.text("time", s.Time.UTC().Format("2006-01-02T15:04:05.000000000Z"))
		}
		o.close()
	}
	o.closeList()
	o.openList("growth")
	for i := range g.Types {
		t := &g.Types[i]
		o.openElement()
		o.text("type", t.Type)
		o.uint("objects", t.Objects)
		o.uint("bytes", t.Bytes)
		o.int("objects_diff", t.ObjectsDiff)
		o.int("bytes_diff", t.BytesDiff)
		o.bool("grew_every_time", t.EveryTime)
		o.close()
	}
	o.closeList()
	o.close()
	o.close()
	return j.rest(&o)
}

func (t *textFormat) heapGrowth(dst []byte, g *gclog.HeapGrowth) []byte {
	dst = t.begin(dst, g.At)
	t.line = append(append(t.line, "  ! "...), GrowthText(g)...)
	return t.finish(dst, screen.Alarm)
}
