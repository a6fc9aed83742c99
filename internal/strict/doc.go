// Package strict reads YAML into structs and says what is wrong, where, and what to do
// about it: one document in UTF-8, without anchors, aliases, tags and merge keys, in
// which every key is known, stands once, and has a value of its field's type within the
// field's limits. All errors of a text are found at once, in the order of the text.
//
// The fields' tags are the format, see [Field]. What a format has beside them, it adds
// by [Decoder.Own] and [Decoder.Expand].
package strict
