package parquet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// A record is a row of a file as parquet-go reads it: values by column, lists as []string, maps as
// map[string]string. Nulls are absent.
type record map[string]any

// readFile reads a file.
func readFile(t testing.TB, path string) (rows []record, file *parquet.File) {
	t.Helper()
	file = eachRow(t, path, func(r record) { rows = append(rows, r) })
	return rows, file
}

// eachRow calls a function with the rows of a file.
func eachRow(t testing.TB, path string, use func(record)) (file *parquet.File) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err = parquet.OpenFile(f, info.Size())
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	columns := file.Schema().Columns()
	for _, g := range file.RowGroups() {
		reader := g.Rows()
		buf := make([]parquet.Row, 64)
		for {
			n, err := reader.ReadRows(buf)
			for _, r := range buf[:n] {
				use(toRecord(columns, r))
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
		_ = reader.Close()
	}
	return file
}

func toRecord(columns [][]string, r parquet.Row) record {
	x := record{}
	var keys []string
	for _, v := range r {
		path := columns[v.Column()]
		name := path[0]
		switch {
		case v.IsNull() && v.DefinitionLevel() == levelEmpty:
			x[name] = []string{}
		case v.IsNull():
		case len(path) == 3 && path[2] == "element":
			list, _ := x[name].([]string)
			x[name] = append(list, v.String())
		case len(path) == 3 && path[2] == "key":
			keys = append(keys, v.String())
		case len(path) == 3:
			m, _ := x[name].(map[string]string)
			if m == nil {
				m = map[string]string{}
			}
			m[keys[len(m)]] = v.String()
			x[name] = m
		case v.Kind() == parquet.Boolean:
			x[name] = v.Boolean()
		case v.Kind() == parquet.Double:
			x[name] = v.Double()
		case v.Kind() == parquet.ByteArray:
			x[name] = v.String()
		default:
			x[name] = v.Int64()
		}
	}
	return x
}

// readAll reads all files below a folder that match a pattern.
func readAll(t testing.TB, pattern string) (rows []record) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	for _, path := range paths {
		more, _ := readFile(t, path)
		rows = append(rows, more...)
	}
	return rows
}

// ids returns the ids of rows, sorted.
func ids(rows []record) (list []string) {
	for _, r := range rows {
		list = append(list, fmt.Sprint(r["gclog_doc_id"]))
	}
	slices.Sort(list)
	return list
}
