// Package jsonschema is as much of JSON Schema, draft 2020-12, as the formats of
// Sixnines need.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Dialect is the draft, as the root of a schema names it.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// Node is a node of a schema.
type Node struct {
	Dialect     string      `json:"$schema,omitempty"`
	ID          string      `json:"$id,omitempty"`
	Title       string      `json:"title,omitempty"`
	Description string      `json:"description,omitempty"`
	Type        any         `json:"type,omitempty"` // a word or several
	Const       any         `json:"const,omitempty"`
	Format      string      `json:"format,omitempty"`
	Enum        []string    `json:"enum,omitempty"`
	Pattern     string      `json:"pattern,omitempty"`
	Minimum     json.Number `json:"minimum,omitempty"`
	Maximum     json.Number `json:"maximum,omitempty"`
	AnyOf       []*Node     `json:"anyOf,omitempty"`
	Items       *Node       `json:"items,omitempty"`
	MinItems    int         `json:"minItems,omitempty"`
	MaxItems    int         `json:"maxItems,omitempty"`
	Properties  Properties  `json:"properties,omitempty"`
	Required    []string    `json:"required,omitempty"`
	Additional  any         `json:"additionalProperties,omitempty"` // false, or the schema of each
	Examples    []string    `json:"examples,omitempty"`
	Ref         string      `json:"$ref,omitempty"`
	Definitions Properties  `json:"$defs,omitempty"`
}

// Properties keep their order.
type Properties []Property

// Property is a node with its key.
type Property struct {
	Key  string
	Node *Node
}

// MarshalJSON writes an object in the order of p.
func (p Properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, x := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		text, err := json.Marshal(x.Node)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", x.Key, text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Text is the schema as a file of its own.
func (n *Node) Text() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(n); err != nil {
		panic(err) // nothing in it can fail
	}
	return b.Bytes()
}
