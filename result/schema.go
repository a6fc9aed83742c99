package result

import _ "embed"

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema, draft 2020-12, of a record of a result file:
// of each of its lines. A test makes it from the types and their comments.
func Schema() []byte { return schema }
