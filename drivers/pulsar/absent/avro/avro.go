// Package avro takes the place of the library for Avro: the Pulsar driver sends bytes without a
// schema.
package avro

import "errors"

// ErrLeftOut says that Avro is not linked.
var ErrLeftOut = errors.New("Sixnines is built without Avro")

// Schema is a schema.
type Schema interface{ String() string }

// Parse returns [ErrLeftOut].
func Parse(string) (Schema, error) { return nil, ErrLeftOut }

// Marshal returns [ErrLeftOut].
func Marshal(Schema, any) ([]byte, error) { return nil, ErrLeftOut }

// Unmarshal returns [ErrLeftOut].
func Unmarshal(Schema, []byte, any) error { return ErrLeftOut }
