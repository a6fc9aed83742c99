package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"sixnines/internal/spell"
)

// maxDepth is how deep a text may be nested.
const maxDepth = 32

// position is where something was written.
type position struct {
	file         string // file or flag
	line, column int    // 0 for a flag
}

// source remembers where the values of a scenario were written.
type source struct {
	file    string
	at      map[string]position // by dotted key
	written map[string]written  // what variables gave, by dotted key
}

// decoder sets fields from the nodes of a text and collects what is wrong.
type decoder struct {
	file    string
	flag    bool        // positions are not known
	env     Environment // nil: texts are taken as they are
	sources map[string]position
	written map[string]written
	errs    Errors
}

func (d *decoder) position(n *yaml.Node) position {
	if d.flag {
		return position{file: d.file}
	}
	return position{d.file, n.Line, n.Column}
}

func (d *decoder) fail(n *yaml.Node, key, cause, hint string) {
	p := d.position(n)
	d.errs = append(d.errs, &Error{File: p.file, Line: p.line, Column: p.column, Key: key, Cause: cause, Hint: hint})
}

// failWith adds an error that has no position yet.
func (d *decoder) failWith(n *yaml.Node, key string, err error) {
	if e, ok := err.(*Error); ok {
		d.fail(n, key, e.Cause, e.Hint)
		return
	}
	d.fail(n, key, err.Error(), "")
}

// plain reports whether a node is one that scenarios are made of, and says what
// is wrong with it if not.
func (d *decoder) plain(n *yaml.Node, key string, depth int) bool {
	switch {
	case n.Kind == yaml.AliasNode:
		d.fail(n, key, "aliases are not part of the format", "write the value of *"+n.Value+" out")
	case n.Anchor != "":
		d.fail(n, key, "anchors are not part of the format", "remove &"+n.Anchor+" and write values out")
	case n.Style&yaml.TaggedStyle != 0:
		d.fail(n, key, "tags are not part of the format", "remove "+n.Tag)
	case depth > maxDepth:
		d.fail(n, key, fmt.Sprintf("nested more than %d deep", maxDepth), "")
	default:
		return true
	}
	return false
}

// value decodes n into v, a value of field f.
func (d *decoder) value(n *yaml.Node, v reflect.Value, f field, key string, depth int) {
	if !d.plain(n, key, depth) {
		return
	}
	d.sources[key] = d.position(n)
	if n = d.expand(n, key); n == nil {
		return
	}
	t := v.Type()
	if form, _ := notationOf(t); form.short && n.Kind == yaml.MappingNode {
		if n = d.short(n, key, depth, t == headersType); n == nil {
			return
		}
	}
	null := n.Kind == yaml.ScalarNode && n.Tag == "!!null"
	switch {
	case t == arrivalsType && n.Kind == yaml.ScalarNode && !null:
		d.text(n, v, key)
	case t == settingsType:
		if !null {
			d.settings(n, v, key, depth)
		}
	case t == workloadsType:
		if v.SetZero(); !null {
			d.workloads(n, v, key, depth)
		}
	case t.Kind() == reflect.Map:
		if !null {
			if m := d.options(n, key, depth); len(m) > 0 {
				v.Set(reflect.ValueOf(m))
			}
		}
	case isMapping(t):
		v.SetZero()
		if null {
			return // a key with everything below it commented out
		}
		if t.Kind() == reflect.Pointer {
			v.Set(reflect.New(t.Elem()))
			v = v.Elem()
		}
		d.mapping(n, v, key, depth)
	case t.Kind() == reflect.Slice:
		d.list(n, v, f, key, depth)
	case null:
		d.fail(n, key, key+" has no value", "write one, or remove the line: "+f.doc)
	case n.Kind != yaml.ScalarNode:
		d.fail(n, key, key+" is "+kindOf(n)+", not "+typeName(t), f.doc)
	default:
		before := len(d.errs)
		d.scalar(n, v, key)
		if len(d.errs) == before {
			if e := f.check(v); e != nil {
				d.failWith(n, key, e)
			}
		}
	}
}

// short turns a mapping of words into the text "name:value,name:value", for a
// value that has such a short form. Words may have commas unless they are many.
func (d *decoder) short(n *yaml.Node, key string, depth int, many bool) *yaml.Node {
	var words []string
	before := len(d.errs)
	for name, value := range d.entries(n, key, "", depth, nil) {
		dotted := join(key, name.Value)
		switch {
		case !d.plain(value, dotted, depth+1):
		case value.Kind != yaml.ScalarNode:
			d.fail(value, key, dotted+" is "+kindOf(value)+", not a word", "")
		default:
			if value = d.expand(value, dotted); value != nil && many && strings.Contains(value.Value, ",") {
				d.fail(value, key, dotted+" has a comma", "values have none")
			} else if value != nil {
				words = append(words, name.Value+":"+value.Value)
			}
		}
	}
	if len(d.errs) > before {
		return nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: n.Line, Column: n.Column, Value: strings.Join(words, ",")}
}

