package report

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
)

// Columns are in the page as JSON arrays, a line for each, with null for what is unknown. All lines are one
// deflate stream in base64. page/unpack.js reads them.

// A packedTable describes the columns of a table to the scripts of the page.
type packedTable struct {
	Rows    int            `json:"rows"`
	Columns []packedColumn `json:"columns"`
}

type packedColumn struct {
	Key   string   `json:"key"`
	Title string   `json:"title,omitempty"`
	Unit  string   `json:"unit,omitempty"`
	Group string   `json:"group,omitempty"`
	Doc   string   `json:"doc,omitempty"`
	Scale int      `json:"scale"`
	Names []string `json:"names,omitempty"`
	Base  []string `json:"base,omitempty"`
	Known int      `json:"known"` // rows with a value
}

// packTable returns the layout of a table, and its columns.
func packTable(t *table) (packedTable, []byte) {
	p := packedTable{Rows: t.rows(), Columns: []packedColumn{}}
	var all []byte
	for i := range t.columns {
		c := &t.columns[i]
		known := 0
		all, known = appendColumn(all, t.rest(i))
		p.Columns = append(p.Columns,
			packedColumn{c.Key, c.Title, c.Unit, c.Group, c.Doc, max(1, c.Scale), t.names[i].list, c.Base, known})
	}
	return p, all
}

// rest returns the values of a column without those of its base.
func (t *table) rest(column int) []int64 {
	values := t.values[column]
	if len(t.columns[column].Base) == 0 {
		return values
	}
	rest := slices.Clone(values)
	for _, key := range t.columns[column].Base {
		key, before := strings.CutPrefix(key, previous)
		c := t.column(key)
		if c < 0 {
			continue
		}
		base := t.values[c]
		if before {
			base = slices.Concat([]int64{unknown}, base)
		}
		for i := range rest {
			if rest[i] != unknown && base[i] != unknown {
				rest[i] -= base[i]
			}
		}
	}
	return rest
}

// appendColumn appends the line of a column, and counts the values that are known.
func appendColumn(dst []byte, values []int64) (_ []byte, known int) {
	dst = append(dst, '[')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v == unknown {
			dst = append(dst, "null"...)
			continue
		}
		dst = strconv.AppendInt(dst, v, 10)
		known++
	}
	return append(dst, "]\n"...), known
}

// deflated returns data compressed, in base64.
func deflated(data []byte) string {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression) // the level is valid
	_, _ = w.Write(data)                               // a Buffer takes everything
	_ = w.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}
