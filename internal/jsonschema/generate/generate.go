// Package generate makes JSON Schemas of Go types and their comments, for tests
// that keep the schemas that are embedded in the program true.
package generate

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"time"

	"sixnines/internal/jsonschema"
)

// Spec is the schema that is wanted.
type Spec struct {
	ID, Title, Description string
	// Roots are the objects that there are, or one list; with several, each is one of them.
	Roots []reflect.Type
	// Sources are the directories of the types' packages, whose comments
	// become descriptions.
	Sources []string
	// Consts are properties with one value, by the type's name and the key.
	Consts map[string]map[string]any
	// Raw are properties that hold text of another form, by the type's name and the
	// key: the types they are of. Such a one without a type may be anything.
	Raw map[string]map[string]reflect.Type
}

// Schema returns the schema.
func Schema(s Spec) ([]byte, error) {
	g := generator{Spec: s, comments: map[string]string{}, made: map[string]reflect.Type{}}
	for _, dir := range s.Sources {
		if err := g.read(dir); err != nil {
			return nil, err
		}
	}
	root := &jsonschema.Node{}
	switch {
	case len(s.Roots) > 1:
		for _, t := range s.Roots {
			root.AnyOf = append(root.AnyOf, g.node(t))
		}
	case s.Roots[0].Kind() == reflect.Struct:
		root = g.object(s.Roots[0])
	default:
		root = g.node(s.Roots[0])
	}
	root.Dialect, root.ID, root.Title, root.Description = jsonschema.Dialect, s.ID, s.Title, s.Description
	root.Definitions = g.definitions
	return root.Text(), nil
}

// Published holds the schema in a file to what spec comes to, or with update
// writes the file anew.
func Published(file string, spec Spec, update bool) error {
	got, err := Schema(spec)
	if err != nil {
		return err
	}
	if update {
		return os.WriteFile(file, got, 0o644)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if string(got) != string(want) {
		return fmt.Errorf("%s is out of date: run the test with -update", file)
	}
	return nil
}

type generator struct {
	Spec
	comments    map[string]string // of types, as PACKAGE.TYPE, and of their fields, as PACKAGE.TYPE.FIELD
	made        map[string]reflect.Type
	definitions jsonschema.Properties
}

// docLink is a name in brackets, as in Go's comments.
var docLink = regexp.MustCompile(`\[([A-Z][A-Za-z.]*)\]`)

// read takes in the comments of a package's types.
func (g *generator) read(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return fmt.Errorf("read the comments of %s: %w", name, err)
		}
		for _, d := range file.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE {
				continue
			}
			for _, spec := range decl.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					g.take(file.Name.Name+"."+t.Name.Name, t, decl.Doc)
				}
			}
		}
	}
	return nil
}

// take takes in the comments of a type with that name.
func (g *generator) take(of string, t *ast.TypeSpec, doc *ast.CommentGroup) {
	g.comments[of] = words(doc, t.Doc)
	s, ok := t.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			g.comments[of+"."+name.Name] = words(f.Doc, f.Comment)
		}
	}
}

// words are comments on one line.
func words(groups ...*ast.CommentGroup) string {
	var all []string
	for _, c := range groups {
		all = append(all, strings.Fields(c.Text())...)
	}
	return docLink.ReplaceAllString(strings.Join(all, " "), "$1")
}

// The types that are not what they are made of.
var (
	durationType = reflect.TypeFor[time.Duration]()
	timeType     = reflect.TypeFor[time.Time]()
	rawType      = reflect.TypeFor[json.RawMessage]()
)

// node is what a value of the type is.
func (g *generator) node(t reflect.Type) *jsonschema.Node {
	switch {
	case t == durationType:
		return &jsonschema.Node{Type: "integer", Description: "ns"}
	case t == timeType:
		return &jsonschema.Node{Type: "string", Format: "date-time"}
	case t == rawType:
		return &jsonschema.Node{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.node(t.Elem())
	case reflect.Struct:
		if name := t.Name(); name != "" {
			switch g.made[name] {
			case t:
			case nil:
				g.made[name] = t
				at := len(g.definitions)
				g.definitions = append(g.definitions, jsonschema.Property{Key: name})
				o := g.object(formOf(t))
				o.Description = g.comments[t.String()]
				g.definitions[at].Node = o
			default:
				panic(fmt.Sprintf("generate: %s and %s have one name", t, g.made[name]))
			}
			return &jsonschema.Node{Ref: "#/$defs/" + name}
		}
		return g.object(t)
	case reflect.Map:
		return &jsonschema.Node{Type: "object", Additional: g.node(t.Elem())}
	case reflect.Slice:
		return &jsonschema.Node{Type: "array", Items: g.node(t.Elem())}
	case reflect.Array:
		return &jsonschema.Node{Type: "array", Items: g.node(t.Elem()), MinItems: t.Len(), MaxItems: t.Len()}
	case reflect.String:
		return &jsonschema.Node{Type: "string"}
	case reflect.Bool:
		return &jsonschema.Node{Type: "boolean"}
	case reflect.Float32, reflect.Float64:
		return &jsonschema.Node{Type: "number"}
	case reflect.Interface:
		return &jsonschema.Node{}
	}
	n := &jsonschema.Node{Type: "integer"}
	if k := t.Kind(); k >= reflect.Uint && k <= reflect.Uint64 {
		n.Minimum = "0"
	}
	return n
}

// formOf returns the type that a type's JSON is made from, if its method JSONForm tells, else
// the type.
func formOf(t reflect.Type) reflect.Type {
	if v, ok := reflect.New(t).Interface().(interface{ JSONForm() any }); ok {
		return reflect.TypeOf(v.JSONForm())
	}
	return t
}

// object is what a struct is.
func (g *generator) object(t reflect.Type) *jsonschema.Node {
	n := &jsonschema.Node{Type: "object"}
	for i := range t.NumField() {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("json"), ",")
		key := tag[0]
		optional := strings.Contains(strings.Join(tag[1:], ","), "omit")
		if key == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if f.Anonymous && key == "" {
			if within := f.Type; within.Kind() == reflect.Pointer { // which may be nil
				n.Properties = append(n.Properties, g.object(within.Elem()).Properties...)
			} else {
				o := g.object(within)
				n.Properties, n.Required = append(n.Properties, o.Properties...), append(n.Required, o.Required...)
			}
			continue
		}
		if key == "" {
			key = f.Name
		}
		node := g.property(t.Name(), key, f.Type, optional)
		if about := g.comments[t.String()+"."+f.Name]; about != "" {
			if node.Description != "" {
				about += " (" + node.Description + ")"
			}
			node.Description = about
		}
		n.Properties = append(n.Properties, jsonschema.Property{Key: key, Node: node})
		if !optional {
			n.Required = append(n.Required, key)
		}
	}
	return n
}

// property is what a field is. Lists, objects and pointers that are never left out
// may be null.
func (g *generator) property(of, key string, t reflect.Type, optional bool) *jsonschema.Node {
	if v, ok := g.Consts[of][key]; ok {
		return &jsonschema.Node{Const: v}
	}
	if raw, ok := g.Raw[of][key]; ok {
		t = raw
	}
	node := g.node(t)
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer:
		if word, ok := node.Type.(string); ok && !optional {
			node.Type = []string{word, "null"}
		} else if !optional && node.Ref != "" {
			node = &jsonschema.Node{AnyOf: []*jsonschema.Node{node, {Type: "null"}}}
		}
	}
	return node
}
