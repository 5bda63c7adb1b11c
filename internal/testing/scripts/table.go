//go:build linux

package scripts

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"
)

// cmdTable prints the rows of Parquet files, sorted: the values of some columns, separated by spaces.
// A missing one is -.
func cmdTable(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "table COLUMN,... FILES")
	files, err := filepath.Glob(ts.MkAbs(args[1]))
	ts.Check(err)
	var lines []string
	for _, name := range files {
		rows, err := readTable(name, strings.Split(args[0], ","))
		ts.Check(err)
		lines = append(lines, rows...)
	}
	slices.Sort(lines)
	fmt.Fprintln(ts.Stdout(), strings.Join(lines, "\n"))
}

// readTable returns the values of columns of a file, a line for each row.
func readTable(name string, columns []string) (lines []string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var numbers []int
	for _, name := range columns {
		leaf, there := file.Schema().Lookup(name)
		if !there {
			return nil, fmt.Errorf("no column %s", name)
		}
		numbers = append(numbers, leaf.ColumnIndex)
	}
	buf := make([]parquet.Row, 100)
	for _, g := range file.RowGroups() {
		rows := g.Rows()
		defer rows.Close()
		for {
			n, err := rows.ReadRows(buf)
			for _, r := range buf[:n] {
				line := slices.Repeat([]string{"-"}, len(columns))
				for _, v := range r {
					if i := slices.Index(numbers, v.Column()); i >= 0 && !v.IsNull() {
						line[i] = v.String()
					}
				}
				lines = append(lines, strings.Join(line, " "))
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return lines, nil
}
