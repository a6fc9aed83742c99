package sixnines_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// surfaces are the packages that other modules import.
func surfaces() []string {
	return []string{module, module + "/driver", module + "/driver/drivertest", module + "/report", module + "/result", module + "/scenario", module + "/semantics"}
}

// surface looks through what a package exports for types of packages that other modules
// cannot name, or should not have to.
type surface struct {
	of    *types.Package
	seen  map[types.Type]bool
	found []string
}

// unusable says of each exported signature, field, variable and constant of a package with a
// type of an internal package or of another module where it is.
func unusable(p *types.Package) []string {
	s := &surface{of: p, seen: map[types.Type]bool{}}
	for _, name := range p.Scope().Names() {
		switch o := p.Scope().Lookup(name); {
		case !o.Exported():
		case isTypeName(o):
			s.declared(name, o.Type())
		default:
			s.visit(name, o.Type())
		}
	}
	return s.found
}

func isTypeName(o types.Object) bool { _, ok := o.(*types.TypeName); return ok }

// declared visits what a declared type shows: its fields or methods.
func (s *surface) declared(at string, t types.Type) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() != s.of {
		s.visit(at, t) // an alias
		return
	}
	if s.seen[n] {
		return
	}
	s.seen[n] = true
	s.visit(at, n.Underlying())
	for m := range n.Methods() {
		if m.Exported() {
			s.visit(at+"."+m.Name(), m.Type())
		}
	}
}

// visit visits the types that a user of t has to know.
func (s *surface) visit(at string, t types.Type) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		switch from := t.Obj().Pkg(); {
		case from == nil:
		case from == s.of:
			s.declared(at, t)
		case external(from.Path()) || !slices.Contains(surfaces(), from.Path()) && strings.HasPrefix(from.Path(), module+"/"):
			s.found = append(s.found, fmt.Sprintf("%s.%s has %s.%s", s.of.Name(), at, from.Path(), t.Obj().Name()))
		}
		for a := range t.TypeArgs().Types() {
			s.visit(at, a)
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() || f.Embedded() {
				s.visit(at+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			if m.Exported() {
				s.visit(at+"."+m.Name(), m.Type())
			}
		}
	case *types.Signature:
		for _, vars := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range vars.Variables() {
				s.visit(at, v.Type())
			}
		}
	case *types.Map:
		s.visit(at, t.Key())
		s.visit(at, t.Elem())
	case interface{ Elem() types.Type }: // a pointer, slice, array or channel
		s.visit(at, t.Elem())
	}
}

// exported returns the files with what packages and their dependencies export, by their paths.
func exported(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, p := range list(t, append([]string{"-export", "-deps"}, patterns...)...) {
		files[p.ImportPath] = p.Export
	}
	return files
}

// gcImporter imports packages from files with what they export.
func gcImporter(set *token.FileSet, exports map[string]string) types.Importer {
	return importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}

// Whoever imports a public package can name each type that it shows, and links no library for
// its sake that may become another.
func TestPublicPackagesShowOnlyPublicTypes(t *testing.T) {
	from := gcImporter(token.NewFileSet(), exported(t, surfaces()...))
	for _, path := range surfaces() {
		p, err := from.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range unusable(p) {
			t.Error(found + ": no other module can use it, or it would bind the API to a library; give it a type of the package, or move it to internal")
		}
	}
}

func TestTypesOfOthersAreFound(t *testing.T) {
	set := token.NewFileSet()
	from := gcImporter(set, exported(t, "./result"))
	for declaration, want := range map[string]string{
		"func F(*h.RankIndex)":                                       "p.F has sixnines/internal/histograms.RankIndex",
		"func F() (n int, x []hdr.Histogram)":                        "p.F has github.com/HdrHistogram/hdrhistogram-go.Histogram",
		"type T struct { F map[string]chan h.RankIndex }":            "p.T.F has sixnines/internal/histograms.RankIndex",
		"type T struct { f h.RankIndex }":                            "",
		"type T struct { *h.RankIndex }":                             "p.T.RankIndex has sixnines/internal/histograms.RankIndex",
		"type t struct { F h.RankIndex }; func F() t { return t{} }": "p.F.F has sixnines/internal/histograms.RankIndex",
		"type t struct { F h.RankIndex }":                            "",
		"type T = h.RankIndex":                                       "p.T has sixnines/internal/histograms.RankIndex",
		"type T interface { M(func(h.RankIndex)) }":                  "p.T.M has sixnines/internal/histograms.RankIndex",
		"type T int; func (*T) M() h.RankIndex { panic(0) }":         "p.T.M has sixnines/internal/histograms.RankIndex",
		"var V = g[h.RankIndex]{}; type g[X any] struct { x X }":     "p.V has sixnines/internal/histograms.RankIndex",
		"func F(result.Run) result.Figure { panic(0) }":              "",
	} {
		file, err := parser.ParseFile(set, "p.go", `package p
import ("sixnines/result"; h "sixnines/internal/histograms"; hdr "github.com/HdrHistogram/hdrhistogram-go")
var _ result.Run; var _ h.RankIndex; var _ hdr.Histogram
`+declaration, 0)
		if err != nil {
			t.Fatal(err)
		}
		p, err := (&types.Config{Importer: from}).Check("p", set, []*ast.File{file}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(unusable(p), "; "); got != want {
			t.Errorf("%s: %q, want %q", declaration, got, want)
		}
	}
}
