package scenario

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"sixnines/internal/spell"
)

// check compares a value that was given with what its field allows.
func (f field) check(v reflect.Value) *Error {
	text := scalarText(v)
	if s, ok := v.Interface().(Sizes); ok {
		if s.spread != "" {
			return nil // what is in it was checked when it was read
		}
		f.typ, v = sizeType, reflect.ValueOf(s.fixed)
	}
	if v.Kind() == reflect.String {
		if !utf8.ValidString(text) {
			return notUTF8(text)
		}
		if len(f.enum) > 0 && !slices.Contains(f.enum, text) {
			return wrong(quote(text)+" is not allowed for "+f.key, "one of "+strings.Join(f.enum, ", ")+spell.Meant(text, f.enum...))
		}
		if f.pattern != "" && !regexp.MustCompile("^(?:"+f.pattern+")$").MatchString(text) {
			return wrong(quote(text)+" is not allowed for "+f.key, f.doc)
		}
		return nil
	}
	if f.min != "" && less(v, f.bound(f.min)) {
		return wrong(fmt.Sprintf("%s is too small for %s", text, f.key), f.rangeHint())
	}
	if f.max != "" && less(f.bound(f.max), v) {
		return wrong(fmt.Sprintf("%s is too large for %s", text, f.key), f.rangeHint())
	}
	return nil
}

func notUTF8(text string) *Error {
	return wrong(quote(text)+" is not UTF-8", "a scenario is text in UTF-8")
}

func (f field) rangeHint() string {
	switch {
	case f.max == "":
		return "at least " + f.min
	case f.min == "":
		return "at most " + f.max
	}
	return f.min + " to " + f.max
}

// bound reads a limit from a tag.
func (f field) bound(s string) reflect.Value {
	v := reflect.New(f.typ).Elem()
	d := decoder{flag: true, sources: map[string]position{}}
	d.scalar(&yaml.Node{Kind: yaml.ScalarNode, Value: s}, v, f.key)
	if len(d.errs) > 0 {
		panic(fmt.Sprintf("scenario: the limit %q of %s: %v", s, f.key, d.errs[0]))
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

// scalarText returns a scalar in the notation that decodes to it.
func scalarText(v reflect.Value) string {
	if d, ok := v.Interface().(time.Duration); ok {
		return formatDuration(d)
	}
	return fmt.Sprint(v.Interface()) // by its String, if it has one
}
