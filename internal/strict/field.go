package strict

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sixnines/internal/spell"
)

// Field is a key of a format, as a struct field's tags describe it: yaml:"key,omitempty"
// or yaml:",inline", other, doc, enum, pattern, min and max.
type Field struct {
	Key     string
	Other   string // another name by which it is read; empty: none
	Index   []int  // see reflect.Value.FieldByIndex
	Type    reflect.Type
	Always  bool // written even if zero
	Doc     string
	Enum    []string
	Pattern string
	Min     string // in the field's own notation, as Max
	Max     string
}

// Fields returns the keys of a struct type in their order.
func Fields(t reflect.Type) []Field {
	var all []Field
	for i := range t.NumField() {
		f := t.Field(i)
		key, flags, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if flags == "inline" {
			for _, x := range Fields(f.Type) {
				x.Index = append([]int{i}, x.Index...)
				all = append(all, x)
			}
			continue
		}
		if key == "" {
			continue
		}
		x := Field{Key: key, Other: f.Tag.Get("other"), Index: []int{i}, Type: f.Type, Always: flags != "omitempty", Doc: f.Tag.Get("doc"),
			Pattern: f.Tag.Get("pattern"), Min: f.Tag.Get("min"), Max: f.Tag.Get("max")}
		if enum := f.Tag.Get("enum"); enum != "" {
			x.Enum = strings.Split(enum, ",")
		}
		all = append(all, x)
	}
	return all
}

// FieldOf returns the field of a struct type that has the key, or has it as its other name.
func FieldOf(t reflect.Type, key string) (Field, bool) {
	for _, f := range Fields(t) {
		if f.Key == key || f.Other == key && key != "" {
			return f, true
		}
	}
	return Field{}, false
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for _, f := range Fields(t) {
		keys = append(keys, f.Key)
	}
	return keys
}

// IsMapping reports whether values of type t are written as a mapping with keys of the
// format: structs that have any.
func IsMapping(t reflect.Type) bool {
	t = StructOf(t)
	return t.Kind() == reflect.Struct && len(Fields(t)) > 0
}

// StructOf returns the type behind t, where it is a pointer.
func StructOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// Keys returns the dotted keys of the format below the type t, mappings included.
func Keys(t reflect.Type, prefix string) []string {
	var all []string
	for _, f := range Fields(t) {
		dotted := Join(prefix, f.Key)
		all = append(all, dotted)
		if IsMapping(f.Type) {
			all = append(all, Keys(StructOf(f.Type), dotted)...)
		}
	}
	return all
}

// EndingIn returns the dotted keys below the type t whose last word is the given one.
func EndingIn(t reflect.Type, word string) []string {
	var found []string
	for _, dotted := range Keys(t, "") {
		if LastWord(dotted) == word {
			found = append(found, dotted)
		}
	}
	return found
}

// LastWord is what follows the last dot of a key.
func LastWord(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// Item is the key of an item of a list.
func Item(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// Join is the dotted key of a key below another.
func Join(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return prefix + "." + key
}

// Check says what is wrong with a value that was given, written as text, by what its
// field allows; no cause: nothing is. bound reads a limit of the field; nil: it is a
// number of Go's.
func (f Field) Check(v reflect.Value, text string, bound func(limit string) reflect.Value) (cause, hint string) {
	if bound == nil {
		bound = func(limit string) reflect.Value { return number(v.Type(), limit) }
	}
	switch {
	case v.Kind() == reflect.String:
		switch {
		case !utf8.ValidString(text):
			return NotUTF8(text)
		case len(f.Enum) > 0 && !slices.Contains(f.Enum, text):
			return Quote(text) + " is not allowed for " + f.Key, "one of " + strings.Join(f.Enum, ", ") + spell.Meant(text, f.Enum...)
		case f.Pattern != "" && !regexp.MustCompile("^(?:"+f.Pattern+")$").MatchString(text):
			return Quote(text) + " is not allowed for " + f.Key, f.Doc
		}
	case f.Min != "" && less(v, bound(f.Min)):
		return fmt.Sprintf("%s is too small for %s", text, f.Key), f.Range()
	case f.Max != "" && less(bound(f.Max), v):
		return fmt.Sprintf("%s is too large for %s", text, f.Key), f.Range()
	}
	return "", ""
}

// NotUTF8 says what is wrong with a text that is not UTF-8.
func NotUTF8(text string) (cause, hint string) {
	return Quote(text) + " is not UTF-8", "write text in UTF-8"
}

// Range says which values a field with limits takes.
func (f Field) Range() string { return spell.Span(f.Min, f.Max) }

// number reads a limit of a field of one of Go's types.
func number(t reflect.Type, limit string) reflect.Value {
	v := reflect.New(t).Elem()
	var err error
	switch {
	case v.CanUint():
		var x uint64
		x, err = strconv.ParseUint(limit, 10, 64)
		v.SetUint(x)
	case v.CanFloat():
		var x float64
		x, err = strconv.ParseFloat(limit, 64)
		v.SetFloat(x)
	default:
		var x int64
		x, err = strconv.ParseInt(limit, 10, 64)
		v.SetInt(x)
	}
	if err != nil {
		panic(fmt.Sprintf("strict: the limit %q of a %s: %v", limit, t, err))
	}
	return v
}

func less(a, b reflect.Value) bool {
	switch {
	case a.CanUint():
		return a.Uint() < b.Uint()
	case a.CanFloat():
		return a.Float() < b.Float()
	}
	return a.Int() < b.Int()
}
