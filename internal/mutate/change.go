package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A change replaces some bytes of a file.
type change struct {
	file      string // relative to the module, for example parse/reader.go
	line, col int
	from, to  int // byte offsets of the replaced text
	text      string
	function  *function
	place     string // package and function, for example "parse (*Reader).Next"
	what      string // the expression or statement, and what replaces it
}

// A function is the function that contains a change, if a copy of it can be called with its own
// parameters.
type function struct {
	from, name, nameEnd, body, to int    // byte offsets in the file
	call                          string // of the copy, with %s for its name
}

func (c change) String() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s", c.file, c.line, c.col, c.place, c.what)
}

// apply returns the content of the file with the change.
func (c change) apply(content []byte) []byte {
	return fmt.Appendf(nil, "%s%s%s", content[:c.from], c.text, content[c.to:])
}

// operators maps each operator to its replacements: similar ones, and its opposite.
var operators = map[token.Token][]token.Token{
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.ADD: {token.SUB}, token.SUB: {token.ADD},
	token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.AND: {token.OR}, token.OR: {token.AND}, token.XOR: {token.AND}, token.AND_NOT: {token.AND},
	token.SHL: {token.SHR}, token.SHR: {token.SHL},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
	token.MUL_ASSIGN: {token.QUO_ASSIGN}, token.QUO_ASSIGN: {token.MUL_ASSIGN}, token.REM_ASSIGN: {token.MUL_ASSIGN},
	token.AND_ASSIGN: {token.OR_ASSIGN}, token.OR_ASSIGN: {token.AND_ASSIGN}, token.AND_NOT_ASSIGN: {token.AND_ASSIGN},
	token.SHL_ASSIGN: {token.SHR_ASSIGN}, token.SHR_ASSIGN: {token.SHL_ASSIGN},
	token.INC: {token.DEC}, token.DEC: {token.INC},
	token.BREAK: {token.CONTINUE}, token.CONTINUE: {token.BREAK},
}

// changesOf returns all changes of a package, in the files that are built on this platform.
func changesOf(pkg string) ([]change, error) {
	of, err := build.ImportDir(pkg, 0)
	if err != nil {
		return nil, err
	}
	var all []change
	for _, name := range of.GoFiles {
		content, err := os.ReadFile(filepath.Join(pkg, name))
		if err != nil {
			return nil, err
		}
		list, err := changesIn(pkg, pkg+"/"+name, content)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// changesIn returns the changes of a file in the order of its text.
func changesIn(pkg, file string, content []byte) ([]change, error) {
	w := walk{pkg: pkg, file: file, content: content, fset: token.NewFileSet()}
	parsed, err := parser.ParseFile(w.fset, file, content, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, decl := range parsed.Decls {
		w.place, w.function = pkg, nil
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			w.place += " " + functionName(decl, w.source)
			if decl.Body != nil {
				w.function = w.functionOf(decl)
				ast.Inspect(decl.Body, w.node)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if value, ok := spec.(*ast.ValueSpec); ok {
					w.place = pkg + " " + value.Names[0].Name
					ast.Inspect(value, w.node)
				} else if typ, ok := spec.(*ast.TypeSpec); ok {
					w.place = pkg + " " + typ.Name.Name
					ast.Inspect(typ, w.node)
				}
			}
		}
	}
	return w.changes, nil
}

func functionName(f *ast.FuncDecl, source func(ast.Node) string) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return "(" + source(f.Recv.List[0].Type) + ")." + f.Name.Name
}

// functionOf returns the positions of a function, or nil if it has unnamed parameters.
func (w *walk) functionOf(f *ast.FuncDecl) *function {
	call := "%s("
	if f.Recv != nil {
		if names := f.Recv.List[0].Names; len(names) == 0 || names[0].Name == "_" {
			return nil
		}
		call = f.Recv.List[0].Names[0].Name + ".%s("
	}
	for _, p := range f.Type.Params.List {
		if len(p.Names) == 0 {
			return nil
		}
		for _, name := range p.Names {
			if name.Name == "_" {
				return nil
			}
			call += name.Name
			if _, ok := p.Type.(*ast.Ellipsis); ok {
				call += "..."
			}
			call += ", "
		}
	}
	if call += ")"; f.Type.Results.NumFields() > 0 {
		call = "return " + call
	} else {
		call += "; return"
	}
	return &function{
		from: w.offset(f.Pos()), name: w.offset(f.Name.Pos()), nameEnd: w.offset(f.Name.End()),
		body: w.offset(f.Body.Lbrace) + 1, to: w.offset(f.End()), call: call,
	}
}

// A walk collects the changes of a file.
type walk struct {
	pkg, file string
	content   []byte
	fset      *token.FileSet
	place     string
	function  *function
	above     []ast.Node
	changes   []change
}

func (w *walk) offset(p token.Pos) int { return w.fset.Position(p).Offset }

func (w *walk) source(n ast.Node) string {
	return string(w.content[w.offset(n.Pos()):w.offset(n.End())])
}

// add adds a change that replaces [from, to) in a node.
func (w *walk) add(in ast.Node, from, to token.Pos, text string) {
	at, end := w.fset.Position(from), w.offset(to)
	before, after := w.content[w.offset(in.Pos()):at.Offset], w.content[end:w.offset(in.End())]
	w.changes = append(w.changes, change{
		file: w.file, line: at.Line, col: at.Column, from: at.Offset, to: end, text: text, function: w.function, place: w.place,
		what: short(w.source(in)) + " → " + short(string(before)+text+string(after)),
	})
}

// short returns a text as one line, shortened to be readable.
func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 100 {
		return string(r[:60]) + " … " + string(r[len(r)-37:])
	}
	return s
}

