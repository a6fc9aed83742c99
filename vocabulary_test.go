package sixnines_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sixnines/result"
)

// vocabularies are the fields of package result that hold a word of a vocabulary, by the
// types that have them.
func vocabularies() map[string][]string {
	return map[string][]string{"Reason": {"Code"}, "SuspectReason": {"Code"}, "Pause": {"Source"}, "Event": {"Kind"}}
}

// A word of a vocabulary is written as its constant of package result, so that it has a row
// in the vocabulary's table: a literal would be one that nothing knows.
func TestWordsAreConstants(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		if filepath.ToSlash(path) != "result/vital.go" {
			for _, at := range vitalLiterals(parsed) {
				t.Errorf("%s: write this vital as its constant of package result", set.Position(at))
			}
		}
		for _, at := range literals(parsed, strings.HasPrefix(filepath.ToSlash(path), "internal/judge/")) {
			t.Errorf("%s: write this word as its constant of package result, and give it a row in the table beside it", set.Position(at))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// vitalLiterals returns where a file has the name of a vital as a literal. They are like no
// other words.
func vitalLiterals(file *ast.File) (at []token.Pos) {
	vitals := result.Vitals()
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text, err := strconv.Unquote(l.Value)
			if err == nil && slices.ContainsFunc(vitals, func(p result.VitalProperties) bool { return string(p.Vital) == text }) {
				at = append(at, l.Pos())
			}
		}
		return true
	})
	return at
}

// literals returns where a file sets a word of a vocabulary, or compares one, by a literal. In
// the judge's package note begins with the code of a reason; elsewhere it is another function.
func literals(file *ast.File, judges bool) (at []token.Pos) {
	literal := func(e ast.Expr) {
		if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING && l.Value != `""` {
			at = append(at, l.Pos())
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			name := ""
			switch of := n.Type.(type) {
			case *ast.SelectorExpr:
				if from, ok := of.X.(*ast.Ident); ok && (from.Name == "result" || from.Name == "compare") {
					name = of.Sel.Name
				}
			case *ast.Ident:
				name = of.Name
			}
			for _, e := range n.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					if key, ok := pair.Key.(*ast.Ident); ok && slices.Contains(vocabularies()[name], key.Name) {
						literal(pair.Value)
					}
				}
			}
		case *ast.CallExpr:
			if of, ok := n.Fun.(*ast.Ident); ok && judges && of.Name == "note" && len(n.Args) > 0 {
				literal(n.Args[0])
			}
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && word(n.X) {
				literal(n.Y)
			}
		case *ast.SwitchStmt:
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					if word(n.Tag) {
						literal(e)
					}
				}
			}
		}
		return true
	})
	return at
}

// word reports whether an expression is a field that holds a word, by its name.
func word(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && (s.Sel.Name == "Code" || s.Sel.Name == "Source" || s.Sel.Name == "Kind")
}
