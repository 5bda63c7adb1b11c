package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
)

// logs reads the files of logs, and returns what was wrong with them. Those of one
// process in one format are one log. observe is told of each process, and returns who
// observes it, nil if nobody does; over tells whether the rest is not wanted: by io.EOF,
// or another error.
func (x *inputs) logs(observe func(*gclog.Process) logs.Observer, over func() error) error {
	readers := map[series]*logs.Reader{}
	var order []*logs.Reader
	names := map[*logs.Reader][]string{} // of the files that each has read
	said := map[string]bool{}
	var all error
	for _, in := range x.list {
		key := in.series()
		r := readers[key]
		if r == nil {
			var err error
			if r, err = logs.NewReader(in.log, observe); err != nil {
				return err
			}
			readers[key] = r
			order = append(order, r)
		}
		if !said[in.log.Format] {
			said[in.log.Format] = true
			if x.converts {
				x.sayf("%s: %s", in.name, logs.Lacks(in.log.Format))
			}
			if !in.log.Dated {
				x.sayf("%s has no dates: its times count from the begin of 1970", in.name)
			}
		}
		names[r] = append(names[r], in.name)
		err := x.log(r, in, over)
		if overlap, ok := errors.AsType[*logs.OverlapError](err); ok {
			all = errors.Join(all, overlapping(overlap, names[r]))
			break
		}
		if err != nil {
			all = errors.Join(all, fmt.Errorf("%s: %w", in.name, err))
		}
		if err := over(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	for _, r := range order {
		r.Finish()
	}
	x.sayMore()
	return all
}

// overlapping refuses the newest of the files, which tells what was told before.
func overlapping(e *logs.OverlapError, names []string) error {
	name, before := names[len(names)-1], names[e.Before]
	if name == before {
		return fmt.Errorf("%s: %w: it is a log twice, or of sessions at the same time: take what each has written by itself", name, e)
	}
	return fmt.Errorf("%s: %w, after %s: take them one by one", name, e, before)
}

// log reads one file.
func (x *inputs) log(r *logs.Reader, in *input, over func() error) error {
	text, err := in.rest(&x.read)
	if err != nil {
		return err
	}
	skipped, err := r.Read(&stoppable{text, over})
	if !x.quiet {
		x.skipped += skipped.Count
	}
	if skipped.Count > 0 {
		var lines []string
		for _, n := range skipped.Lines {
			lines = append(lines, strconv.FormatInt(n, 10))
		}
		more := ""
		if int64(len(lines)) < skipped.Count {
			more = ", ..."
		}
		what := "lines are damaged or none of gclog's and were left out: lines "
		if skipped.Count == 1 {
			what = "line is damaged or none of gclog's and was left out: line "
		}
		x.sayf("%s: %d %s%s%s", in.name, skipped.Count, what, strings.Join(lines, ", "), more)
	}
	return err
}

// sayMore says that one file of a rotated log is not all of it.
func (x *inputs) sayMore() {
	if len(x.list) > 1 || x.list[0].file == nil {
		return
	}
	name := x.list[0].name
	if list := formats.Archived(name); len(list) > 0 {
		files := "files"
		if len(list) == 1 {
			files = "file"
		}
		x.sayf("%s has %d older %s beside it, such as %s: name all to have the whole log", name, len(list), files, list[0])
	}
}

// A stoppable is a text that ends where nobody takes what is made of it.
type stoppable struct {
	r    io.Reader
	over func() error
}

func (s *stoppable) Read(p []byte) (int, error) {
	if s.over() != nil {
		return 0, io.EOF
	}
	return s.r.Read(p)
}
