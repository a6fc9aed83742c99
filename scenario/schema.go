package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"sixnines/internal/jsonschema"
)

// The notations of values, for editors; the decoder knows more exactly.
const (
	numberPattern    = `[0-9]+(\.[0-9]+)?([eE]\+?[0-9]+)?`
	bytesPattern     = numberPattern + ` *([kKmMgG][iI]?[bB]?|[bB]|bytes?)?`
	timePattern      = `(([0-9]+(\.[0-9]*)?|\.[0-9]+) *(ns|us|µs|ms|msec|s|secs?|seconds?|m|mins?|minutes?|h|hr|hours?|d|days?) *)+`
	wholePattern     = `^` + numberPattern + `[kKMG]?$`
	ratePattern      = `^([mM][aA][xX]|` + numberPattern + ` *[kKMG]?( *(msgs?|messages?)? */ *[0-9.]* *(ns|us|µs|ms|s|sec|second|min|minute|m|h|hour|d|day|[0-9hmsuµn.]+))?)$`
	sizePattern      = `^` + bytesPattern + `$`
	durationPattern  = `^(0|` + timePattern + `)$`
	objectivePattern = `^\s*([a-z_.]+(\s+(p\(?[0-9.]+\)?|max))?|p\(?[0-9.]+\)?)\s*(<=|<|==?|>=|>|≤|≥)\s*[0-9].*$`
	untilPattern     = `^\s*([a-z_.]+\s+)?p\(?[0-9.]+\)?\s*(±|\+-|\+/-)\s*[0-9.]+\s*(%|ns|us|µs|ms|s|m|h).*$`
	variablePattern  = `\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}`
	sizesPattern     = `^(` + bytesPattern + `(:[0-9.]+%)?(,.+)?|lognormal:.+)$`
	payloadPattern   = `^(random|zeros|compress:[0-9.]+%|(file|corpus):.+)$`
	keysPattern      = `^(none|fixed|unique|zipf:[0-9.]+@[0-9.eE+]+[kKMG]?)$`
	headersPattern   = `^(none|[0-9]+x` + bytesPattern + `|[A-Za-z0-9._-]+:.+)$`
	beginPattern     = `^(filled|` + timePattern + `)$`
	pausePattern     = `^` + timePattern + `@\s*(0|` + timePattern + `)$`
	arrivalsPattern  = `^(constant|poisson|(step|ramp|sine|burst|trace):.+)$`
)

// Schema returns the format as a JSON Schema, draft 2020-12, made from the
// fields and tags of [Scenario], for editors that complete and check.
func Schema() []byte {
	root := schemaOf(field{typ: reflect.TypeFor[Scenario](), doc: "what to run: which broker, which load, for how long, and what to write down"})
	root.Dialect = jsonschema.Dialect
	root.Title = fmt.Sprintf("Sixnines scenario, version %d", Version)
	root.Type = "object"
	root.Definitions = jsonschema.Properties{{Key: "variable", Node: &jsonschema.Node{Description: "a variable of the environment", Type: "string",
		Pattern: variablePattern, Examples: []string{"${NAME}", "${NAME:-default}"}}}}
	return root.Text()
}

