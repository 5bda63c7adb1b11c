// Stages runs the stages of .ci/run, and says how long each takes.
//
//	stages run NAME COMMAND ARGS...    runs a command
//	stages report                      prints the table of the stages that have run, and names those
//	                                   that cost a fifth more than .ci/times.tsv says
//	stages write                       rewrites .ci/times.tsv
//
// Machines differ in speed, and so does one machine from hour to hour. So the cost of a stage is its
// CPU time divided by that of a fixed computation, which is measured just before it.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A stage is a command that has run.
type stage struct {
	Name    string
	Seconds float64 // of the clock
	Cost    float64 // CPU time in units of the fixed computation
}

var (
	ran   = filepath.Join("bin", "stages.jsonl")
	table = filepath.Join(".ci", "times.tsv")
)

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "stages:", err)
		code = cmp.Or(code, 1)
	}
	os.Exit(code)
}

func run(args []string, out io.Writer) (code int, err error) {
	switch {
	case len(args) > 2 && args[0] == "run":
		return runStage(args[1], args[2:], out)
	case len(args) == 1 && args[0] == "report":
		return 0, report(out)
	case len(args) == 1 && args[0] == "write":
		return 0, write()
	}
	return 2, errors.New("usage: stages run NAME COMMAND ARGS... | report | write")
}

func runStage(name string, command []string, out io.Writer) (code int, err error) {
	unit := fixed()
	fmt.Fprintln(out, "==", name)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	began := time.Now()
	err = cmd.Run()
	s := stage{Name: name, Seconds: time.Since(began).Seconds()}
	if cmd.ProcessState != nil {
		s.Cost = float64(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()) / float64(unit)
	}
	fmt.Fprintf(out, "== %s took %.0f s, cost %.0f\n", s.Name, s.Seconds, s.Cost)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return max(1, exit.ExitCode()), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, remember(s)
}

func remember(s stage) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(ran), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(ran, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	return errors.Join(err, f.Close())
}

func stages() (list []stage, err error) {
	b, err := os.ReadFile(ran)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no stage has run: %s does not exist", ran)
	}
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(b) {
		var s stage
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", ran, err)
		}
		list = append(list, s)
	}
	return list, nil
}

// report prints the table. A stage that costs more than before is named, and fails nothing: the
// machine may be to blame.
func report(out io.Writer) error {
	list, err := stages()
	if err != nil {
		return err
	}
	before, err := readTable()
	if err != nil {
		return err
	}
	sum := 0.0
	var slower []string
	fmt.Fprintf(out, "%-32s %8s %8s %8s\n", "STAGE", "SECONDS", "COST", "BEFORE")
	for _, s := range list {
		sum += s.Seconds
		was := "-"
		if b, ok := before[s.Name]; ok {
			was = fmt.Sprintf("%.0f", b)
			if s.Cost > b*1.2 {
				slower = append(slower, fmt.Sprintf("warning: %s cost %.0f, %.0f %% more than %s says", s.Name, s.Cost, (s.Cost/b-1)*100, filepath.ToSlash(table)))
			}
		}
		fmt.Fprintf(out, "%-32s %8.0f %8.0f %8s\n", s.Name, s.Seconds, s.Cost, was)
	}
	fmt.Fprintf(out, "%-32s %8.0f\n", "all", sum)
	for _, line := range slower {
		fmt.Fprintln(out, line)
	}
	return nil
}

// readTable returns the cost of each stage.
func readTable() (map[string]float64, error) {
	costs := map[string]float64{}
	f, err := os.Open(table)
	if errors.Is(err, fs.ErrNotExist) {
		return costs, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		columns := strings.Split(s.Text(), "\t")
		if strings.HasPrefix(s.Text(), "#") || len(columns) != 3 {
			continue
		}
		cost, err := strconv.ParseFloat(columns[2], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", table, err)
		}
		costs[columns[0]] = cost
	}
	return costs, s.Err()
}

// rowsOfOthers returns the rows of the table for stages that have not run, as after a failure.
func rowsOfOthers(list []stage) (rows string, err error) {
	b, err := os.ReadFile(table)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	for row := range strings.Lines(string(b)) {
		name, _, _ := strings.Cut(row, "\t")
		if !strings.HasPrefix(row, "#") && !slices.ContainsFunc(list, func(s stage) bool { return s.Name == name }) {
			rows += row
		}
	}
	return rows, err
}

func write() error {
	list, err := stages()
	if err != nil {
		return err
	}
	var text strings.Builder
	text.WriteString("# What the stages of .ci/run take: seconds of the clock, and CPU time in units of a fixed computation.\n# make times rewrites this after a run.\n")
	kept, err := rowsOfOthers(list)
	if err != nil {
		return err
	}
	text.WriteString(kept)
	for _, s := range list {
		fmt.Fprintf(&text, "%s\t%.0f\t%.0f\n", s.Name, s.Seconds, s.Cost)
	}
	return os.WriteFile(table, []byte(text.String()), 0o644)
}
