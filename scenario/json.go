package scenario

import (
	"bytes"
	"encoding/json"
	"os"

	"go.yaml.in/yaml/v4"

	"sixnines/internal/strict"
)

// FromJSON reads a scenario from JSON with the keys and values that [Parse]
// reads, as strictly, and with the same variables. Its errors are those of [Parse].
func FromJSON(name string, text []byte) (*Scenario, error) {
	return fromJSON(os.LookupEnv, name, text)
}

// FromRecord reads a scenario from the JSON of a result file, to be shown and not to be
// run: it does not replace variables.
func FromRecord(name string, text []byte) (*Scenario, error) {
	return fromJSON(nil, name, text)
}

func fromJSON(env Environment, name string, text []byte) (*Scenario, error) {
	root, fault := document(name).JSON(text)
	return decoded(env, name, root, fault, false)
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
func writeJSON(b *bytes.Buffer, n *strict.Node) error {
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
