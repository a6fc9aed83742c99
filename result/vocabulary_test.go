package result

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Each word of a vocabulary has its row in the vocabulary's table, once.
func TestEveryWordHasItsRow(t *testing.T) {
	words := constants(t)
	for vocabulary, rows := range map[string][]string{
		"ReasonCode":  rowsOf(Reasons(), func(p ReasonProperties) string { return string(p.Code) }),
		"PauseSource": rowsOf(Pauses(), func(p PauseProperties) string { return string(p.Source) }),
		"Vital":       rowsOf(Vitals(), func(p VitalProperties) string { return string(p.Vital) }),
		"EventKind":   rowsOf(Events(), func(p EventProperties) string { return string(p.Kind) }),
	} {
		if len(words[vocabulary]) == 0 {
			t.Errorf("%s has no constants", vocabulary)
		}
		for name, word := range words[vocabulary] {
			if !slices.Contains(rows, word) {
				t.Errorf("%s has no row for %s (%q)", vocabulary, name, word)
			}
		}
		slices.Sort(rows)
		if n := len(slices.Compact(slices.Clone(rows))); n != len(rows) || n != len(words[vocabulary]) {
			t.Errorf("%s has %d constants, and %d rows for %d words: %q", vocabulary, len(words[vocabulary]), len(rows), n, rows)
		}
	}
}

func rowsOf[T any](table []T, word func(T) string) (rows []string) {
	for _, row := range table {
		rows = append(rows, word(row))
	}
	return rows
}

// constants returns the package's string constants by type and name.
func constants(t *testing.T) map[string]map[string]string {
	found := map[string]map[string]string{}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				of, typed := v.Type.(*ast.Ident)
				for i, name := range v.Names {
					if !typed || i >= len(v.Values) {
						continue
					}
					if text, ok := v.Values[i].(*ast.BasicLit); ok && text.Kind == token.STRING {
						word, err := strconv.Unquote(text.Value)
						if err != nil {
							t.Fatal(err)
						}
						if found[of.Name] == nil {
							found[of.Name] = map[string]string{}
						}
						found[of.Name][name.Name] = word
					}
				}
			}
		}
	}
	return found
}
