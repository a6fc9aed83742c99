package strict

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"sixnines/internal/spell"
)

// Decoder sets fields from the nodes of a text and collects what is wrong.
type Decoder struct {
	File   string
	Flag   bool                // the text is a flag's: it has no lines, and no quotes of YAML
	Whole  string              // what the text is called in errors: "the scenario"
	Root   reflect.Type        // of the whole text; an unknown key may be one of another mapping
	At     map[string]Position // where each value was written, by dotted key; nil: it is not noted
	Errors []Error

	// Own reads a value that the format writes in a way of its own, and reports
	// whether it did.
	Own func(n *Node, v reflect.Value, f Field, key string, depth int) bool
	// Scalar reads a text that has a notation of its own, likewise, and Called is what
	// such values are called, "" for all others.
	Scalar func(n *Node, v reflect.Value, f Field, key string) bool
	Called func(t reflect.Type) string
	// Expand returns what stands for a node; nil after an error.
	Expand func(n *Node, key string) *Node
	// Key says what is wrong with a mapping's key; no cause: nothing is.
	Key func(name string) (cause, hint string)
}

// Decode sets the struct v, which stands at the key, and is the whole text where that is "".
func (d *Decoder) Decode(n *Node, v reflect.Value, key string) {
	if d.Plain(n, key, 0) {
		d.mapping(n, v, key, 0)
	}
}

// Position returns where a node was written.
func (d *Decoder) Position(n *Node) Position {
	if d.Flag {
		return Position{File: d.File}
	}
	return Position{d.File, n.Line, n.Column}
}

// Fail notes what is wrong with a node.
func (d *Decoder) Fail(n *Node, key, cause, hint string) {
	d.Errors = append(d.Errors, Error{d.Position(n), key, cause, hint})
}

// Plain reports whether a node is one that texts are made of, and says what is wrong
// with it if not.
func (d *Decoder) Plain(n *Node, key string, depth int) bool {
	switch {
	case n.Kind == yaml.AliasNode:
		d.Fail(n, key, "aliases are not part of the format", "write the value of *"+n.Value+" out")
	case n.Anchor != "":
		d.Fail(n, key, "anchors are not part of the format", "remove &"+n.Anchor+" and write values out")
	case n.Style&yaml.TaggedStyle != 0:
		d.Fail(n, key, "tags are not part of the format", "remove "+n.Tag)
	case depth > maxDepth:
		d.Fail(n, key, tooDeep(), "")
	default:
		return true
	}
	return false
}

// Value decodes n into v, a value of field f.
func (d *Decoder) Value(n *Node, v reflect.Value, f Field, key string, depth int) {
	if !d.Plain(n, key, depth) {
		return
	}
	d.note(n, key)
	if n = d.expanded(n, key); n == nil {
		return
	}
	if d.Own != nil && d.Own(n, v, f, key, depth) {
		return
	}
	switch t, null := v.Type(), isNull(n); {
	case IsMapping(t) || t.Kind() == reflect.Map:
		if v.SetZero(); null {
			return // a key with everything below it commented out
		}
		if t.Kind() == reflect.Map {
			d.named(n, v, f, key, depth)
			return
		}
		if t.Kind() == reflect.Pointer {
			v.Set(reflect.New(t.Elem()))
			v = v.Elem()
		}
		d.mapping(n, v, key, depth)
	case t.Kind() == reflect.Slice:
		d.list(n, v, f, key, depth)
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		d.Leaf(n, v.Elem(), f, key)
	default:
		d.Leaf(n, v, f, key)
	}
}

// note notes where a value was written.
func (d *Decoder) note(n *Node, key string) {
	if d.At != nil {
		d.At[key] = d.Position(n)
	}
}

func (d *Decoder) expanded(n *Node, key string) *Node {
	if d.Expand == nil {
		return n
	}
	return d.Expand(n, key)
}

// mapping decodes a mapping into a struct.
func (d *Decoder) mapping(n *Node, v reflect.Value, key string, depth int) {
	seen := map[string]*Node{}
	for name, value := range d.entries(n, key, "its keys are "+strings.Join(keysOf(v.Type()), ", "), depth, seen) {
		dotted := Join(key, name.Value)
		f, ok := FieldOf(v.Type(), name.Value)
		if !ok {
			d.Unknown(name, v.Type(), name.Value, key, dotted)
			continue
		}
		if f.Key != name.Value {
			dotted = Join(key, f.Key)
			if first, twice := seen[f.Key]; twice {
				d.Fail(name, dotted, fmt.Sprintf("duplicate key %s%s: it is another name of %s", Quote(name.Value), in(key), f.Key), d.firstGiven(first))
				continue
			}
			seen[f.Key] = name
		}
		d.Value(value, v.FieldByIndex(f.Index), f, dotted, depth+1)
	}
}

