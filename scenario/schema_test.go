package scenario

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestSchemaIsPublished(t *testing.T) {
	const golden = "schema.json"
	got := Schema()
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what Schema returns: run go test ./scenario -update", golden)
	}
}

// conforms checks a value against a schema, as far as Schema uses the language,
// and fails on a word of it that it does not know.
func conforms(s map[string]any, v any, at string) error {
	for _, word := range []string{"type", "enum", "pattern", "minimum", "maximum", "anyOf", "$ref", "items", "properties", "additionalProperties"} {
		rule, ok := s[word]
		if !ok {
			continue
		}
		var err error
		switch word {
		case "type":
			names, ok := rule.([]any)
			if !ok {
				names = []any{rule}
			}
			if !slices.Contains(names, any(jsonType(v))) && !(jsonType(v) == "integer" && slices.Contains(names, any("number"))) {
				err = fmt.Errorf("%s is %s, not %v", at, jsonType(v), names)
			}
		case "enum":
			if !slices.Contains(rule.([]any), v) {
				err = fmt.Errorf("%s is %v, not of %v", at, v, rule)
			}
		case "pattern":
			if text, ok := v.(string); ok && !regexp.MustCompile(rule.(string)).MatchString(text) {
				err = fmt.Errorf("%s is %q, unlike %s", at, text, rule)
			}
		case "minimum", "maximum":
			x, ok := v.(json.Number)
			if !ok {
				break
			}
			a, _ := x.Float64()
			b, _ := rule.(json.Number).Float64()
			if word == "minimum" && a < b || word == "maximum" && a > b {
				err = fmt.Errorf("%s is %v, beyond its %s %v", at, x, word, rule)
			}
		case "$ref":
			if text, ok := v.(string); rule != "#/$defs/variable" || !ok || !regexp.MustCompile(variablePattern).MatchString(text) {
				err = fmt.Errorf("%s is %v, no %v", at, v, rule)
			}
		case "anyOf":
			for _, branch := range rule.([]any) {
				if err = conforms(branch.(map[string]any), v, at); err == nil {
					break
				}
			}
		case "items":
			list, _ := v.([]any)
			for i, item := range list {
				if e := conforms(rule.(map[string]any), item, fmt.Sprintf("%s[%d]", at, i)); e != nil {
					err = e
				}
			}
		case "properties":
			object, _ := v.(map[string]any)
			for key, x := range object {
				if p, ok := rule.(map[string]any)[key]; ok {
					if e := conforms(p.(map[string]any), x, at+"."+key); e != nil {
						err = e
					}
				} else if s["additionalProperties"] == false {
					err = fmt.Errorf("%s has no key %s", at, key)
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func jsonType(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case json.Number:
		if strings.ContainsAny(x.String(), ".eE") {
			return "number"
		}
		return "integer"
	}
	return fmt.Sprintf("%T", v)
}

func readJSON(t testing.TB, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// asJSON reads YAML as an editor does.
func asJSON(t testing.TB, text []byte) any {
	t.Helper()
	var v any
	if err := yaml.Load(text, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return readJSON(t, out)
}

func TestSchemaAndDecoderAgree(t *testing.T) {
	root := readJSON(t, Schema()).(map[string]any)

	t.Run("keys", func(t *testing.T) {
		var walk func(s map[string]any, typ reflect.Type, at string)
		walk = func(s map[string]any, typ reflect.Type, at string) {
			if branches, ok := s["anyOf"].([]any); ok {
				s = branches[1].(map[string]any)
			}
			keys := s["properties"].(map[string]any)
			others := 0
			for _, f := range fieldsOf(typ) {
				if f.other != "" {
					others++
					if keys[f.other] == nil {
						t.Errorf("%s.%s is not in the schema", at, f.other)
					}
				}
			}
			if got, want := len(keys), len(keysOf(typ))+others; got != want {
				t.Errorf("%s has %d keys in the schema and %d in the struct", at, got, want)
			}
			for _, f := range fieldsOf(typ) {
				p, ok := keys[f.key].(map[string]any)
				if !ok {
					t.Errorf("%s.%s is not in the schema", at, f.key)
					continue
				}
				if p["description"] == nil || p["description"] == "" {
					t.Errorf("%s.%s is not described", at, f.key)
				}
				if isMapping(f.typ) {
					walk(p, structOf(f.typ), at+"."+f.key)
				}
			}
		}
		walk(root, reflect.TypeFor[Scenario](), "scenario")
	})

	examples, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(examples) < 5 {
		t.Fatalf("%d examples: %v", len(examples), err)
	}
	for _, path := range examples {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(path, text)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if err := s.Validate(); err != nil {
			t.Errorf("%v", err)
		}
		if err := conforms(root, asJSON(t, text), filepath.Base(path)); err != nil {
			t.Errorf("the schema refuses %s: %v", path, err)
		}
		encoded, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := conforms(root, readJSON(t, encoded), filepath.Base(path)); err != nil {
			t.Errorf("the schema refuses %s normalised: %v", path, err)
		}
	}

	for _, text := range []string{
		"rate: 1/s", "workload: {rat: 1/s}", "workload: {rate: 1/x}", "workload: {size: 256x}", "workload: {size: 1TiB}", "workload: {messages: 1.5}", "workload: {messages: 5m}",
		"phases: {drain: 10}", "phases: {drain: 1w}", "workload: {pattern: delivery}", "workload: {producers: 0}", "workload: {producers: -1}",
		"record: {digits: 5}", "record: {raw: 1}", "workload: {arrivals: poison}", "workload: {arrivals: {kind: x}}", "workload: {arrivals: {kinds: x}}",
		"workload: {arrivals: {kind: step, steps: [{rte: 1/s}]}}", "name: a b", "workload: {consumer: {ack: sometimes}}", "target: {tls: {k: x}}",
		"workload: {arrivals: {kind: sine, amplitude: 1.5}}", "workload: []",
	} {
		if _, err := Parse("x.yaml", []byte(text)); err == nil {
			t.Errorf("the decoder takes %s", text)
		}
		if conforms(root, asJSON(t, []byte(text)), "x") == nil {
			t.Errorf("the schema takes %s", text)
		}
	}
}
