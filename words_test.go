package sixnines_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// others are the files that look for words in texts, and whose texts they are: mostly those of
// another program, which offers nothing else.
func others() map[string]string {
	return map[string]string{
		"driver/address.go":                  "net/url, which has one type for all errors",
		"internal/brokers/cause.go":          "the logs of brokers",
		"internal/brokers/kafkazookeeper.go": "ZooKeeper",
		"internal/cli/hints.go":              "crypto/tls, and clients that wrap no error",
		"internal/compare/attribute.go":      "names of facts, which have two words",
		"internal/histograms/hlog.go":        "the format of others",
		"internal/strict/document.go":        "the YAML library",
		"internal/vitals/chrony.go":          "chronyc",
		"internal/vitals/machine.go":         "the kernel",
	}
}

// read are the folders whose files are looked through. Drivers are left out: what they look
// through is what brokers and clients say.
func read() []string { return []string{"driver", "internal", "result", "scenario", "semantics"} }

// phrase is a text of several words, as sentences are and notations are not.
var phrase = regexp.MustCompile(`[a-z]{2,} [a-z]{2,}`)

// A program decides by fields, never by the words of a sentence: whoever improves the sentence
// would change what the program does. Texts of other programs may be looked through.
func TestSentencesAreNotRead(t *testing.T) {
	allowed := others()
	used := map[string]bool{}
	look := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
			return err
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		for _, at := range readings(parsed) {
			if used[path] = true; allowed[path] == "" {
				t.Errorf("%s: this decides by the words of a text: give what it asks for a field or a type; the text of another program goes into others of words_test.go", set.Position(at))
			}
		}
		return nil
	}
	for _, dir := range read() {
		if err := filepath.WalkDir(dir, look); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(allowed)) {
		if !used[path] {
			t.Errorf("%s looks for no words any more: take it out of others", path)
		}
	}
}

// readings returns where a file compares or searches a text for words, or the text of an error.
func readings(file *ast.File) (at []token.Pos) {
	words := func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.BasicLit:
			text, err := strconv.Unquote(e.Value)
			return e.Kind == token.STRING && err == nil && phrase.MatchString(text)
		case *ast.CallExpr:
			s, ok := e.Fun.(*ast.SelectorExpr)
			return ok && s.Sel.Name == "Error" && len(e.Args) == 0
		}
		return false
	}
	ast.Inspect(file, func(n ast.Node) bool {
		var read []ast.Expr
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				read = []ast.Expr{n.X, n.Y}
			}
		case *ast.SwitchStmt:
			read = []ast.Expr{n.Tag}
		case *ast.CaseClause:
			read = n.List
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && searches(s) {
				read = n.Args
			}
		}
		if slices.ContainsFunc(read, words) {
			at = append(at, n.Pos())
		}
		return true
	})
	return at
}

// searches reports whether a function looks for a text in another.
func searches(s *ast.SelectorExpr) bool {
	from, ok := s.X.(*ast.Ident)
	return ok && (from.Name == "strings" || from.Name == "bytes") && slices.ContainsFunc([]string{"Contains", "Cut", "Equal", "HasPrefix", "HasSuffix", "Index", "LastIndex", "Split"},
		func(verb string) bool { return strings.HasPrefix(s.Sel.Name, verb) })
}

func TestReadSentencesAreFound(t *testing.T) {
	for statement, want := range map[string]int{
		`if strings.Contains(text, "not in this build") { }`:   1,
		`if _, _, ok := strings.Cut(err.Error(), "; "); ok {}`: 1,
		`if err.Error() == cause { }`:                          1,
		`if why == "was not measured" { }`:                     1,
		`switch why { case "was not measured": }`:              1,
		`switch err.Error() { }`:                               1,
		`if strings.HasPrefix(key, "workload.") { }`:           0,
		`if name == "p99" { }`:                                 0,
		`text := strings.TrimSpace(err.Error()); _ = text`:     0,
		`print("was not measured")`:                            0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\nfunc f() { "+statement+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(readings(file)); got != want {
			t.Errorf("%s: %d found, want %d", statement, got, want)
		}
	}
}
