package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v4"
)

// FromJSON reads a scenario from JSON with the keys and values that [Parse]
// reads, as strictly, and with the same variables.
func FromJSON(name string, text []byte) (*Scenario, error) {
	return fromJSON(os.LookupEnv, name, text)
}

// FromRecord reads a scenario from the JSON of a result file, to be looked at and
// not to be run: variables stay as they are written.
func FromRecord(name string, text []byte) (*Scenario, error) {
	return fromJSON(nil, name, text)
}

func fromJSON(env Environment, name string, text []byte) (*Scenario, error) {
	if len(text) > MaxText {
		return nil, Errors{{File: name, Line: 1, Column: 1, Cause: fmt.Sprintf("the scenario is longer than %d bytes", MaxText)}}
	}
	r := jsonReader{text: text, in: json.NewDecoder(bytes.NewReader(text))}
	r.in.UseNumber()
	root, err := r.value(0)
	if err == nil {
		if _, err = r.in.Token(); err == io.EOF {
			err = nil
		} else {
			err = wrong("there is more after the scenario", "write one object")
		}
	}
	if err != nil {
		line, column := locate(text, min(int(r.in.InputOffset()), len(text)))
		return nil, Errors{{File: name, Line: line, Column: column, Cause: err.Error(), Hint: "this is not a scenario in JSON"}}
	}
	return decode(env, name, root)
}

// jsonReader turns JSON into the nodes that a YAML text of the same meaning
// has, so that one decoder serves both.
type jsonReader struct {
	text []byte
	in   *json.Decoder
}

func (r *jsonReader) value(depth int) (*yaml.Node, error) {
	start := int(r.in.InputOffset())
	token, err := r.in.Token()
	if err == io.EOF {
		return nil, wrong("the scenario is empty", "")
	}
	if err != nil {
		return nil, err
	}
	return r.node(token, start, depth)
}

func (r *jsonReader) node(token json.Token, start, depth int) (*yaml.Node, error) {
	for start < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[start]) >= 0 {
		start++
	}
	n := &yaml.Node{Kind: yaml.ScalarNode}
	n.Line, n.Column = locate(r.text, start)
	switch x := token.(type) {
	case json.Delim:
		if depth > maxDepth {
			return nil, wrong(fmt.Sprintf("nested more than %d deep", maxDepth), "")
		}
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		if x == '[' {
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		}
		for r.in.More() {
			child, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		_, err := r.in.Token()
		return n, err
	case string:
		n.Tag, n.Value, n.Style = "!!str", x, yaml.DoubleQuotedStyle
	case json.Number:
		n.Tag, n.Value = "!!int", x.String()
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	case bool:
		n.Tag, n.Value = "!!bool", fmt.Sprint(x)
	default:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, nil
}

// MarshalJSON writes the normalised scenario, with the keys of its YAML.
func (s Scenario) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	if err := writeJSON(&b, s.tree()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// UnmarshalJSON reads what [FromJSON] reads.
func (s *Scenario) UnmarshalJSON(text []byte) error {
	x, err := FromJSON("", text)
	if err != nil {
		return err
	}
	*s = *x
	return nil
}

// writeJSON writes a tree of nodes.
func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	brackets := "{}"
	switch {
	case n.Kind == yaml.SequenceNode:
		brackets = "[]"
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str":
		text, err := json.Marshal(n.Value)
		b.Write(text)
		return err
	case n.Kind == yaml.ScalarNode:
		b.WriteString(n.Value)
		return nil
	}
	b.WriteByte(brackets[0])
	for i, x := range n.Content {
		switch {
		case i == 0:
		case n.Kind == yaml.MappingNode && i%2 == 1:
			b.WriteByte(':')
		default:
			b.WriteByte(',')
		}
		if err := writeJSON(b, x); err != nil {
			return err
		}
	}
	b.WriteByte(brackets[1])
	return nil
}