// node is called for each node before those below it, and with nil after them.
func (w *walk) node(n ast.Node) bool {
	if n == nil {
		w.above = w.above[:len(w.above)-1]
		return true
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		w.operator(n, n.OpPos, n.Op)
		if n.Op == token.LAND || n.Op == token.LOR {
			w.negate(n.X)
			w.negate(n.Y)
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT || n.Op == token.SUB || n.Op == token.XOR {
			w.add(n, n.OpPos, n.X.Pos(), "")
		}
	case *ast.BasicLit:
		w.number(n)
	case *ast.Ident:
		if other, ok := map[string]string{"true": "false", "false": "true"}[n.Name]; ok {
			w.add(w.around(n), n.Pos(), n.End(), other)
		}
	case *ast.IfStmt:
		w.negate(n.Cond)
	case *ast.ForStmt:
		w.negate(n.Cond)
	case *ast.AssignStmt:
		w.operator(n, n.TokPos, n.Tok)
	case *ast.IncDecStmt:
		w.operator(n, n.TokPos, n.Tok)
	case *ast.BranchStmt:
		w.operator(n, n.TokPos, n.Tok)
	case *ast.BlockStmt:
		w.remove(n.List)
	case *ast.CaseClause:
		w.remove(n.Body)
	case *ast.CommClause:
		w.remove(n.Body)
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "make" && len(n.Args) == 3 {
			ast.Inspect(n.Args[1], w.node) // a different capacity makes no difference
			return false
		}
	}
	w.above = append(w.above, n)
	return true
}

func (w *walk) operator(in ast.Node, pos token.Pos, op token.Token) {
	for _, other := range operators[op] {
		w.add(in, pos, pos+token.Pos(len(op.String())), other.String())
	}
}

// number adds changes of a number by one.
func (w *walk) number(n *ast.BasicLit) {
	switch n.Kind {
	case token.INT:
		value, ok := new(big.Int).SetString(strings.ReplaceAll(n.Value, "_", ""), 0)
		if !ok {
			return
		}
		one := big.NewInt(1)
		w.add(w.around(n), n.Pos(), n.End(), new(big.Int).Add(value, one).String())
		if value.Sign() > 0 {
			w.add(w.around(n), n.Pos(), n.End(), new(big.Int).Sub(value, one).String())
		}
	case token.FLOAT:
		w.add(w.around(n), n.Pos(), n.End(), "(1+"+n.Value+")")
	}
}

// around returns the expression or statement that shows what a literal is for.
func (w *walk) around(n ast.Node) ast.Node {
	for _, v := range slices.Backward(w.above) {
		switch above := v.(type) {
		case *ast.CompositeLit, *ast.FuncLit, *ast.BlockStmt, *ast.FuncDecl:
			return n
		case *ast.ParenExpr, *ast.UnaryExpr:
		case ast.Node:
			if len(w.source(above)) > 100 {
				return n
			}
			return above
		}
	}
	return n
}

// negate adds a change that negates a condition without an operator.
func (w *walk) negate(e ast.Expr) {
	switch e.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.CallExpr, *ast.IndexExpr, *ast.TypeAssertExpr:
		w.add(e, e.Pos(), e.Pos(), "!")
	}
}

// remove adds changes that each leave out one of the statements.
func (w *walk) remove(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt, *ast.ReturnStmt:
		default:
			continue
		}
		w.add(s, s.Pos(), s.End(), "{}")
	}
}