// named decodes a mapping whose keys are names.
func (d *Decoder) named(n *Node, v reflect.Value, f Field, key string, depth int) {
	v.Set(reflect.MakeMap(v.Type()))
	for name, value := range d.Entries(n, key, f.Doc, depth) {
		x := reflect.New(v.Type().Elem()).Elem()
		d.Value(value, x, Field{Doc: f.Doc}, Join(key, name.Value), depth+1)
		v.SetMapIndex(reflect.ValueOf(name.Value), x)
	}
}

// Entries are the keys of a mapping and their values, without the keys that cannot be.
// A node that is no mapping is an error with the hint.
func (d *Decoder) Entries(n *Node, key, hint string, depth int) iter.Seq2[*Node, *Node] {
	return d.entries(n, key, hint, depth, map[string]*Node{})
}

// entries are those of [Decoder.Entries]; seen has the keys until now.
func (d *Decoder) entries(n *Node, key, hint string, depth int, seen map[string]*Node) iter.Seq2[*Node, *Node] {
	return func(yield func(name, value *Node) bool) {
		if n.Kind != yaml.MappingNode {
			d.Fail(n, key, cmp.Or(key, d.Whole)+" is "+KindOf(n)+", not a mapping", hint)
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if d.key(n.Content[i], key, seen, depth) && !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// key checks a mapping's key.
func (d *Decoder) key(n *Node, parent string, seen map[string]*Node, depth int) bool {
	if n.Tag == "!!merge" {
		d.Fail(n, parent, "merge keys are not part of the format", "write the values out")
		return false
	}
	if !d.Plain(n, parent, depth) {
		return false
	}
	if n.Kind != yaml.ScalarNode {
		d.Fail(n, parent, "a key is "+KindOf(n)+", not a word", "")
		return false
	}
	var cause, hint string
	switch first, twice := seen[n.Value]; {
	case !utf8.ValidString(n.Value):
		cause, hint = NotUTF8(n.Value)
	case twice:
		d.Fail(n, Join(parent, n.Value), "duplicate key "+Quote(n.Value)+in(parent), d.firstGiven(first))
		return false
	case d.Key != nil:
		cause, hint = d.Key(n.Value)
	}
	if cause != "" {
		d.Fail(n, parent, cause, hint)
		return false
	}
	seen[n.Value] = n
	return true
}

// firstGiven is the hint about a key that occurs twice.
func (d *Decoder) firstGiven(first *Node) string {
	if d.Flag {
		return "remove one of them"
	}
	return fmt.Sprintf("it is first given in line %d; remove one of them", first.Line)
}

// in says of what is wrong in which mapping it is.
func in(key string) string {
	if key == "" {
		return ""
	}
	return " in " + key
}

// Unknown notes that a name is no key of the type t, at the dotted key parent, and what
// it may have meant: a key of that type, one elsewhere in the format, or else which keys
// there are.
func (d *Decoder) Unknown(n *Node, t reflect.Type, name, parent, key string) {
	hint := "valid keys are " + strings.Join(keysOf(t), ", ")
	if near := spell.Nearest(name, keysOf(t)); near != "" {
		hint = "did you mean " + near + "?"
	} else if others := EndingIn(d.Root, name); len(others) > 0 {
		hint = "did you mean " + strings.Join(others, " or ") + "?"
	}
	d.Fail(n, key, "unknown key "+Quote(name)+in(parent), hint)
}

// list decodes a sequence.
func (d *Decoder) list(n *Node, v reflect.Value, f Field, key string, depth int) {
	if n.Kind != yaml.SequenceNode {
		d.Fail(n, key, key+" is "+KindOf(n)+", not a list", f.Doc)
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, x := range n.Content {
		d.Value(x, list.Index(i), Field{Doc: f.Doc}, Item(key, i), depth+1)
	}
	v.Set(list)
}

// KindOf says what a node is, instead of what was wanted.
func KindOf(n *Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "empty"
	}
	return Quote(n.Value)
}

func isNull(n *Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }
