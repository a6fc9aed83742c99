package scenario

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"sixnines/internal/jsonschema/generate"
	"sixnines/internal/strict"
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

// The page of scenarios has every key of the format, as the fields' tags describe it.
func TestKeysAreOnThePage(t *testing.T) {
	var b strings.Builder
	b.WriteString("Each key of `workload` is one of each of `workloads`, too, with those below `workloads.NAME`.\n\n| key | what it is | values |\n|---|---|---|\n")
	var walk func(typ reflect.Type, prefix string)
	walk = func(typ reflect.Type, prefix string) {
		for _, f := range strict.Fields(typ) {
			key := strict.Join(prefix, f.Key)
			switch {
			case f.Type == workloadsType:
				for _, own := range strict.Fields(f.Type.Elem()) {
					if _, shared := strict.FieldOf(reflect.TypeFor[Workload](), own.Key); !shared {
						row(&b, "workloads.NAME."+own.Key, own)
					}
				}
			case strict.IsMapping(f.Type) && f.Type != arrivalsType:
				walk(strict.StructOf(f.Type), key)
			case f.Type.Kind() == reflect.Slice && strict.IsMapping(f.Type.Elem()):
				row(&b, key, f)
				walk(f.Type.Elem(), key+"[]")
			default:
				row(&b, key, f)
			}
		}
	}
	walk(reflect.TypeFor[Scenario](), "")
	onThePage(t, "## All keys\n\n", b.String())
}

// The page of scenarios has every kind of action, as its row in Actions describes it.
func TestActionsAreOnThePage(t *testing.T) {
	var b strings.Builder
	b.WriteString("| action | to whom | `for` | what happens | undone | what it explains in the result |\n|---|---|---|---|---|---|\n")
	for _, p := range Actions() {
		f, ok := strict.FieldOf(reflect.TypeFor[Action](), string(p.Kind))
		if !ok || p.check == nil || p.applies == nil && !p.Run || p.written == nil && p.nodes == nil || p.Does == "" || p.Undone == "" {
			t.Fatalf("%s: a field of Action, or a part of its row in Actions, is missing", p.Kind)
		}
		lasts, explains := "no", "nothing"
		whom := strings.Join(f.Enum, ", ")
		if strict.IsMapping(f.Type) {
			whom = "nodes"
		}
		if f.Type == reflect.TypeFor[*Cut]() {
			whom = "nodes, and clients"
		}
		if f.Type == reflect.TypeFor[*Network]() {
			whom = "the path between clients and brokers"
		}
		if f.Type == reflect.TypeFor[*Exec]() {
			whom = "whom the commands mean"
		}
		if p.Lasts {
			lasts = "yes"
		}
		if p.once != nil {
			lasts = "with `undo`"
		}
		if p.Explains != "" {
			explains = p.Explains.Words()
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", p.Kind, whom, lasts, p.Does, p.Undone, explains)
	}
	for _, f := range strict.Fields(reflect.TypeFor[Action]()) {
		if _, is := ActionKind(f.Key).Properties(); !is && f.Key != "at" && f.Key != "workload" && f.Key != "for" {
			t.Errorf("%s has no row in Actions", f.Key)
		}
	}
	onThePage(t, "### Kinds of actions\n\n", b.String())
}

// onThePage checks that a section of the page of scenarios is as it should be.
func onThePage(t *testing.T, heading, want string) {
	t.Helper()
	onPage(t, "../docs/scenarios.md", heading, want)
}

// onPage checks that a section of a page is as it should be.
func onPage(t *testing.T, page, heading, want string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), heading)
	table, after, more := strings.Cut(rest, "\n## ")
	if !ok || !more {
		t.Fatalf("%s has no section between %q and another one", page, heading)
	}
	if table != want {
		if !*update {
			t.Fatalf("%s is not as the format is: run go test ./scenario -update", page)
		}
		if err := os.WriteFile(page, []byte(before+heading+want+"\n## "+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// row writes a key and what it allows.
func row(b *strings.Builder, key string, f strict.Field) {
	values := strings.Join(f.Enum, ", ")
	if f.Min != "" || f.Max != "" {
		values = f.Range()
	}
	if f.Other != "" {
		key += "` or `" + f.Other
	}
	fmt.Fprintf(b, "| `%s` | %s | %s |\n", key, strings.ReplaceAll(f.Doc, "|", "\\|"), values)
}

// asJSON reads YAML as an editor does.
func asJSON(t testing.TB, text []byte) []byte {
	t.Helper()
	var v any
	if err := yaml.Load(text, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSchemaAndDecoderAgree(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}

	t.Run("keys", func(t *testing.T) {
		var walk func(s map[string]any, typ reflect.Type, at string)
		walk = func(s map[string]any, typ reflect.Type, at string) {
			if branches, ok := s["anyOf"].([]any); ok {
				s = branches[1].(map[string]any)
			}
			keys := s["properties"].(map[string]any)
			others := 0
			for _, f := range strict.Fields(typ) {
				if f.Other != "" {
					others++
					if keys[f.Other] == nil {
						t.Errorf("%s.%s is not in the schema", at, f.Other)
					}
				}
			}
			if got, want := len(keys), len(strict.Fields(typ))+others; got != want {
				t.Errorf("%s has %d keys in the schema and %d in the struct", at, got, want)
			}
			for _, f := range strict.Fields(typ) {
				p, ok := keys[f.Key].(map[string]any)
				if !ok {
					t.Errorf("%s.%s is not in the schema", at, f.Key)
					continue
				}
				if p["description"] == nil || p["description"] == "" {
					t.Errorf("%s.%s is not described", at, f.Key)
				}
				if strict.IsMapping(f.Type) {
					walk(p, strict.StructOf(f.Type), at+"."+f.Key)
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
		if err := generate.Check(Schema(), asJSON(t, text)); err != nil {
			t.Errorf("the schema refuses %s: %v", path, err)
		}
		encoded, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := generate.Check(Schema(), encoded); err != nil {
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
		if generate.Check(Schema(), asJSON(t, []byte(text))) == nil {
			t.Errorf("the schema takes %s", text)
		}
	}
}
