package scenario

import (
	"reflect"
	"strconv"
	"strings"
)

// field is a key of the format, as a struct field's tags describe it.
type field struct {
	key     string
	other   string // another name by which it is read; empty: none
	index   []int  // see reflect.Value.FieldByIndex
	typ     reflect.Type
	always  bool // written even if zero
	doc     string
	enum    []string
	pattern string
	min     string
	max     string
}

// fieldsOf returns the keys of a struct type in their order.
func fieldsOf(t reflect.Type) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		key, flags, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if flags == "inline" {
			for _, x := range fieldsOf(f.Type) {
				x.index = append([]int{i}, x.index...)
				all = append(all, x)
			}
			continue
		}
		if key == "" {
			continue
		}
		x := field{key: key, other: f.Tag.Get("other"), index: []int{i}, typ: f.Type, always: flags != "omitempty", doc: f.Tag.Get("doc"),
			pattern: f.Tag.Get("pattern"), min: f.Tag.Get("min"), max: f.Tag.Get("max")}
		if enum := f.Tag.Get("enum"); enum != "" {
			x.enum = strings.Split(enum, ",")
		}
		all = append(all, x)
	}
	return all
}

func fieldOf(t reflect.Type, key string) (field, bool) {
	for _, f := range fieldsOf(t) {
		if f.key == key || f.other == key && key != "" {
			return f, true
		}
	}
	return field{}, false
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for _, f := range fieldsOf(t) {
		keys = append(keys, f.key)
	}
	return keys
}

// The types that the format treats in a way of their own.
var (
	arrivalsType  = reflect.TypeFor[Arrivals]()  // a mapping, or a text
	workloadsType = reflect.TypeFor[Workloads]() // a list, but written as a mapping
)

// isMapping reports whether values of type t are written as a mapping with
// keys of the format.
func isMapping(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && !hasNotation(t)
}

// structOf returns the struct type behind t.
func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// allKeys returns the dotted keys of the format below the type t, mappings
// included.
func allKeys(t reflect.Type, prefix string) []string {
	var all []string
	for _, f := range fieldsOf(t) {
		dotted := join(prefix, f.key)
		all = append(all, dotted)
		if isMapping(f.typ) {
			all = append(all, allKeys(structOf(f.typ), dotted)...)
		}
	}
	return all
}

// elsewhere returns the dotted keys of the format that end in the given key,
// below the type t.
func elsewhere(t reflect.Type, prefix, key string) []string {
	var found []string
	for _, dotted := range allKeys(t, prefix) {
		if lastWord(dotted) == key {
			found = append(found, dotted)
		}
	}
	return found
}

// lastWord is what follows the last dot of a key.
func lastWord(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// item is the key of an item of a list.
func item(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

func join(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return prefix + "." + key
}
