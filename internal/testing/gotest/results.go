package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// An event is a line of go test -json: see go doc test2json.
type event struct {
	Action, Package, Test, Output string
	ImportPath                    string // of a package that is built
	Elapsed                       float64
}

// results are what the tests of a run have said so far.
type results struct {
	root     string // the path of the repository; "" leaves paths as they are
	packages map[string]*packageResult
	lines    []string // go test's own, of the packages, in order
}

type packageResult struct {
	name    string
	running map[string]*testResult
	failed  []*testResult // in the order in which they ended
	skipped []*testResult
	output  []string // of no test
	shuffle string   // the seed of the order; "": as written
	ended   string   // pass, fail, skip
}

type testResult struct {
	name   string
	output []string
}

func newResults(root string) *results {
	return &results{root: root, packages: map[string]*packageResult{}}
}

// read reads events to their end. It prints what is not of a package, and the failures of a package
// when that has ended.
func (r *results) read(from io.Reader, to io.Writer, progress func(string)) error {
	lines := bufio.NewReader(from)
	ended := 0
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break // a last line without end is of a go test that was killed
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			fmt.Fprintf(to, "%s", line)
			continue
		}
		switch {
		case e.Action == "build-output":
			fmt.Fprint(to, e.Output)
		case e.Package == "":
		case e.Test == "":
			p := r.ofPackage(e)
			if p.ended != "" {
				ended++
				progress("")
				p.printFailures(to)
			}
		default:
			r.of(e.Package).ofTest(e, r.relative(e.Output))
		}
		progress(r.status(ended))
	}
	progress("")
	return nil
}

func (r *results) status(ended int) string {
	var running []string
	for name, p := range r.packages {
		if p.ended == "" {
			running = append(running, short(name))
		}
	}
	slices.Sort(running)
	return fmt.Sprintf("%d packages tested, running: %s", ended, strings.Join(running, " "))
}

func (r *results) of(name string) *packageResult {
	p := r.packages[name]
	if p == nil {
		p = &packageResult{name: name, running: map[string]*testResult{}}
		r.packages[name] = p
	}
	return p
}

// relative names files relative to the repository.
func (r *results) relative(text string) string {
	if r.root == "" {
		return text
	}
	return strings.ReplaceAll(text, r.root, "")
}

// last matches the lines with which go test ends the output of a package.
var last = regexp.MustCompile(`^(ok  |FAIL|\?   )\t`)

func (r *results) ofPackage(e event) *packageResult {
	p := r.of(e.Package)
	switch e.Action {
	case "output":
		switch {
		case last.MatchString(e.Output):
			r.lines = append(r.lines, strings.TrimSuffix(e.Output, "\n"))
		case strings.HasPrefix(e.Output, "-test.shuffle "):
			p.shuffle = strings.TrimSpace(strings.TrimPrefix(e.Output, "-test.shuffle "))
		case e.Output != "PASS\n" && e.Output != "FAIL\n":
			p.output = append(p.output, r.relative(e.Output))
		}
	case "pass", "fail", "skip":
		p.ended = e.Action
	}
	return p
}

// noise are the lines that say only that a test runs.
var noise = regexp.MustCompile(`^=== (RUN|PAUSE|CONT|NAME) `)

func (p *packageResult) ofTest(e event, output string) {
	t := p.running[e.Test]
	if t == nil {
		t = &testResult{name: e.Test}
		p.running[e.Test] = t
	}
	switch e.Action {
	case "output":
		if !noise.MatchString(output) {
			t.output = append(t.output, output)
		}
		return
	case "fail":
		p.failed = append(p.failed, t)
	case "skip":
		p.skipped = append(p.skipped, t)
	case "pass":
	default:
		return
	}
	delete(p.running, e.Test)
}

