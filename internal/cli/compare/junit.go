package compare

import (
	"encoding/xml"
	"fmt"
	"io"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/view"
)

// The elements of JUnit's XML that Jenkins, GitLab and the actions for GitHub read: a test suite is
// a check, a test case is a condition.
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      string      `xml:"time,attr"` // seconds
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// checkReport finds problems with the file of a report before anything is read.
func (p *commands) checkReport(path string, given bool, inputs []string) error {
	switch {
	case !given:
		return nil
	case path == "":
		return exit.Usagef("--junit needs the name of a file")
	case output.IsStream(path):
		return exit.Usagef("--junit %s: it must be a file: standard output is used for the conditions", path)
	}
	if err := outfile.NotInput(path, inputs...); err != nil {
		return err
	}
	return outfile.Check(p.Run, path)
}

// writeJUnit writes the report of a check, completely or not at all. damage is the error of reading
// the input.
func writeJUnit(path string, h *history.History, verdicts []verdict, damage error) error {
	b, err := xml.MarshalIndent(junitReport(h, verdicts, damage), "", "  ")
	if err != nil {
		return err
	}
	_, err = outfile.Write(path, outfile.ReportMode, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s%s\n", xml.Header, b)
		return err
	})
	return err
}

func junitReport(h *history.History, verdicts []verdict, damage error) *junitSuites {
	suite := junitSuite{
		Name: "gclog check " + h.Source(), Tests: len(verdicts), Time: "0",
		Timestamp: h.Process.Time(h.Begin).UTC().Format("2006-01-02T15:04:05"),
	}
	for i := range verdicts {
		v := &verdicts[i]
		x := junitCase{Name: v.Text, Class: "gclog." + v.parts[0].actual[0].Name, Time: "0"}
		switch v.result {
		case verdictFailed:
			suite.Failures++
			x.Failure = &junitProblem{
				v.explain(), "limit", fmt.Sprintf("%s\nthe check fails if %s", v.explain(), v.Text),
			}
		case verdictError:
			suite.Errors++
			x.Error = &junitProblem{v.explain(), "unknown", v.explain()}
		default:
			x.Out = v.explain()
		}
		suite.Cases = append(suite.Cases, x)
	}
	if damage != nil { // the conditions were evaluated on a part of it
		text := view.Clean(damage.Error())
		suite.Tests++
		suite.Errors++
		suite.Cases = append(suite.Cases, junitCase{
			Name: "the input is complete", Class: "gclog.input", Time: "0",
			Error: &junitProblem{text, "damaged", text},
		})
	}
	return &junitSuites{Suites: []junitSuite{suite}}
}
