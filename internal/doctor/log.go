package doctor

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/unpack"
)

// A logTally is what a log holds of one process.
type logTally struct {
	tally
	numbers numbers
	starts  int64
	ends    int64
	pauses  int64
}

// GC implements gclog.Observer.
func (t *logTally) GC(d *gclog.GCDetails) {
	t.tally.GC(d)
	if d.HasNumber && d.Flaws&gclog.FlawNoStart == 0 {
		t.numbers.add(d.Number)
	}
}

// Pause implements gclog.Observer.
func (t *logTally) Pause(*gclog.Pause) { t.pauses++ }

// Start implements logs.Observer.
func (t *logTally) Start(*formats.Start) { t.starts++ }

// Stall implements logs.Observer.
func (t *logTally) Stall(*gclog.Stall) {}

// Suspension implements logs.Observer.
func (t *logTally) Suspension(*gclog.Suspension) {}

// End implements logs.Observer.
func (t *logTally) End(*formats.End) { t.ends++ }

// numbers finds out which numbers of collections are missing. They come nearly in order:
// a background collection is told behind those that ran in it.
type numbers struct {
	last    uint32
	seen    bool
	missing []uint32 // the newest of those that have not come yet
	count   uint64   // all of them
}

func (n *numbers) add(number uint32) {
	const most = 1024 // further than that no background collection is behind
	switch {
	case !n.seen:
		n.last, n.seen = number, true
	case number > n.last:
		n.count += uint64(number-n.last) - 1
		for m := max(n.last+1, number-min(number, most)); m < number; m++ {
			n.missing = append(n.missing, m)
		}
		n.missing = n.missing[max(0, len(n.missing)-most):]
		n.last = number
	default:
		if i := slices.Index(n.missing, number); i >= 0 {
			n.missing = slices.Delete(n.missing, i, i+1)
			n.count--
		}
	}
}

// A logFile is one file of a log.
type logFile struct {
	name string
	head logs.Head
}

// log reads a log of gclog. Of one that has been rotated it reads all files if name is
// the current one.
func (r *Report) log(name string, h logs.Head) {
	r.fact("format", "%s", h.Format)
	files := []logFile{{name: name, head: h}}
	archived := formats.Archived(name)
	if from := formats.ArchivedFrom(name); from != name {
		r.add(Note, "rotated", "it is one file of the log %s", from)
	} else if len(archived) > 0 {
		r.add(Note, "rotated", "%d older files are beside it and were read too, such as %s", len(archived), filepath.Base(archived[0]))
		for _, a := range archived {
			if f, ok := r.older(a, h.Format); ok {
				files = append(files, f)
			}
		}
		slices.SortStableFunc(files, func(a, b logFile) int {
			if c := a.head.Time.Compare(b.head.Time); c != 0 || (a.name == name) == (b.name == name) {
				return c
			}
			if a.name == name {
				return 1
			}
			return -1
		})
	}
	var tallies []*logTally
	reader, err := logs.NewReader(h, func(p *gclog.Process) logs.Observer {
		t := &logTally{tally: tally{process: p}}
		tallies = append(tallies, t)
		return t
	})
	if err != nil {
		r.fail("not-ours", "%v", err)
		return
	}
	for _, f := range files {
		r.logFile(reader, f.name)
	}
	reader.Finish()
	r.firstOf(files[0].name)
	r.logTotals(h, tallies)
}

// older looks at a file that was rotated away.
func (r *Report) older(name, format string) (lf logFile, ok bool) {
	f, err := os.Open(name)
	if err != nil {
		r.add(Failure, "unreadable", "%s cannot be read: %v", filepath.Base(name), err)
		return lf, false
	}
	defer f.Close()
	head, err := headOf(f)
	h, known := logs.Recognize(head)
	if err != nil || !known || h.Format != format {
		if len(head) > 0 || err != nil {
			r.add(Warning, "foreign-lines", "%s is not of the same log", filepath.Base(name))
		}
		return lf, false
	}
	return logFile{name: name, head: h}, true
}

// An ending remembers the last byte of a text.
type ending struct {
	r    io.Reader
	last byte
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if n > 0 {
		e.last = p[n-1]
	}
	return n, err
}

// logFile reads one file.
func (r *Report) logFile(reader *logs.Reader, name string) {
	f, err := os.Open(name)
	if err != nil {
		r.add(Failure, "unreadable", "%s cannot be read: %v", filepath.Base(name), err)
		return
	}
	defer f.Close()
	src, err := unpack.Reader(f)
	if err != nil {
		r.unread(filepath.Base(name)+" ", err)
		return
	}
	text := &ending{r: src}
	skipped, err := reader.Read(text)
	if err != nil {
		r.unread(filepath.Base(name)+" ", err)
	} else if text.last != '\n' && text.last != 0 {
		r.add(Failure, "torn-line", "%s ends in the middle of a line", filepath.Base(name))
	}
	if skipped.Count > 0 {
		r.add(Warning, "foreign-lines", "%s has %s", filepath.Base(name), skippedText(&skipped))
	}
}

func skippedText(s *logs.Skipped) string {
	lines := strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Lines), " ", ", "), "[]")
	if int64(len(s.Lines)) < s.Count {
		lines += ", ..."
	}
	if s.Count == 1 {
		return "1 line that is damaged or none of gclog's: line " + lines
	}
	return fmt.Sprintf("%d lines that are damaged or none of gclog's: lines %s", s.Count, lines)
}

// numberOfFile is in the header record of JSON.
var numberOfFile = regexp.MustCompile(`"message":"gclog [^"]*, file ([0-9]+) of this session"`)

// firstOf looks whether the oldest file of a log is the first of its session.
func (r *Report) firstOf(name string) {
	f, err := os.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	head, _ := headOf(f)
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if m := numberOfFile.FindSubmatch(line); m != nil && string(m[1]) != "1" {
		r.add(Note, "rotated-incomplete", "%s is the file %s of its session: those before it are not here", filepath.Base(name), m[1])
	}
}

// logTotals says what the log holds in all.
func (r *Report) logTotals(h logs.Head, tallies []*logTally) {
	var list []*gclog.Process
	gaps := map[string]int64{}
	var all logTally
	unended := int64(0)
	for _, t := range tallies {
		list = append(list, t.process)
		all.gcs += t.gcs
		all.background += t.background
		all.incomplete += t.incomplete
		all.pauses += t.pauses
		unended += max(0, t.starts-t.ends) // the begin may be in a file that has been deleted
		all.numbers.count += t.numbers.count
		for reason, n := range t.gaps {
			gaps[reason] += n
		}
	}
	r.processes(list)
	r.fact("records", "%d collections, %d of them background, %d incomplete; %d pauses", all.gcs, all.background, all.incomplete, all.pauses)
	r.fact("lacks", "%s", logs.Lacks(h.Format))
	if len(gaps) > 0 {
		var reasons []string
		for reason, n := range gaps {
			reasons = append(reasons, fmt.Sprintf("%s %d", reason, n))
		}
		slices.Sort(reasons)
		r.add(Warning, "gaps", "the log tells of gaps: %s", strings.Join(reasons, ", "))
	}
	if unended > 0 {
		r.add(Note, "no-session-end", "%d sessions have no end", unended)
	}
	if all.numbers.count > 0 {
		r.add(Warning, "missing-gcs", "the numbers of %d collections are missing", all.numbers.count)
	}
}