// printFailures prints what a failed package has said. A test that has neither passed nor failed ran
// when the program ended.
func (p *packageResult) printFailures(to io.Writer) {
	if p.ended != "fail" {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(p.running)) {
		fmt.Fprintf(to, "--- %s was still running when the program exited\n", name)
		p.failed = append(p.failed, p.running[name])
	}
	clear(p.running)
	slices.SortStableFunc(p.failed, func(a, b *testResult) int { return strings.Compare(a.name, b.name) })
	for _, t := range p.failed {
		fmt.Fprint(to, strings.Join(t.outcomeFirst(), ""))
	}
	fmt.Fprint(to, strings.Join(p.output, ""))
	how := []string{"FAIL", short(p.name)}
	if p.shuffle != "" {
		how = append(how, "-shuffle="+p.shuffle)
	}
	if seed := p.seed(); seed != "" {
		how = append(how, "GCLOG_SEED="+seed)
	}
	fmt.Fprintln(to, strings.Join(how, " ")+" (make again)")
}

// outcomeFirst returns what a test said, with its name at the top as go test does without -v.
func (t *testResult) outcomeFirst() []string {
	isOutcome := func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "--- FAIL") }
	i := slices.IndexFunc(t.output, isOutcome)
	if i < 0 {
		return t.output
	}
	return slices.Concat(t.output[i:i+1], t.output[:i], t.output[i+1:])
}

// seed returns the seed that the failed tests of a package name, and "" if they name none or several.
func (p *packageResult) seed() (seed string) {
	named := regexp.MustCompile(`GCLOG_SEED=(\d+)`)
	for _, t := range p.failed {
		for _, line := range t.output {
			if m := named.FindStringSubmatch(line); m != nil {
				if seed != "" && seed != m[1] {
					return ""
				}
				seed = m[1]
			}
		}
	}
	return seed
}

// place matches what go test writes before the text of a log.
var place = regexp.MustCompile(`^\s+\S+\.go:\d+: `)

func (t *testResult) reason() string {
	var words []string
	for _, line := range t.output {
		if !strings.HasPrefix(strings.TrimSpace(line), "--- SKIP") {
			words = append(words, strings.TrimSpace(place.ReplaceAllString(line, "")))
		}
	}
	if len(words) == 0 {
		return "no reason given"
	}
	return words[len(words)-1]
}

// printSkipped prints one list of the tests that were skipped, by reason.
func (r *results) printSkipped(to io.Writer) {
	byReason := map[string]map[string][]string{} // reason, package, names
	for _, p := range r.packages {
		for _, t := range p.skipped {
			reason := t.reason()
			if byReason[reason] == nil {
				byReason[reason] = map[string][]string{}
			}
			byReason[reason][short(p.name)] = append(byReason[reason][short(p.name)], t.name)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		fmt.Fprintf(to, "skipped: %s\n", reason)
		for _, name := range slices.Sorted(maps.Keys(byReason[reason])) {
			tests := byReason[reason][name]
			slices.Sort(tests)
			printWrapped(to, "    "+name+": ", tests)
		}
	}
}

// printWrapped prints words in lines of 80 columns.
func printWrapped(to io.Writer, line string, words []string) {
	const width = 80
	for i, word := range words {
		if i < len(words)-1 {
			word += ","
		}
		if len(line)+len(word) > width && i > 0 {
			fmt.Fprintln(to, strings.TrimRight(line, " "))
			line = "        "
		}
		line += word + " "
	}
	fmt.Fprintln(to, strings.TrimRight(line, " "))
}

// printLines prints go test's own summary.
func (r *results) printLines(to io.Writer) {
	failed := false
	for _, line := range r.lines {
		fmt.Fprintln(to, line)
		failed = failed || strings.HasPrefix(line, "FAIL")
	}
	if failed {
		fmt.Fprintln(to, "FAIL")
	}
}

// short returns the path of a package within the module, "." for its root.
func short(name string) string {
	const module = "github.com/gclog/gclog"
	if name == module {
		return "."
	}
	return strings.TrimPrefix(name, module+"/")
}
