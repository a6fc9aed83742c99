package driver

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"sixnines/internal/spell"
)

// Option describes one option of a driver.
type Option struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`             // "string", "boolean", "whole number", "number", "duration", "size" or "list"
	Default string   `json:"default"`          // in the notation that [DecodeOptions] reads; empty: none
	Enum    []string `json:"enum,omitempty"`   // the allowed values, if they are limited
	Min     string   `json:"min,omitempty"`    // smallest allowed value, if limited
	Max     string   `json:"max,omitempty"`    // largest allowed value, if limited
	Secret  bool     `json:"secret,omitempty"` // the value must not be shown or written down
	Doc     string   `json:"doc"`
	// Names is what else the value names than something of the broker's, so that who takes a scenario from others can
	// refuse it: "file", a file of this machine; "address", where else the driver connects to.
	Names string `json:"-"`
	// Parameter is the parameter of the target's URL that says the same; empty: no parameter does.
	Parameter string `json:"-"`
}

// What the value of an option names, see Option.Names.
const (
	NamesFile    = "file"
	NamesAddress = "address"
)

// DecodeOptions sets the fields of the struct that into points to from opts.
// A field takes part if it has the tag
//
//	option:"write_buffer"
//
// and may further have doc:"…" (one line for users), enum:"a,b" (allowed
// strings), min:"…" and max:"…" (inclusive, in the field's own notation),
// secret:"true", names:"…" and parameter:"…" (see [Option]). Its type is string, bool, an integer, a float, time.Duration,
// [ByteSize], []string, or defined on one of them. The fields of an embedded struct
// are options too, in its place. Options that are absent leave their fields
// unchanged: that is how defaults are given.
//
// Former names keep working: with formerly:"a,b" the keys a and b also set the option,
// and with aliases:"x=y" the string x is read as y. Keys of one option that disagree
// are an error.
//
// Values are what a YAML or JSON reader yields, or strings in the same notation
// as they come from a command line: a duration is "250ms", a size "64KiB" or a
// number of bytes, a list is a list or words separated by commas. Nothing is
// guessed: an unknown key, a value of another kind or one out of range is an error
// that wraps [ErrOption] and names the key and what was expected. If there is an
// error, an [*OptionError], nothing has been set. A nil into has no options.
//
// DecodeOptions panics if into is anything but nil or a pointer to a struct
// with fields as above: that is a mistake in the driver.
func DecodeOptions(opts map[string]any, into any) error {
	if into == nil {
		for _, key := range slices.Sorted(maps.Keys(opts)) {
			return &OptionError{key, "this driver has no options"}
		}
		return nil
	}
	target := structOf(into)
	work := reflect.New(target.Type()).Elem()
	work.Set(target)
	fields := fieldsOf(work)
	given := map[string]string{} // by option name: the key that set it last
	for _, key := range slices.Sorted(maps.Keys(opts)) {
		f, ok := fields[key]
		if !ok {
			maps.DeleteFunc(fields, func(key string, f option) bool { return key != f.name })
			return unknownOption(key, slices.Sorted(maps.Keys(fields)))
		}
		before := f.text()
		if err := f.set(opts[key]); err != nil {
			return &OptionError{key, err.Error()}
		}
		if other, twice := given[f.name]; twice && f.text() != before {
			return &OptionError{key, fmt.Sprintf("it and %q are one option, %q, and disagree; give %s alone, %s", other, f.name, f.name, f.expected())}
		}
		given[f.name] = key
	}
	target.Set(work)
	return nil
}

// DescribeOptions returns the options of the struct that ptr points to, in the
// order of its fields, with the struct's values as the defaults. It returns no
// options for nil and panics like [DecodeOptions].
func DescribeOptions(ptr any) []Option {
	if ptr == nil {
		return nil
	}
	v := structOf(ptr)
	var all []Option
	for _, sf := range reflect.VisibleFields(v.Type()) {
		f, ok := fieldAt(v, sf)
		if !ok {
			continue
		}
		o := Option{Name: f.name, Names: f.tag.Get("names"), Parameter: f.tag.Get("parameter"), Type: f.typeName(), Default: f.text(), Enum: f.enum,
			Min: f.tag.Get("min"), Max: f.tag.Get("max"), Secret: f.tag.Get("secret") == "true", Doc: f.tag.Get("doc")}
		// A default outside the allowed values means that the option is not set.
		given := f
		given.value = reflect.New(f.value.Type()).Elem()
		if o.Secret || given.set(o.Default) != nil {
			o.Default = ""
		}
		all = append(all, o)
	}
	return all
}

// option is one field of an options struct.
type option struct {
	name    string
	enum    []string
	aliases map[string]string // from former values to present ones
	tag     reflect.StructTag
	value   reflect.Value
}

func structOf(ptr any) reflect.Value {
	v := reflect.ValueOf(ptr)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("driver: options are a pointer to a struct, not %T", ptr))
	}
	return v.Elem()
}

// fieldsOf returns the options by name and by former name.
func fieldsOf(v reflect.Value) map[string]option {
	fields := map[string]option{}
	for _, sf := range reflect.VisibleFields(v.Type()) {
		f, ok := fieldAt(v, sf)
		if !ok {
			continue
		}
		for _, key := range append([]string{f.name}, words(f.tag, "formerly")...) {
			if _, twice := fields[key]; twice {
				panic(fmt.Sprintf("driver: option %q is there twice in %s", key, v.Type()))
			}
			fields[key] = f
		}
	}
	return fields
}

func fieldAt(v reflect.Value, sf reflect.StructField) (option, bool) {
	name := sf.Tag.Get("option")
	if name == "" {
		return option{}, false
	}
	f := option{name: name, tag: sf.Tag, value: v.FieldByIndex(sf.Index)}
	if !f.value.CanSet() || f.typeName() == "" {
		panic(fmt.Sprintf("driver: option %q of %s is unexported or of type %s, which options cannot have", name, v.Type(), sf.Type))
	}
	f.enum = words(sf.Tag, "enum")
	for _, alias := range words(sf.Tag, "aliases") {
		old, now, ok := strings.Cut(alias, "=")
		if !ok || !f.allows(now) {
			panic(fmt.Sprintf("driver: option %q of %s: alias %q stands for no value", name, v.Type(), alias))
		}
		if f.aliases == nil {
			f.aliases = map[string]string{}
		}
		f.aliases[old] = now
	}
	return f, true
}

// words returns the comma-separated words of a tag.
func words(tag reflect.StructTag, key string) []string {
	if text := tag.Get(key); text != "" {
		return strings.Split(text, ",")
	}
	return nil
}

// now returns the present form of a string that may be a former value.
func (f option) now(s string) string {
	if now, renamed := f.aliases[s]; renamed {
		return now
	}
	return s
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	byteSizeType = reflect.TypeFor[ByteSize]()
)

// typeName returns the name of the option's type for users; empty for a type that
// options cannot have.
func (f option) typeName() string {
	switch f.value.Type() {
	case durationType:
		return "duration"
	case byteSizeType:
		return "size"
	}
	switch f.value.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return wholeNumber
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice:
		if f.value.Type().Elem().Kind() == reflect.String {
			return "list"
		}
	}
	return ""
}

// text returns the option's value in the notation that set reads.
func (f option) text() string {
	if f.typeName() == "list" {
		words := make([]string, f.value.Len())
		for i := range words {
			words[i] = f.value.Index(i).String()
		}
		return strings.Join(words, ",")
	}
	return fmt.Sprint(f.value.Interface())
}

// wholeNumber is the type of options that are integers.
const wholeNumber = "whole number"

// expected describes the allowed values, for errors.
func (f option) expected() string {
	var s string
	switch f.typeName() {
	case "string":
		s = "a string"
	case "boolean":
		s = "true or false"
	case wholeNumber:
		s = "a whole number"
	case "number":
		s = "a number"
	case "duration":
		s = "a duration such as 250ms or 5s"
	case "size":
		s = "a size such as 512B or 64KiB"
	case "list":
		s = "a list of strings"
	}
	if f.enum != nil {
		s = "one of " + strings.Join(f.enum, ", ")
		if f.typeName() == "list" {
			s = "a list of " + strings.Join(f.enum, ", ")
		}
	}
	if span := spell.Span(f.tag.Get("min"), f.tag.Get("max")); span != "" {
		s += " (" + span + ")"
	}
	return s
}

func (f option) wrong(raw any) error {
	if f.tag.Get("secret") == "true" {
		return fmt.Errorf("want %s (the value is not shown)", f.expected())
	}
	if raw == nil {
		return fmt.Errorf("has no value, want %s", f.expected())
	}
	return fmt.Errorf("%#v is not %s", raw, f.expected())
}

// set sets the option to the value raw; an error describes the expected values.
func (f option) set(raw any) error {
	var ok bool
	switch f.typeName() {
	case "string":
		var s string
		if s, ok = raw.(string); !ok {
			if isScalar(raw) {
				return fmt.Errorf("%w; put it in quotes", f.wrong(raw))
			}
			return f.wrong(raw)
		}
		s = f.now(s)
		if ok = f.allows(s); !ok {
			return fmt.Errorf("%w%s", f.wrong(raw), spell.Meant(s, f.enum...))
		}
		f.value.SetString(s)
	case "boolean":
		var b bool
		if b, ok = boolOf(raw); ok {
			f.value.SetBool(b)
		}
	case "list":
		return f.setList(raw)
	case "number":
		var x float64
		if x, ok = floatOf(raw); ok {
			ok = !math.IsNaN(x) && !f.value.OverflowFloat(x) && f.within(x, func(s string) (float64, bool) { return floatOf(s) })
			f.value.SetFloat(x)
		}
	case wholeNumber:
		var n int64
		if n, ok = intOf(raw); ok {
			ok = f.within(float64(n), func(s string) (float64, bool) { n, ok := intOf(s); return float64(n), ok })
			ok = ok && f.setInt(n)
		}
	case "duration":
		var d time.Duration
		if d, ok = durationOf(raw); ok {
			ok = f.within(float64(d), func(s string) (float64, bool) { d, ok := durationOf(s); return float64(d), ok })
			f.value.SetInt(int64(d))
		}
	case "size":
		var b ByteSize
		if b, ok = byteSizeOf(raw); ok {
			ok = f.within(float64(b), func(s string) (float64, bool) { b, ok := byteSizeOf(s); return float64(b), ok })
			f.value.SetInt(int64(b))
		}
	}
	if !ok {
		return f.wrong(raw)
	}
	return nil
}

func (f option) setInt(n int64) bool {
	if f.value.CanUint() {
		if n < 0 || f.value.OverflowUint(uint64(n)) {
			return false
		}
		f.value.SetUint(uint64(n))
		return true
	}
	if f.value.OverflowInt(n) {
		return false
	}
	f.value.SetInt(n)
	return true
}

func (f option) setList(raw any) error {
	var words []string
	switch list := raw.(type) {
	case string:
		if list != "" {
			words = strings.Split(list, ",")
		}
	case []string:
		words = list
	case []any:
		for _, item := range list {
			s, ok := item.(string)
			if !ok {
				return f.wrong(raw)
			}
			words = append(words, s)
		}
	default:
		return f.wrong(raw)
	}
	// Always a new slice, so that the slice with the defaults is not changed.
	out := reflect.MakeSlice(f.value.Type(), 0, len(words))
	for _, w := range words {
		w = f.now(strings.TrimSpace(w))
		if w == "" || !f.allows(w) {
			return f.wrong(raw)
		}
		out = reflect.Append(out, reflect.ValueOf(w).Convert(f.value.Type().Elem()))
	}
	f.value.Set(out)
	return nil
}

func (f option) allows(s string) bool { return f.enum == nil || slices.Contains(f.enum, s) }

// within reports whether x lies between the tags min and max. A float64 holds every
// limit that occurs in a tag exactly.
func (f option) within(x float64, parse func(string) (float64, bool)) bool {
	for _, name := range []string{"min", "max"} {
		text := f.tag.Get(name)
		if text == "" {
			continue
		}
		limit, ok := parse(text)
		if !ok {
			panic(fmt.Sprintf("driver: option %q: its %s %q is not %s", f.name, name, text, f.typeName()))
		}
		if name == "min" && x < limit || name == "max" && x > limit {
			return false
		}
	}
	return true
}

func isScalar(raw any) bool {
	if _, ok := raw.(bool); ok {
		return true
	}
	_, ok := floatOf(raw)
	return ok
}

func boolOf(raw any) (value, ok bool) {
	switch b := raw.(type) {
	case bool:
		return b, true
	case string:
		return b == "true", b == "true" || b == "false"
	}
	return false, false
}

func intOf(raw any) (int64, bool) {
	if s, ok := raw.(string); ok {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n, true
		}
		n, err := spell.Whole(s)
		return int64(n), err == nil && n <= math.MaxInt64
	}
	v := reflect.ValueOf(raw)
	switch {
	case !v.IsValid():
		return 0, false
	case v.CanInt():
		return v.Int(), true
	case v.CanUint():
		return int64(v.Uint()), v.Uint() <= math.MaxInt64
	case v.CanFloat(): // JSON readers give all numbers as floats
		x := v.Float()
		return int64(x), x == math.Trunc(x) && math.Abs(x) <= 1<<53
	}
	return 0, false
}

func floatOf(raw any) (float64, bool) {
	if s, ok := raw.(string); ok {
		x, err := strconv.ParseFloat(s, 64)
		return x, err == nil
	}
	v := reflect.ValueOf(raw)
	switch {
	case !v.IsValid():
		return 0, false
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

func durationOf(raw any) (time.Duration, bool) {
	switch d := raw.(type) {
	case time.Duration:
		return d, true
	case string:
		parsed, err := spell.ParseDuration(d)
		return parsed, err == nil
	}
	// Only zero means the same in every unit.
	n, ok := intOf(raw)
	return 0, ok && n == 0
}

func byteSizeOf(raw any) (ByteSize, bool) {
	switch b := raw.(type) {
	case ByteSize:
		return b, true
	case string:
		parsed, err := ParseByteSize(b)
		return parsed, err == nil
	}
	n, ok := intOf(raw)
	return ByteSize(n), ok && n >= 0
}

func unknownOption(key string, known []string) error {
	hint := spell.Meant(key, known...)
	if hint == "" {
		hint = "; the options are " + strings.Join(known, ", ")
	}
	return &OptionError{key, "no such option" + hint}
}
