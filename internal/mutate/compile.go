package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A program with changes has the number of the active one at the end of its name and in its
// environment: a process that it starts from its own file, or from a copy of it, makes the same
// change.
const (
	changedName = "changed"
	changeEnv   = "GCLOG_MUTATE_CHANGE"
)

// selection is a file that is added to a package, so that it knows the number of the change.
const selection = `package %s

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

var selectedChange = func() int {
	name, _ := os.Executable()
	n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(name), "` + changedName + `"))
	if err != nil {
		n, _ = strconv.Atoi(os.Getenv("` + changeEnv + `"))
	}
	return n
}()
`

// An overlay makes the go command use other content for some files.
type overlay struct {
	dir     string
	replace map[string]string
}

func newOverlay(dir string) (*overlay, error) {
	return &overlay{dir, make(map[string]string)}, os.MkdirAll(dir, 0o755)
}

// put sets the content of a file of the module.
func (o *overlay) put(file string, content []byte) error {
	abs, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	name := filepath.Join(o.dir, flat(file))
	o.replace[abs] = name
	return os.WriteFile(name, content, 0o600)
}

// flat turns a path into a single name.
func flat(path string) string { return strings.ReplaceAll(path, "/", "_") }

// run runs the go command, and returns its output.
func (o *overlay) run(ctx context.Context, args ...string) ([]byte, error) {
	content, err := json.Marshal(map[string]any{"Replace": o.replace})
	if err != nil {
		return nil, err
	}
	name := filepath.Join(o.dir, "overlay.json")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		return nil, err
	}
	last := len(args) - 1
	args = append(args[:last:last], "-overlay", name, args[last])
	return exec.CommandContext(ctx, "go", args...).CombinedOutput()
}

var errCompile = errors.New("does not compile")

// alone returns an overlay with one change that is always active.
func alone(ctx context.Context, dir string, c change) (*overlay, error) {
	o, err := newOverlay(dir)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(c.file)
	if err != nil {
		return nil, err
	}
	if err := o.put(c.file, c.apply(content)); err != nil {
		return nil, err
	}
	pkg := filepath.Dir(c.file)
	said, err := o.run(ctx, "build", "./"+pkg)
	if err != nil && bytes.Contains(said, []byte("# "+module+"/"+pkg+"\n")) { // a compiler error, perhaps in another file
		return nil, errCompile
	}
	return o, failure(ctx, err, said)
}

// failure returns why the go command failed.
func failure(ctx context.Context, err error, said []byte) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w\n%s", err, said)
}

// position matches the compiler's position of an error in a copy; a line directive names the copy.
var position = regexp.MustCompile(changedName + `(\d+):\d+`)

// together returns an overlay with copies of the functions, each with one of the changes. A program
// built with it calls the copy with its own number, which is the index of the change plus one.
// Changes for which there can be no such copy are left out, and so are those that do not compile:
// broken.
func together(ctx context.Context, dir string, changes []change) (o *overlay, broken map[int]bool, err error) {
	broken = make(map[int]bool)
	for {
		if o, err = newOverlay(dir); err != nil {
			return nil, nil, err
		}
		if err := o.putCopies(changes, broken); err != nil {
			return nil, nil, err
		}
		said, err := o.run(ctx, "build", "-gcflags=-e", "./"+filepath.Dir(changes[0].file))
		if err == nil {
			return o, broken, nil
		}
		before := len(broken)
		for _, m := range position.FindAllSubmatch(said, -1) {
			n, err := strconv.Atoi(string(m[1]))
			if err != nil {
				return nil, nil, err
			}
			broken[n] = true
		}
		if len(broken) == before {
			return nil, nil, failure(ctx, err, said)
		}
	}
}

// putCopies adds the files with the changes that are not broken.
func (o *overlay) putCopies(changes []change, broken map[int]bool) error {
	of := make(map[string][]int) // the changes of each file
	for i, c := range changes {
		if c.function != nil && !broken[i+1] {
			of[c.file] = append(of[c.file], i)
		}
	}
	var pkg string
	for file, list := range of {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var copies []byte
		slices.SortStableFunc(list, func(a, b int) int { return changes[b].function.body - changes[a].function.body })
		text := string(content)
		for _, i := range list {
			f, number := changes[i].function, i+1
			name := changedName + strconv.Itoa(number) + string(content[f.name:f.nameEnd])
			text = fmt.Sprintf("%sif selectedChange == %d { %s }; %s", text[:f.body], number, fmt.Sprintf(f.call, name), text[f.body:])
			copies = fmt.Appendf(copies, "\n//line %s%d:1\n%s%s%s%s%s\n", changedName, number,
				content[f.from:f.name], name, content[f.nameEnd:changes[i].from], changes[i].text, content[changes[i].to:f.to])
		}
		if err := o.put(file, append([]byte(text), copies...)); err != nil {
			return err
		}
		pkg = packageClause.FindStringSubmatch(text)[1]
	}
	if pkg == "" {
		return nil
	}
	return o.put(filepath.Dir(changes[0].file)+"/selected_change.go", fmt.Appendf(nil, selection, pkg))
}

var packageClause = regexp.MustCompile(`(?m)^package (\w+)`)

// program builds the tests of a package, and returns the name of the file.
func (o *overlay) program(ctx context.Context, pkg string) (string, error) {
	name := filepath.Join(o.dir, flat(pkg)+".test")
	if said, err := o.run(ctx, "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", name, "./"+pkg); err != nil {
		if bytes.Contains(said, []byte(".test]\n")) { // a compiler error in a test
			return "", errCompile
		}
		return "", failure(ctx, err, said)
	}
	return name, nil
}