// mapping decodes a mapping into a struct.
func (d *decoder) mapping(n *yaml.Node, v reflect.Value, key string, depth int) {
	seen := map[string]*yaml.Node{}
	for name, value := range d.entries(n, key, "its keys are "+strings.Join(keysOf(v.Type()), ", "), depth, seen) {
		dotted := join(key, name.Value)
		f, ok := fieldOf(v.Type(), name.Value)
		if !ok {
			d.fail(name, dotted, "unknown key "+quote(name.Value)+in(key), unknownHint(v.Type(), name.Value))
			continue
		}
		if f.key != name.Value {
			dotted = join(key, f.key)
			if first, twice := seen[f.key]; twice {
				d.fail(name, dotted, fmt.Sprintf("duplicate key %s%s: it is another name of %s", quote(name.Value), in(key), f.key), d.firstGiven(first))
				continue
			}
			seen[f.key] = name
		}
		d.value(value, v.FieldByIndex(f.index), f, dotted, depth+1)
	}
}

// entries are the keys of a mapping and their values, without the keys that cannot be.
// What is none is an error with the hint. seen, if it is not nil, has the keys until now.
func (d *decoder) entries(n *yaml.Node, key, hint string, depth int, seen map[string]*yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	if seen == nil {
		seen = map[string]*yaml.Node{}
	}
	return func(yield func(name, value *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			d.fail(n, key, cmp.Or(key, "the scenario")+" is "+kindOf(n)+", not a mapping", hint)
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
func (d *decoder) key(n *yaml.Node, parent string, seen map[string]*yaml.Node, depth int) bool {
	if n.Tag == "!!merge" {
		d.fail(n, parent, "merge keys are not part of the format", "write the values out")
		return false
	}
	if !d.plain(n, parent, depth) {
		return false
	}
	if n.Kind != yaml.ScalarNode {
		d.fail(n, parent, "a key is "+kindOf(n)+", not a word", "")
		return false
	}
	if !utf8.ValidString(n.Value) {
		d.failWith(n, parent, notUTF8(n.Value))
		return false
	}
	if d.env != nil && strings.Contains(n.Value, "${") {
		d.fail(n, parent, "a variable in the key "+quote(n.Value), "variables stand in values only")
		return false
	}
	if first, twice := seen[n.Value]; twice {
		d.fail(n, join(parent, n.Value), "duplicate key "+quote(n.Value)+in(parent), d.firstGiven(first))
		return false
	}
	seen[n.Value] = n
	return true
}

// firstGiven is the hint about a key that is there twice.
func (d *decoder) firstGiven(first *yaml.Node) string {
	if d.flag {
		return "remove one of them"
	}
	return fmt.Sprintf("it is first given in line %d; remove one of them", first.Line)
}

func in(key string) string {
	if key == "" {
		return ""
	}
	return " in " + key
}

// unknownHint says what an unknown key of the type t may have meant: a key of
// it, one elsewhere in the format, or else which keys there are.
func unknownHint(t reflect.Type, name string) string {
	if n := spell.Nearest(name, keysOf(t)); n != "" {
		return "did you mean " + n + "?"
	}
	if others := elsewhere(reflect.TypeFor[Scenario](), "", name); len(others) > 0 {
		return "did you mean " + strings.Join(others, " or ") + "?"
	}
	return "valid keys are " + strings.Join(keysOf(t), ", ")
}

// list decodes a sequence.
func (d *decoder) list(n *yaml.Node, v reflect.Value, f field, key string, depth int) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, key, key+" is "+kindOf(n)+", not a list", f.doc)
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, x := range n.Content {
		d.value(x, list.Index(i), field{doc: f.doc}, item(key, i), depth+1)
	}
	v.Set(list)
}

// scalar decodes a scalar that is not null.
func (d *decoder) scalar(n *yaml.Node, v reflect.Value, key string) {
	switch t := v.Type(); {
	case t == durationType:
		x, err := parseDuration(n.Value)
		if err != nil {
			d.failWith(n, key, err)
			return
		}
		v.SetInt(int64(x))
	case hasNotation(t):
		d.text(n, v, key)
	case t.Kind() == reflect.String:
		v.SetString(n.Value)
	case t.Kind() == reflect.Bool:
		if n.Value != "true" && n.Value != "false" || d.quoted(n) {
			d.fail(n, key, quote(n.Value)+" is not a truth value", "write true or false")
			return
		}
		v.SetBool(n.Value == "true")
	case t.Kind() == reflect.Float64:
		x, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) || d.quoted(n) {
			d.fail(n, key, quote(n.Value)+" is not a number", "write a decimal number such as 0.5"+unquoteHint(n))
			return
		}
		v.SetFloat(x)
	default:
		d.whole(n, v, key)
	}
}

