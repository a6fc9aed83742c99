package generate

import (
	"bytes"
	"fmt"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

// Check reports in what a text is not as a schema says. Keys that the schema does
// not name are wrong too: it is open for those of later versions, which are not what is
// checked.
func Check(schema, text []byte) error {
	parsed, err := validator.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	closeObjects(parsed)
	const place = "file:///schema.json"
	c := validator.NewCompiler()
	if err := c.AddResource(place, parsed); err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	compiled, err := c.Compile(place)
	if err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	value, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("read the text: %w", err)
	}
	return compiled.Validate(value)
}

// closeObjects makes objects that name their keys refuse others.
func closeObjects(node any) {
	switch v := node.(type) {
	case map[string]any:
		if _, named := v["properties"].(map[string]any); named && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, below := range v {
			closeObjects(below)
		}
	case []any:
		for _, below := range v {
			closeObjects(below)
		}
	}
}
