package sixnines_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// spelled are the packages whose words people read. Their numbers are written by
// internal/spell.
func spelled() []string {
	return []string{"internal/brokers", "internal/cli", "internal/compare", "internal/engine", "internal/judge", "internal/report",
		"internal/selftest", "internal/study", "internal/sweep", "internal/telemetry", "internal/trials", "internal/vitals", "result"}
}

// asWritten are the functions whose durations are parts of scenarios, flags and
// options, which are written as people give them: "250ms".
func asWritten() []string {
	return []string{"internal/cli.String", "internal/judge.lengthen", "internal/selftest.queueFloor", "internal/selftest.queueTrials", "internal/sweep.text"}
}

// Durations are written in one way, "2.38 ms", and not in Go's, "2.382ms".
func TestDurationsAreSpelledInOneWay(t *testing.T) {
	exports := exported(t, "./...")
	for _, dir := range spelled() {
		set := token.NewFileSet()
		var files []*ast.File
		for _, p := range list(t, "./"+dir) {
			for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
				f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, f)
			}
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Uses: map[*ast.Ident]types.Object{}}
		conf := types.Config{Importer: gcImporter(set, exports)}
		if _, err := conf.Check(module+"/"+dir, set, files, info); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			for _, d := range f.Decls {
				name := ""
				if fn, ok := d.(*ast.FuncDecl); ok {
					name = dir + "." + fn.Name.Name
				}
				if slices.Contains(asWritten(), name) {
					continue
				}
				ast.Inspect(d, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok && spellsByItself(info, call) {
						t.Errorf("%s: %s writes a duration in Go's way; internal/spell writes it for people", set.Position(call.Pos()), name)
					}
					return true
				})
			}
		}
	}
}

// spellsByItself reports whether a call writes a duration as Go does: by its String,
// or as an argument of a function that formats.
func spellsByItself(info *types.Info, call *ast.CallExpr) bool {
	isDuration := func(e ast.Expr) bool {
		v, ok := info.Types[e]
		return ok && v.Type != nil && v.Type.String() == "time.Duration"
	}
	if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "String" && isDuration(s.X) {
		return true
	}
	for i, a := range call.Args {
		v := info.Types[a]
		if v.Value == nil || v.Value.Kind() != constant.String || i == len(call.Args)-1 {
			continue
		}
		format := constant.StringVal(v.Value)
		if strings.Contains(format, "{") || strings.Contains(format, "=%s") || strings.Contains(format, "--") {
			return false // a scenario, a law of delays, or a flag
		}
		if !strings.Contains(format, "%v") && !strings.Contains(format, "%s") {
			continue
		}
		return slices.ContainsFunc(call.Args[i+1:], isDuration)
	}
	return false
}
