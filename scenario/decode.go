package scenario

import (
	"errors"
	"reflect"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"sixnines/internal/strict"
)

// source remembers where the values of a scenario were written.
type source struct {
	file    string
	at      map[string]strict.Position // by dotted key
	written map[string]written         // values that came from variables, by dotted key
}

// decoder reads what the fields' tags do not describe: notations, variables, and mappings
// whose names the driver or the broker checks.
type decoder struct {
	strict.Decoder
	env     Environment // nil: variables are not replaced
	closed  bool        // no file is read
	written map[string]written
}

func newDecoder(file string, env Environment, from *source) *decoder {
	d := &decoder{env: env, written: from.written}
	d.Decoder = strict.Decoder{File: file, Whole: "the scenario", Root: reflect.TypeFor[Scenario](), At: from.at,
		Own: d.own, Scalar: d.notation, Expand: d.expand,
		Called: func(t reflect.Type) string { form, _ := notationOf(t); return form.name }}
	if env != nil {
		d.Key = func(name string) (cause, hint string) {
			if strings.Contains(name, "${") {
				return "a variable in the key " + quote(name), "variables stand in values only"
			}
			return "", ""
		}
	}
	return d
}

// errors returns what is wrong, in the order of the text.
func (d *decoder) errors() Errors {
	strict.Sort(d.Errors)
	all := make(Errors, len(d.Errors))
	for i, e := range d.Errors {
		all[i] = &Error{e.File, e.Line, e.Column, e.Key, e.Cause, e.Hint}
	}
	return all
}

// failWith adds an error that has no position yet.
func (d *decoder) failWith(n *strict.Node, key string, err error) {
	if e := new(Error); errors.As(err, &e) {
		d.Fail(n, key, e.Cause, e.Hint)
		return
	}
	d.Fail(n, key, err.Error(), "")
}

// own reads the values of types that have their own notation.
func (d *decoder) own(n *strict.Node, v reflect.Value, f strict.Field, key string, depth int) bool {
	t := v.Type()
	null := n.Kind == yaml.ScalarNode && n.Tag == "!!null"
	form, _ := notationOf(t)
	switch {
	case form.short && n.Kind == yaml.MappingNode:
		if n = d.short(n, key, depth, t == headersType); n != nil {
			d.Leaf(n, v, f, key)
		}
	case t == arrivalsType && n.Kind == yaml.ScalarNode && !null:
		a, err := ParseArrivals(n.Value)
		if err != nil {
			d.failWith(n, key, err)
			break
		}
		v.Set(reflect.ValueOf(a))
	case t == restartType && n.Kind == yaml.ScalarNode && !null:
		r, err := parseRestart(n.Value)
		if err != nil {
			d.failWith(n, key, err)
			break
		}
		v.Set(reflect.ValueOf(r))
	case t == endsType && n.Kind == yaml.ScalarNode && !null:
		one := make(Ends, 1)
		d.Leaf(n, reflect.ValueOf(one).Index(0), f, key)
		v.Set(reflect.ValueOf(one))
	case t == commandType && n.Kind == yaml.ScalarNode && !null:
		if n = d.words(n, key); n != nil {
			d.Value(n, v, f, key, depth)
		}
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
			if m := d.Options(n, key, namesHint, depth); len(m) > 0 {
				v.Set(reflect.ValueOf(m))
			}
		}
	default:
		return false
	}
	return true
}

// notation reads a text by the notation of its type, if that has one.
func (d *decoder) notation(n *strict.Node, v reflect.Value, f strict.Field, key string) bool {
	form, is := notationOf(v.Type())
	if !is {
		return false
	}
	x, err := form.parse(n.Value)
	if err != nil {
		d.failWith(n, key, err)
		return true
	}
	v.Set(reflect.ValueOf(x))
	if e := check(f, v); e != nil {
		d.failWith(n, key, e)
	}
	return true
}

// short turns a mapping of words into the text "name:value,name:value", for a
// value that has such a short form. Words may have commas unless they are many.
func (d *decoder) short(n *strict.Node, key string, depth int, many bool) *strict.Node {
	var words []string
	before := len(d.Errors)
	for name, value := range d.Entries(n, key, "", depth) {
		dotted := strict.Join(key, name.Value)
		switch {
		case !d.Plain(value, dotted, depth+1):
		case value.Kind != yaml.ScalarNode:
			d.Fail(value, key, dotted+" is "+strict.KindOf(value)+", not a word", "")
		default:
			if value = d.expand(value, dotted); value != nil && many && strings.Contains(value.Value, ",") {
				d.Fail(value, key, dotted+" has a comma", "values have none")
			} else if value != nil {
				words = append(words, name.Value+":"+value.Value)
			}
		}
	}
	if len(d.Errors) > before {
		return nil
	}
	return &strict.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: n.Line, Column: n.Column, Value: strings.Join(words, ",")}
}

// namesHint is the hint for options and settings.
const namesHint = "write name: value, one a line"

// settings decodes lines of a broker's configuration. The broker checks names and
// values, so a value is the text as it was written.
func (d *decoder) settings(n *strict.Node, v reflect.Value, key string, depth int) {
	m := map[string]string{}
	for name, value := range d.Entries(n, key, namesHint, depth) {
		dotted := strict.Join(key, name.Value)
		switch {
		case !d.Plain(value, dotted, depth+1):
		case value.Kind != yaml.ScalarNode:
			d.Fail(value, dotted, dotted+" is "+strict.KindOf(value)+", not a text", "write the value as it stands in the broker's configuration, in quotes")
		case value.Tag == "!!null":
			d.Fail(value, dotted, dotted+" has no value", "write one, or \"\" for an empty one")
		case !utf8.ValidString(value.Value):
			d.failWith(value, dotted, notUTF8(dotted))
		default:
			d.At[dotted] = d.Position(value)
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
