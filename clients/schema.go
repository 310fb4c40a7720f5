package clients

import _ "embed"

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema of a line of the protocol, in either direction.
func Schema() []byte { return append([]byte(nil), schema...) }
