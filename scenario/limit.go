package scenario

import (
	"fmt"
	"reflect"
	"time"

	"sixnines/internal/strict"
)

// check compares a value that was given with what its field allows.
func check(f strict.Field, v reflect.Value) *Error {
	text := scalarText(v)
	if s, ok := v.Interface().(Sizes); ok {
		if s.spread != "" {
			return nil // its content was checked when it was read
		}
		v = reflect.ValueOf(s.fixed)
	}
	var bound func(string) reflect.Value
	if form, is := notationOf(v.Type()); is {
		bound = func(limit string) reflect.Value {
			x, err := form.parse(limit)
			if err != nil {
				panic(fmt.Sprintf("scenario: the limit %q of %s: %v", limit, f.Key, err))
			}
			return reflect.ValueOf(x)
		}
	}
	if cause, hint := f.Check(v, text, bound); cause != "" {
		return wrong(cause, hint)
	}
	return nil
}

func notUTF8(text string) *Error { return wrong(strict.NotUTF8(text)) }

// scalarText returns a scalar in the notation that decodes to it.
func scalarText(v reflect.Value) string {
	if d, ok := v.Interface().(time.Duration); ok {
		return formatDuration(d)
	}
	return fmt.Sprint(v.Interface()) // by its String, if it has one
}
