package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"sixnines/internal/secret"
	"sixnines/internal/strict"
)

// Encode returns the normalised scenario as YAML. [Parse] reads it back to an
// equal one, if the variables are the same, see [Environment]. s is not changed.
func (s *Scenario) Encode() ([]byte, error) {
	var b bytes.Buffer
	e, err := yaml.NewDumper(&b, yaml.WithIndent(2), yaml.WithLineWidth(-1))
	if err != nil {
		return nil, fmt.Errorf("scenario: encode: %w", err)
	}
	if err := e.Dump(s.tree()); err != nil {
		return nil, fmt.Errorf("scenario: encode: %w", err)
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("scenario: encode: %w", err)
	}
	return b.Bytes(), nil
}

// tree returns the nodes of the normalised scenario.
func (s *Scenario) tree() *strict.Node {
	n := s.clone()
	n.Normalise()
	var e encoder
	if n.source != nil {
		e.written = n.source.written
	}
	return e.mapping(reflect.ValueOf(n).Elem(), "")
}

// encoder makes nodes of values.
type encoder struct{ written map[string]written }

// mapping encodes a struct; zero fields are left out.
func (e encoder) mapping(v reflect.Value, key string) *strict.Node {
	n := &strict.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, f := range strict.Fields(v.Type()) {
		x := v.FieldByIndex(f.Index)
		if f.Always || !x.IsZero() {
			n.Content = append(n.Content, textNode(f.Key), e.value(x, strict.Join(key, f.Key)))
		}
	}
	return n
}

func (e encoder) value(v reflect.Value, key string) *strict.Node {
	t := v.Type()
	switch {
	case t == workloadsType:
		return e.workloads(v.Interface().(Workloads), key)
	case t.Kind() == reflect.Map:
		return e.any(v.Interface(), key)
	case t == restartType && v.Interface().(*Restart).Node == "":
		return e.text(formatDuration(v.Interface().(*Restart).After), key)
	case strict.IsMapping(t):
		if t.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		return e.mapping(v, key)
	case t.Kind() == reflect.Slice:
		n := &strict.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i := range v.Len() {
			n.Content = append(n.Content, e.value(v.Index(i), strict.Item(key, i)))
		}
		return n
	case hasNotation(t) || t.Kind() == reflect.String:
		return e.text(scalarText(v), key)
	}
	tag := "!!int"
	switch t.Kind() {
	case reflect.Bool:
		tag = "!!bool"
	case reflect.Float64:
		tag = "!!float"
	}
	return &strict.Node{Kind: yaml.ScalarNode, Tag: tag, Value: scalarText(v)}
}

// text encodes the text at key: with the names of the variables, where it came from
// variables, else escaped so that it is read back unchanged.
func (e encoder) text(s, key string) *strict.Node {
	if w, ok := e.written[key]; ok && w.value == s {
		return textNode(w.text)
	}
	if s = escape(s); secret.MayRefer(key) && secret.IsReference(s) {
		s = secret.Literal + s
	}
	return textNode(s)
}

// any encodes an option's value: the types that the decoder makes, and those that
// a Go program may reasonably use. Anything else becomes its text.
func (e encoder) any(x any, key string) *strict.Node {
	v := reflect.ValueOf(x)
	if stringer, ok := x.(fmt.Stringer); ok {
		return e.text(stringer.String(), key)
	}
	switch {
	case !v.IsValid():
		return textNode("")
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		n := &strict.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		entries := make(map[string]any, v.Len())
		for _, key := range v.MapKeys() {
			entries[key.String()] = v.MapIndex(key).Interface()
		}
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			n.Content = append(n.Content, textNode(name), e.any(entries[name], strict.Join(key, name)))
		}
		return n
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		n := &strict.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i := range v.Len() {
			n.Content = append(n.Content, e.any(v.Index(i).Interface(), strict.Item(key, i)))
		}
		return n
	case v.Kind() == reflect.Bool:
		return &strict.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(x)}
	case v.CanInt(), v.CanUint():
		return &strict.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: fmt.Sprint(x)}
	case v.CanFloat():
		text := strconv.FormatFloat(v.Float(), 'g', -1, 64)
		if !strings.ContainsAny(text, ".IN") { // 1e+21 is text to some readers, 1.0e+21 is not
			mantissa, exponent, ok := strings.Cut(text, "e")
			text = mantissa + ".0"
			if ok {
				text += "e" + exponent
			}
		}
		return &strict.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: text}
	}
	return e.text(fmt.Sprint(x), key)
}

func textNode(s string) *strict.Node {
	n := &strict.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if strings.ContainsFunc(s, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// flow writes a node in YAML's flow style, in one line.
func flow(n *strict.Node) string {
	var parts []string
	switch {
	case n.Kind == yaml.SequenceNode:
		for _, x := range n.Content {
			parts = append(parts, flow(x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, n.Content[i].Value+": "+flow(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case n.Tag == "!!str" && (!plainText.MatchString(n.Value) || strings.EqualFold(n.Value, "null")):
		text, err := json.Marshal(n.Value) // JSON's texts are YAML's
		if err != nil {
			return strconv.Quote(n.Value)
		}
		return string(text)
	}
	return n.Value
}

// plainText matches texts that need no quotes in YAML's flow style.
var plainText = regexp.MustCompile(`^[-+./]*[A-Za-z0-9_][A-Za-z0-9_/.%+@=-]*$`)

// clone returns a copy that shares no mutable state with s.
func (s *Scenario) clone() *Scenario {
	c := *s
	if s.Target.TLS != nil {
		tls := *s.Target.TLS
		c.Target.TLS = &tls
	}
	if s.Network != nil {
		network := *s.Network
		c.Network = &network
	}
	if s.Fleet != nil {
		fleet := *s.Fleet
		c.Fleet = &fleet
	}
	c.Target.Options = maps.Clone(s.Target.Options)
	c.Target.Settings = maps.Clone(s.Target.Settings)
	c.Objectives, c.Actions = slices.Clone(s.Objectives), slices.Clone(s.Actions)
	c.Workloads = slices.Clone(s.Workloads)
	for i, w := range c.Workloads {
		c.Workloads[i] = w.clone()
	}
	c.Workload.Arrivals.Steps = slices.Clone(s.Workload.Arrivals.Steps)
	if s.source != nil {
		c.source = &source{file: s.source.file, at: maps.Clone(s.source.at), written: maps.Clone(s.source.written)}
	}
	return &c
}
