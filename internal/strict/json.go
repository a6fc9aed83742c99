package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
)

// JSON returns the node that a YAML text of the same meaning has, so that one decoder
// serves both.
func (d Document) JSON(text []byte) (*Node, *Error) {
	if len(text) > d.Most {
		return nil, &Error{Position: Position{d.Name, 1, 1}, Cause: fmt.Sprintf("the %s is longer than %d bytes", d.Kind, d.Most)}
	}
	r := jsonReader{text: text, in: json.NewDecoder(bytes.NewReader(text))}
	r.in.UseNumber()
	root, err := r.value(0)
	switch {
	case errors.Is(err, io.EOF):
		err = errors.New("the " + d.Kind + " is empty")
	case err == nil:
		if _, err = r.in.Token(); err == io.EOF {
			return root, nil
		}
		err = errors.New("there is more after the " + d.Kind + " (write one object)")
	}
	line, column := Locate(text, min(int(r.in.InputOffset()), len(text)))
	return nil, &Error{Position: Position{d.Name, line, column}, Cause: err.Error(), Hint: "this is not a " + d.Kind + " in JSON"}
}

// jsonReader turns JSON into nodes.
type jsonReader struct {
	text []byte
	in   *json.Decoder
}

func (r *jsonReader) value(depth int) (*Node, error) {
	start := int(r.in.InputOffset())
	token, err := r.in.Token()
	if err != nil {
		return nil, err
	}
	for start < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[start]) >= 0 {
		start++
	}
	n := &Node{Kind: yaml.ScalarNode}
	n.Line, n.Column = Locate(r.text, start)
	switch x := token.(type) {
	case json.Delim:
		if depth > maxDepth {
			return nil, errors.New(tooDeep())
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
