package scenario

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Encode writes the normalised scenario as YAML. [Parse] reads it back to an
// equal one.
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
func (s *Scenario) tree() *yaml.Node {
	n := s.clone()
	n.Normalise()
	return mappingNode(reflect.ValueOf(n).Elem())
}

// mappingNode encodes a struct; zero fields are left out.
func mappingNode(v reflect.Value) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, f := range fieldsOf(v.Type()) {
		x := v.Field(f.index)
		if f.always || !x.IsZero() {
			n.Content = append(n.Content, textNode(f.key), valueNode(x))
		}
	}
	return n
}

func valueNode(v reflect.Value) *yaml.Node {
	t := v.Type()
	switch {
	case t.Kind() == reflect.Map:
		return anyNode(v.Interface())
	case isMapping(t):
		if t.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		return mappingNode(v)
	case t.Kind() == reflect.Slice:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i := range v.Len() {
			n.Content = append(n.Content, valueNode(v.Index(i)))
		}
		return n
	case hasNotation(t) || t == durationType || t.Kind() == reflect.String:
		return textNode(scalarText(v))
	}
	tag := "!!int"
	switch t.Kind() {
	case reflect.Bool:
		tag = "!!bool"
	case reflect.Float64:
		tag = "!!float"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: scalarText(v)}
}

// anyNode encodes an option's value: what the decoder makes of options, and
// what a Go program may reasonably put there. Anything else becomes its text.
func anyNode(x any) *yaml.Node {
	v := reflect.ValueOf(x)
	if stringer, ok := x.(fmt.Stringer); ok {
		return textNode(stringer.String())
	}
	switch {
	case !v.IsValid():
		return textNode("")
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		entries := make(map[string]any, v.Len())
		for _, key := range v.MapKeys() {
			entries[key.String()] = v.MapIndex(key).Interface()
		}
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			n.Content = append(n.Content, textNode(key), anyNode(entries[key]))
		}
		return n
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i := range v.Len() {
			n.Content = append(n.Content, anyNode(v.Index(i).Interface()))
		}
		return n
	case v.Kind() == reflect.Bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v.Bool())}
	case v.CanInt():
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v.Int(), 10)}
	case v.CanUint():
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatUint(v.Uint(), 10)}
	case v.CanFloat():
		text := strconv.FormatFloat(v.Float(), 'g', -1, 64)
		if !strings.ContainsAny(text, ".IN") { // 1e+21 is text to some readers, 1.0e+21 is not
			mantissa, exponent, ok := strings.Cut(text, "e")
			text = mantissa + ".0"
			if ok {
				text += "e" + exponent
			}
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: text}
	}
	return textNode(fmt.Sprint(x))
}

func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if strings.ContainsFunc(s, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// clone returns a copy that shares nothing that can be changed.
func (s *Scenario) clone() *Scenario {
	c := *s
	if s.Target.TLS != nil {
		tls := *s.Target.TLS
		c.Target.TLS = &tls
	}
	c.Target.Options = maps.Clone(s.Target.Options)
	c.Target.Settings = maps.Clone(s.Target.Settings)
	c.Objectives = slices.Clone(s.Objectives)
	c.Workload.Arrivals.Steps = slices.Clone(s.Workload.Arrivals.Steps)
	if s.source != nil {
		c.source = &source{file: s.source.file, at: maps.Clone(s.source.at)}
	}
	return &c
}
