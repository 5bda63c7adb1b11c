package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/gclog/gclog/internal/cause"
)

// DefaultFile is the configuration that is used if none is given.
const DefaultFile = "/etc/gclog/gclog.yaml"

// FileVariable is the environment variable that names a configuration.
const FileVariable = "GCLOG_CONFIG"

// maxFile is the maximum length of a configuration, in bytes.
const maxFile = 1 << 20

// A Loaded is a Config that was read and is consistent, with the origin of each of its values.
type Loaded struct {
	Config
	File     string   // the file it was read from; "" if there was none
	Warnings []string // sentences for people about what is allowed but probably not intended
	origins  map[string]origin
}

// An origin is where a value came from; the zero value means a default.
type origin struct {
	file         string
	line, column int
	variable     string
}

func (o origin) String() string {
	switch {
	case o.variable != "":
		return "environment " + o.variable
	case o.file != "":
		return fmt.Sprintf("%s:%d", o.file, o.line)
	}
	return "default"
}

// A problem is something wrong with the value of a key, or with a whole file.
type problem struct {
	at   origin
	path string
	text string
}

func (p problem) Error() string {
	s := p.text
	if p.path != "" {
		s = p.path + ": " + s
	}
	switch at := p.at; {
	case at.variable != "":
		return at.variable + ": " + s
	case at.line > 0:
		return fmt.Sprintf("%s:%d:%d: %s", at.file, at.line, at.column, s)
	case at.file != "":
		return at.file + ": " + s
	}
	return s
}

// Find returns the file to use: path, if given, otherwise that of the variable FileVariable,
// otherwise DefaultFile if it exists; "" if there is none.
func Find(path string, environ []string) string {
	if path != "" {
		return path
	}
	for _, e := range environ {
		if value, ok := strings.CutPrefix(e, FileVariable+"="); ok && value != "" {
			return value
		}
	}
	if _, err := os.Stat(DefaultFile); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return DefaultFile
}

// Load reads a file and applies the variables of environ, which has the form of os.Environ. Without
// a path there are only the variables and the defaults. The error joins everything that is wrong,
// one sentence each.
func Load(path string, environ []string) (*Loaded, error) {
	var data []byte
	if path != "" {
		var err error
		if data, err = read(path); err != nil {
			return nil, err
		}
	}
	return parse(path, data, environ)
}

// read reads a configuration file.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the configuration %s does not exist", path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration %s: %w", path, cause.Of(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case errors.Is(err, syscall.EISDIR):
		return nil, fmt.Errorf("the configuration %s is a directory: name the file in it", path)
	case err != nil:
		return nil, fmt.Errorf("cannot read the configuration %s: %w", path, cause.Of(err))
	case len(data) > maxFile:
		return nil, fmt.Errorf("the configuration %s is larger than %d KB: it is probably another file",
			path, maxFile>>10)
	}
	return data, nil
}

// A loader fills a Config.
type loader struct {
	file     string
	origins  map[string]origin
	problems []problem
}

// maxProblems is how many problems are reported.
const maxProblems = 50

func parse(file string, data []byte, environ []string) (*Loaded, error) {
	l := &loader{file: file, origins: map[string]origin{}}
	loaded := &Loaded{Config: *defaults(), File: file, origins: l.origins}
	root := reflect.ValueOf(&loaded.Config).Elem()
	if file != "" {
		l.document(data, root)
	}
	l.environment(environ, root)
	loaded.forgetPath(l.origins)
	loaded.complete()
	if len(l.problems) == 0 { // otherwise half of it may be missing
		loaded.check(l)
	}
	if len(l.problems) > 0 {
		return nil, l.err()
	}
	return loaded, nil
}

func (l *loader) wrong(at origin, path, format string, args ...any) {
	l.problems = append(l.problems, problem{at, path, fmt.Sprintf(format, args...)})
}

// err joins the problems, in the order of the file.
func (l *loader) err() error {
	if i := slices.IndexFunc(l.problems, func(p problem) bool { return p.path == "version" }); i >= 0 {
		return l.problems[i] // the others may be valid in another version
	}
	slices.SortStableFunc(l.problems, func(a, b problem) int {
		if a.at.line != b.at.line {
			return a.at.line - b.at.line
		}
		return a.at.column - b.at.column
	})
	var all []error
	for i, p := range l.problems {
		if i == maxProblems {
			all = append(all, fmt.Errorf("and %d more problems", len(l.problems)-i))
			break
		}
		all = append(all, p)
	}
	return errors.Join(all...)
}
