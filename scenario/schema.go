package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"sixnines/internal/jsonschema"

	"sixnines/internal/strict"
)

// Schema returns the format as a JSON Schema, draft 2020-12, made from the
// fields and tags of [Scenario]. Editors use it to complete and to check.
func Schema() []byte {
	root := schemaOf(strict.Field{Type: reflect.TypeFor[Scenario](), Doc: "what to run: which broker, which load, for how long, and what to record"})
	root.Dialect = jsonschema.Dialect
	root.Title = fmt.Sprintf("Sixnines scenario, version %d", Version)
	root.Type = "object"
	root.Definitions = jsonschema.Properties{{Key: "variable", Node: &jsonschema.Node{Description: "an environment variable", Type: "string",
		Pattern: `\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}`, Examples: []string{"${NAME}", "${NAME:-default}"}}}}
	return root.Text()
}

func schemaOf(f strict.Field) *jsonschema.Node {
	s := &jsonschema.Node{Description: f.Doc}
	t := f.Type
	form, written := notationOf(t)
	switch {
	case t == arrivalsType:
		short := &jsonschema.Node{Type: "string", Pattern: `^(constant|poisson|(step|ramp|sine|burst|trace):.+)$`}
		for _, form := range arrivalsForms {
			short.Examples = append(short.Examples, form.form)
		}
		long := &jsonschema.Node{Type: []string{"object", "null"}, Properties: propertiesOf(t), Additional: false}
		s.AnyOf = []*jsonschema.Node{short, long}
	case t == restartType:
		short := &jsonschema.Node{Type: "string", Pattern: `^(leader|followers|random|all|` + timePattern + `)$`, Examples: []string{"5s"}}
		long := &jsonschema.Node{Type: []string{"object", "null"}, Properties: propertiesOf(t.Elem()), Additional: false}
		s.AnyOf = []*jsonschema.Node{short, long}
	case t == workloadsType:
		s.Type, s.Additional = []string{"object", "null"}, schemaOf(strict.Field{Type: t.Elem()})
	case strict.IsMapping(t):
		s.Type, s.Properties, s.Additional = []string{"object", "null"}, propertiesOf(strict.StructOf(t)), false
	case t.Kind() == reflect.Map:
		s.Type = []string{"object", "null"}
	case t == endsType:
		one := schemaOf(strict.Field{Type: t.Elem()})
		s.AnyOf = []*jsonschema.Node{{Type: "array", Items: one}, one.AnyOf[0]}
	case t == commandType:
		s.AnyOf = []*jsonschema.Node{{Type: "array", Items: &jsonschema.Node{Type: []string{"string", "integer", "number", "boolean"}}}, {Type: "string"}}
	case t.Kind() == reflect.Slice:
		s.Type, s.Items = "array", schemaOf(strict.Field{Type: t.Elem()})
	case written:
		s.Type, s.Pattern, s.Examples = "string", form.pattern, form.examples
		if form.also != "" {
			s.Type = []string{"string", form.also}
		}
		if f.Min != "" || f.Max != "" {
			s.Description += " (" + f.Range() + ")"
		}
		if t == durationType {
			s.Maximum = "0" // of numbers, only 0 needs no unit
		}
	case t.Kind() == reflect.String:
		s.Type, s.Enum = "string", f.Enum
		if f.Pattern != "" {
			// Words that may be all digits need no quotes in YAML.
			s.Type, s.Pattern = []string{"string", "integer"}, "^(?:"+f.Pattern+")$"
		}
	case t.Kind() == reflect.Bool:
		s.Type = "boolean"
	default:
		s.Type, s.Pattern = []string{"integer", "string"}, `^`+numberPattern+`[kKMG]?$`
		if t.Kind() == reflect.Float64 {
			s.Type, s.Pattern = "number", ""
		}
		s.Minimum, s.Maximum = json.Number(f.Min), json.Number(f.Max)
		if s.Minimum == "" && s.Type != "number" {
			s.Minimum = "0"
		}
	}
	s.Description = strings.TrimSpace(s.Description)
	if variable := (&jsonschema.Node{Ref: "#/$defs/variable"}); s.AnyOf != nil {
		s.AnyOf = append(s.AnyOf, variable)
	} else if free := t.Kind() == reflect.String && s.Enum == nil && s.Pattern == ""; !free && t.Kind() != reflect.Map && t.Kind() != reflect.Slice && !strict.IsMapping(t) {
		whole := &jsonschema.Node{Description: s.Description}
		s.Description = ""
		whole.AnyOf = []*jsonschema.Node{s, variable}
		if form.short {
			whole.AnyOf = append(whole.AnyOf, &jsonschema.Node{Type: "object"})
		}
		return whole
	}
	return s
}

func propertiesOf(t reflect.Type) jsonschema.Properties {
	var all jsonschema.Properties
	for _, f := range strict.Fields(t) {
		all = append(all, jsonschema.Property{Key: f.Key, Node: schemaOf(f)})
		if key := f.Other; key != "" {
			f.Doc = "another name of " + f.Key + ": " + f.Doc
			all = append(all, jsonschema.Property{Key: key, Node: schemaOf(f)})
		}
	}
	return all
}
