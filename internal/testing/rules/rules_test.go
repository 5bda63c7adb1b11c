package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/recordings"
)

// soonest is the shortest deadline for anything that must happen: a loaded machine is not a failure.
const soonest = 30 * time.Second

// TestRules: the tests, and the packages that only tests use, keep the rules. A line that has a
// reason to break one says it: "// allowed: nothing is expected to come".
func TestRules(t *testing.T) {
	root := recordings.Root()
	for _, path := range sources(t, root) {
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range breaches(t, filepath.ToSlash(name), text) {
			t.Errorf("%s: see CONTRIBUTING.md, Tests", b)
		}
	}
}

// sources lists the files with code of tests.
func sources(t *testing.T, root string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := d.Name(); {
		case d.IsDir() && path != root && (name == "testdata" || name == "bin" || name == ".git" || name == "tools"):
			return fs.SkipDir
		case strings.HasSuffix(name, "_test.go"), strings.HasSuffix(name, ".go") && strings.Contains(filepath.ToSlash(path), "/internal/testing/"):
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 100 {
		t.Fatalf("only %d files", len(list))
	}
	return list
}

// breaches returns the lines that break a rule, with the rule.
func breaches(t *testing.T, name string, text []byte) (list []string) {
	t.Helper()
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	c := &checker{files: files, reasons: map[int]bool{}, constants: map[string]time.Duration{}}
	for _, group := range f.Comments {
		for _, comment := range group.List {
			if strings.Contains(comment.Text, "allowed: ") {
				at := files.Position(comment.Pos())
				c.reasons[at.Line] = true
				if before := text[at.Offset-at.Column+1 : at.Offset]; strings.TrimSpace(string(before)) == "" {
					c.reasons[at.Line+1] = true // a line of its own is about the next one
				}
			}
		}
	}
	ast.Inspect(f, c.constant)
	ast.Inspect(f, c.visit)
	return c.breaches
}

type checker struct {
	files     *token.FileSet
	reasons   map[int]bool             // lines with a reason to break a rule
	constants map[string]time.Duration // of the file
	breaches  []string
}

// constant notes the durations that have a name.
func (c *checker) constant(n ast.Node) bool {
	if spec, ok := n.(*ast.ValueSpec); ok {
		for i, name := range spec.Names {
			if i < len(spec.Values) {
				if d, fixed := c.duration(spec.Values[i]); fixed {
					c.constants[name.Name] = d
				}
			}
		}
	}
	return true
}

func (c *checker) report(n ast.Node, law string) {
	at := c.files.Position(n.Pos())
	if !c.reasons[at.Line] {
		c.breaches = append(c.breaches, at.String()+": "+law)
	}
}

func (c *checker) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CommClause:
		if d, ok := c.received(n.Comm); ok && d < soonest && gives(n.Body) {
			c.report(n, "a deadline below 30 s")
		}
	case *ast.CallExpr:
		if called(n) == "synctest.Test" {
			return false // the time in it is not real
		}
		c.call(n)
	case *ast.BinaryExpr:
		// Waiting for longer than the shortest deadline is giving up, not a bound.
		if limit, fixed := c.duration(n.Y); fixed && limit < soonest && (n.Op == token.GTR || n.Op == token.GEQ) && elapsed(n.X) {
			c.report(n, "an upper bound on real time")
		}
		if limit, fixed := c.duration(n.X); fixed && limit < soonest && (n.Op == token.LSS || n.Op == token.LEQ) && elapsed(n.Y) {
			c.report(n, "an upper bound on real time")
		}
	}
	return true
}

// received returns the duration of a case that is taken when time is up.
func (c *checker) received(s ast.Stmt) (d time.Duration, ok bool) {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return 0, false
	}
	from, ok := e.X.(*ast.UnaryExpr)
	if !ok {
		return 0, false
	}
	call, ok := from.X.(*ast.CallExpr)
	if !ok || called(call) != "time.After" || len(call.Args) != 1 {
		return 0, false
	}
	return c.duration(call.Args[0])
}

// gives reports whether statements fail a test, or return an error.
func gives(body []ast.Stmt) (up bool) {
	fails := regexp.MustCompile(`(^|\.)(Fatal|Fatalf|Error|Errorf|New)$`)
	for _, s := range body {
		ast.Inspect(s, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && fails.MatchString(called(call)) {
				up = true
			}
			return !up
		})
	}
	return up
}

// deadlines are the functions that take a deadline, with its place among the arguments.
var deadlines = map[string]int{"context.WithTimeout": 1, "context.WithTimeoutCause": 1, "time.Now.Add": 0}

// waits matches the names of functions that wait for something: they take a test and a time.
var waits = regexp.MustCompile(`(?i)(^|\.)(wait|await|eventually|until|within|poll)\w*$`)

var port = regexp.MustCompile(`:[1-9]\d*$`)

// own matches files of the process itself.
var own = regexp.MustCompile(`^/proc/(self|thread-self)/`)