// whole decodes a whole number.
func (d *decoder) whole(n *yaml.Node, v reflect.Value, key string) {
	digits := strings.TrimPrefix(n.Value, "-")
	most := uint64(math.MaxInt64)
	if v.CanUint() {
		most = math.MaxUint64
	}
	x, err := spell.Whole(digits)
	_, long := strconv.ParseUint(digits, 10, 64)
	large := errors.Is(long, strconv.ErrRange) || err == nil && x > most
	switch {
	case len(digits) > 1 && digits[0] == '0' && !strings.Contains(digits, ".") || d.quoted(n) || err != nil && !large:
		d.failWith(n, key, because(quote(n.Value), notWhole(err), "write decimal digits, or such as 20k"+unquoteHint(n)))
	case digits != n.Value:
		d.fail(n, key, n.Value+" is negative", key+" counts from 0")
	case large:
		d.fail(n, key, quote(n.Value)+" is too large", fmt.Sprintf("at most %d", most))
	case v.CanUint():
		v.SetUint(x)
	default:
		v.SetInt(int64(x))
	}
}

// notWhole is err, of a number in quotes that it is one.
func notWhole(err error) error {
	read := &spell.Error{}
	errors.As(err, &read)
	return &spell.Error{Cause: "is not a whole number", Hint: read.Hint}
}

// quoted reports whether the scalar was written as text.
func (d *decoder) quoted(n *yaml.Node) bool {
	return !d.flag && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

func unquoteHint(n *yaml.Node) string {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		return ", without quotes"
	}
	return ""
}

// text decodes a scalar by its type's own notation.
func (d *decoder) text(n *yaml.Node, v reflect.Value, key string) {
	if err := v.Addr().Interface().(interface{ Set(string) error }).Set(n.Value); err != nil {
		d.failWith(n, key, err)
	}
}

// namesHint is that of options and settings.
const namesHint = "write name: value, one a line"

// settings decodes lines of a broker's configuration, whose names and values
// are the broker's to judge: a value is the text as it was written.
func (d *decoder) settings(n *yaml.Node, v reflect.Value, key string, depth int) {
	m := map[string]string{}
	for name, value := range d.entries(n, key, namesHint, depth, nil) {
		dotted := join(key, name.Value)
		switch {
		case !d.plain(value, dotted, depth+1):
		case value.Kind != yaml.ScalarNode:
			d.fail(value, dotted, dotted+" is "+kindOf(value)+", not a text", "write the value as it stands in the broker's configuration, in quotes")
		case value.Tag == "!!null" && !d.quoted(value):
			d.fail(value, dotted, dotted+" has no value", "write one, or \"\" for an empty one")
		case !utf8.ValidString(value.Value):
			d.failWith(value, dotted, notUTF8(dotted))
		default:
			d.sources[dotted] = d.position(value)
			if value = d.expand(value, dotted); value == nil {
				continue
			}
			if err := checkSetting(name.Value, value.Value); err != nil {
				d.failWith(value, dotted, err)
			}
			m[name.Value] = value.Value
		}
	}
	if len(m) > 0 {
		v.Set(reflect.ValueOf(m))
	}
}

// options decodes a driver's options, whose keys and types are the driver's to
// judge.
func (d *decoder) options(n *yaml.Node, key string, depth int) map[string]any {
	m := make(map[string]any, len(n.Content)/2)
	for name, value := range d.entries(n, key, namesHint, depth, nil) {
		m[name.Value] = d.any(value, join(key, name.Value), depth+1)
	}
	return m
}

// any decodes a value whose type the text alone decides: string, int, uint64 if
// it is too large for int, float64, bool, []any or map[string]any.
func (d *decoder) any(n *yaml.Node, key string, depth int) any {
	if !d.plain(n, key, depth) {
		return nil
	}
	d.sources[key] = d.position(n)
	if !utf8.ValidString(n.Value) {
		d.failWith(n, key, notUTF8(key))
	}
	if n = d.expand(n, key); n == nil {
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		return d.options(n, key, depth)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, x := range n.Content {
			list[i] = d.any(x, item(key, i), depth+1)
		}
		return list
	}
	switch n.Tag {
	case "!!null":
		d.fail(n, key, key+" has no value", "write one, or remove the line")
	case "!!bool":
		if n.Value == "true" || n.Value == "false" {
			return n.Value == "true"
		}
		d.fail(n, key, key+" is not a truth value", "write true or false, or put it in quotes")
	case "!!int":
		digits := strings.TrimPrefix(n.Value, "-")
		if strings.Trim(digits, "0123456789") == "" && (digits == "0" || digits[0] != '0') {
			if x, err := strconv.Atoi(n.Value); err == nil {
				return x
			}
			if x, err := strconv.ParseInt(n.Value, 10, 64); err == nil {
				return x // where int has 32 bits
			}
			if x, err := strconv.ParseUint(n.Value, 10, 64); err == nil {
				return x
			}
		}
		d.fail(n, key, "the number of "+key+" is not understood", "write it in decimal digits, or put it in quotes") // it may be a password
	case "!!float":
		x, err := strconv.ParseFloat(n.Value, 64)
		if err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
			return x
		}
		d.fail(n, key, "the number of "+key+" is not understood", "write a decimal number, or put it in quotes")
	}
	return n.Value
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if n.Tag == "!!null" {
		return "empty"
	}
	return quote(n.Value)
}

func typeName(t reflect.Type) string {
	if form, ok := notationOf(t); ok {
		return form.name
	}
	switch t.Kind() {
	case reflect.String:
		return "a word"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
