package strict

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"sixnines/internal/spell"
)

// Leaf decodes a node into a value that is a word, a number, or a text with a notation,
// and checks it by what its field allows.
func (d *Decoder) Leaf(n *Node, v reflect.Value, f Field, key string) {
	switch {
	case isNull(n):
		d.Fail(n, key, key+" has no value", strings.TrimSuffix("write one, or remove the line: "+f.Doc, ": "))
	case n.Kind != yaml.ScalarNode:
		d.Fail(n, key, key+" is "+KindOf(n)+", not "+d.called(v.Type()), f.Doc)
	case d.Scalar != nil && d.Scalar(n, v, f, key):
	case d.scalar(n, v, key):
		if cause, hint := f.Check(v, fmt.Sprint(v.Interface()), nil); cause != "" {
			d.Fail(n, key, cause, hint)
		}
	}
}

// called is what a value of a type is called.
func (d *Decoder) called(t reflect.Type) string {
	if d.Called != nil {
		if name := d.Called(t); name != "" {
			return name
		}
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

// scalar decodes a scalar that is not null into one of Go's types, and reports whether
// it could.
func (d *Decoder) scalar(n *Node, v reflect.Value, key string) bool {
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Value)
	case reflect.Bool:
		if n.Value != "true" && n.Value != "false" || d.quoted(n) {
			d.Fail(n, key, Quote(n.Value)+" is not a truth value", "write true or false")
			return false
		}
		v.SetBool(n.Value == "true")
	case reflect.Float64:
		x, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) || d.quoted(n) {
			d.Fail(n, key, Quote(n.Value)+" is not a number", "write a decimal number such as 0.5"+unquoteHint(n))
			return false
		}
		v.SetFloat(x)
	default:
		return d.whole(n, v, key)
	}
	return true
}

// whole decodes a whole number.
func (d *Decoder) whole(n *Node, v reflect.Value, key string) bool {
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
		hint := "write decimal digits, or such as 20k" + unquoteHint(n)
		if read := new(spell.Error); errors.As(err, &read) && read.Hint != "" {
			hint = read.Hint
		}
		d.Fail(n, key, Quote(n.Value)+" is not a whole number", hint)
	case digits != n.Value:
		d.Fail(n, key, n.Value+" is negative", key+" counts from 0")
	case large:
		d.Fail(n, key, Quote(n.Value)+" is too large", fmt.Sprintf("at most %d", most))
	case v.CanUint():
		v.SetUint(x)
		return true
	default:
		v.SetInt(int64(x))
		return true
	}
	return false
}

// quoted reports whether the scalar was written as text.
func (d *Decoder) quoted(n *Node) bool {
	return !d.Flag && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

func unquoteHint(n *Node) string {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		return ", without quotes"
	}
	return ""
}

// Options decodes a mapping whose keys and types are for others to judge.
func (d *Decoder) Options(n *Node, key, hint string, depth int) map[string]any {
	m := make(map[string]any, len(n.Content)/2)
	for name, value := range d.Entries(n, key, hint, depth) {
		m[name.Value] = d.any(value, Join(key, name.Value), hint, depth+1)
	}
	return m
}

// any decodes a value whose type the text alone decides: string, int, uint64 if
// it is too large for int, float64, bool, []any or map[string]any.
func (d *Decoder) any(n *Node, key, hint string, depth int) any {
	if !d.Plain(n, key, depth) {
		return nil
	}
	d.note(n, key)
	if !utf8.ValidString(n.Value) {
		cause, hint := NotUTF8(key)
		d.Fail(n, key, cause, hint)
	}
	if n = d.expanded(n, key); n == nil {
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		return d.Options(n, key, hint, depth)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, x := range n.Content {
			list[i] = d.any(x, Item(key, i), hint, depth+1)
		}
		return list
	}
	switch n.Tag {
	case "!!null":
		d.Fail(n, key, key+" has no value", "write one, or remove the line")
	case "!!bool":
		if n.Value == "true" || n.Value == "false" {
			return n.Value == "true"
		}
		d.Fail(n, key, key+" is not a truth value", "write true or false, or put it in quotes")
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
		d.Fail(n, key, "the number of "+key+" is not understood", "write it in decimal digits, or put it in quotes") // it may be a password
	case "!!float":
		x, err := strconv.ParseFloat(n.Value, 64)
		if err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
			return x
		}
		d.Fail(n, key, "the number of "+key+" is not understood", "write a decimal number, or put it in quotes")
	}
	return n.Value
}