func (c *checker) call(n *ast.CallExpr) {
	name := called(n)
	place, takes := deadlines[name]
	if !takes && waits.MatchString(name) && !strings.HasSuffix(name, "Every") && len(n.Args) > 2 && isTest(n.Args[0]) {
		place, takes = 1, true
	}
	if takes && place < len(n.Args) {
		if d, fixed := c.duration(n.Args[place]); fixed && d > 0 && d < soonest {
			c.report(n, "a deadline below 30 s")
		}
	}
	switch name {
	case "net.Listen", "net.ListenPacket":
		if len(n.Args) > 1 && port.MatchString(literal(n.Args[1])) {
			c.report(n, "a port that is not the kernel's choice")
		}
	case "http.ListenAndServe":
		if port.MatchString(literal(n.Args[0])) {
			c.report(n, "a port that is not the kernel's choice")
		}
	case "os.WriteFile", "os.Create", "os.Mkdir", "os.MkdirAll":
		if path := literal(n.Args[0]); strings.HasPrefix(path, "/") && !own.MatchString(path) {
			c.report(n, "a path outside the test's own folder")
		}
	case "os.Symlink", "os.Rename", "os.Link":
		if strings.HasPrefix(literal(n.Args[1]), "/") {
			c.report(n, "a path outside the test's own folder")
		}
	case "os.Getenv", "os.LookupEnv":
		if literal(n.Args[0]) == "GCLOG_SHARED" {
			c.report(n, "a folder that is found in other ways, too: recordings.Dir, recordings.Find")
		}
	case "os.Setenv", "os.Chdir", "syscall.Umask", "unix.Umask":
		if !strings.Contains(c.files.Position(n.Pos()).Filename, "internal/testing/") {
			c.report(n, "it changes what other tests of the process see: t.Setenv, t.Chdir")
		}
	}
}

func isTest(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && (id.Name == "t" || id.Name == "ts" || id.Name == "tb")
}

// literal returns the value of a string literal; "" of other expressions.
func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(lit.Value)
	return text
}

// called returns the name of a function, as in the text: "time.Now.Add" for time.Now().Add.
func called(n *ast.CallExpr) string {
	var parts []string
	for e := n.Fun; ; {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			parts = append(parts, x.Sel.Name)
			e = x.X
			continue
		case *ast.CallExpr:
			e = x.Fun
			continue
		case *ast.Ident:
			parts = append(parts, x.Name)
		}
		break
	}
	slices.Reverse(parts)
	return strings.Join(parts, ".")
}

// elapsed reports whether an expression is time that has passed, by the clock.
func elapsed(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	return ok && called(call) == "time.Since"
}

// units are the durations of package time.
var units = map[string]time.Duration{
	"Nanosecond": time.Nanosecond, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
}

// duration returns the value of an expression of numbers and units of package time.
func (c *checker) duration(e ast.Expr) (d time.Duration, fixed bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return c.duration(e.X)
	case *ast.Ident:
		d, fixed = c.constants[e.Name]
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && x.Name == "time" {
			d, fixed = units[e.Sel.Name]
		}
	case *ast.BinaryExpr:
		if e.Op != token.MUL {
			return 0, false
		}
		if n, ok := number(e.X); ok {
			d, fixed = c.duration(e.Y)
			return n * d, fixed
		}
		if n, ok := number(e.Y); ok {
			d, fixed = c.duration(e.X)
			return n * d, fixed
		}
	}
	return d, fixed
}

func number(e ast.Expr) (time.Duration, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.INT {
		return 0, false
	}
	n, err := strconv.ParseInt(lit.Value, 0, 64)
	return time.Duration(n), err == nil
}

// TestBreaches: what breaks a rule is found, and what only looks like it is not.
func TestBreaches(t *testing.T) {
	for body, found := range map[string]bool{
		`select { case <-done: case <-time.After(5 * time.Second): t.Fatal() }`:                  true,
		`select { case <-done: case <-time.After(time.Minute): t.Fatal() }`:                      false,
		`select { case <-done: t.Fatal(); case <-time.After(5 * time.Second): }`:                 false, // nothing comes
		`select { case <-done: case <-time.After(time.Second): t.Fatal() } // allowed: a reason`: false,
		`end := time.Now().Add(500 * time.Millisecond)`:                                          true,
		`context.WithTimeout(ctx, time.Second*29)`:                                               true,
		`const wait = time.Second; context.WithTimeout(ctx, wait)`:                               true,
		`context.WithTimeout(ctx, wait)`:                                                         false,
		`waitFor(t, 5*time.Second, done)`:                                                        true,
		`history.Wait(time.Second)`:                                                              false,
		`p.Wait(time.Minute, done)`:                                                              false,
		`synctest.Test(t, func(t *testing.T) { context.WithTimeout(ctx, time.Second) })`:         false,
		`if time.Since(began) > 3*time.Second { t.Error() }`:                                     true,
		`for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(time.Hour) {}`:     false,
		`net.Listen("tcp", "127.0.0.1:9464")`:                                                    true,
		`net.Listen("tcp", "127.0.0.1:0")`:                                                       false,
		`os.WriteFile("/tmp/x", nil, 0o600)`:                                                     true,
		`os.WriteFile("/proc/self/comm", nil, 0o600)`:                                            false,
		`os.Symlink("/run", dir+"/run")`:                                                         false,
		`os.Setenv("TZ", "UTC")`:                                                                 true,
		`t.Setenv("TZ", "UTC")`:                                                                  false,
	} {
		got := breaches(t, "x_test.go", []byte("package x\n\nfunc F() {\n\t"+body+"\n}\n"))
		if len(got) > 0 != found {
			t.Errorf("%s: %v", body, got)
		}
	}
}