func schemaOf(f field) *jsonschema.Node {
	s := &jsonschema.Node{Description: f.doc}
	t := f.typ
	notation := func(pattern string, examples ...string) {
		s.Type, s.Pattern, s.Examples = "string", pattern, examples
		if f.min != "" || f.max != "" {
			s.Description += " (" + f.rangeHint() + ")"
		}
	}
	switch {
	case t == arrivalsType:
		short := &jsonschema.Node{Type: "string", Pattern: arrivalsPattern}
		for _, form := range arrivalsForms {
			short.Examples = append(short.Examples, form.form)
		}
		long := &jsonschema.Node{Type: []string{"object", "null"}, Properties: propertiesOf(t), Additional: false}
		s.AnyOf = []*jsonschema.Node{short, long}
	case t == workloadsType:
		s.Type, s.Additional = []string{"object", "null"}, schemaOf(field{typ: t.Elem()})
	case isMapping(t):
		s.Type, s.Properties, s.Additional = []string{"object", "null"}, propertiesOf(structOf(t)), false
	case t.Kind() == reflect.Map:
		s.Type = []string{"object", "null"}
	case t.Kind() == reflect.Slice:
		s.Type, s.Items = "array", schemaOf(field{typ: t.Elem()})
	case t == rateType:
		notation(ratePattern, "3000/s", "100/3s", "max")
		s.Type = []string{"string", "number"}
	case t == sizeType:
		notation(sizePattern, "256B", "1KiB")
		s.Type = []string{"string", "integer"}
	case t == sizesType:
		notation(sizesPattern, "256B", "1KiB", "256B:90%,64KiB:10%", "lognormal:median=1KiB,sigma=1,max=64KiB")
		s.Type = []string{"string", "integer"}
	case t == payloadType:
		notation(payloadPattern, "random", "zeros", "compress:50%", "file:PATH", "corpus:DIR")
	case t == keysType:
		notation(keysPattern, "none", "fixed", "unique", "zipf:1.1@10000")
	case t == headersType:
		notation(headersPattern, "none", "4x32B", "tenant:blue,trace:4bf92f")
	case t == objectiveType:
		notation(objectivePattern, "p99 < 5ms", "delivery.response p99.9 < 5ms", "lost == 0", "rate >= 99.9%")
	case t == untilType:
		notation(untilPattern, "delivery.response p99 ±5%", "publish.response p99.9 +-50us")
	case t == beginType:
		notation(beginPattern, "filled", "30s")
	case t == pauseType:
		notation(pausePattern, "5s@20s")
	case t == durationType:
		notation(durationPattern, "250ms", "1m30s")
		s.Type, s.Maximum = []string{"string", "integer"}, "0" // of numbers, only 0 needs no unit
	case t.Kind() == reflect.String:
		s.Type, s.Enum = "string", f.enum
		if f.pattern != "" {
			// Words that may be all digits need no quotes in YAML.
			s.Type, s.Pattern = []string{"string", "integer"}, "^(?:"+f.pattern+")$"
		}
	case t.Kind() == reflect.Bool:
		s.Type = "boolean"
	default:
		s.Type, s.Pattern = []string{"integer", "string"}, wholePattern
		if t.Kind() == reflect.Float64 {
			s.Type, s.Pattern = "number", ""
		}
		s.Minimum, s.Maximum = json.Number(f.min), json.Number(f.max)
		if s.Minimum == "" && s.Type != "number" {
			s.Minimum = "0"
		}
	}
	s.Description = strings.TrimSpace(s.Description)
	if variable := (&jsonschema.Node{Ref: "#/$defs/variable"}); s.AnyOf != nil {
		s.AnyOf = append(s.AnyOf, variable)
	} else if free := t.Kind() == reflect.String && s.Enum == nil && s.Pattern == ""; !free && t.Kind() != reflect.Map && t.Kind() != reflect.Slice && !isMapping(t) {
		whole := &jsonschema.Node{Description: s.Description}
		s.Description = ""
		whole.AnyOf = []*jsonschema.Node{s, variable}
		if hasShort(t) {
			whole.AnyOf = append(whole.AnyOf, &jsonschema.Node{Type: "object"})
		}
		return whole
	}
	return s
}

func propertiesOf(t reflect.Type) jsonschema.Properties {
	var all jsonschema.Properties
	for _, f := range fieldsOf(t) {
		all = append(all, jsonschema.Property{Key: f.key, Node: schemaOf(f)})
		if key := f.other; key != "" {
			f.doc = "another name of " + f.key + ": " + f.doc
			all = append(all, jsonschema.Property{Key: key, Node: schemaOf(f)})
		}
	}
	return all
}
