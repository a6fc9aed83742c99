package scenario

import (
	"reflect"
	"time"
)

// notation is how the values of a type are written that are neither numbers, words nor
// mappings: as a text that the type's Set reads and its String writes.
type notation struct {
	of       reflect.Type
	name     string   // what such a value is called
	also     string   // the type of JSON that may stand for the text, too; empty: none
	short    bool     // it may be a mapping, too, of the words before its colons to those after them
	pattern  string   // for editors; Set knows more exactly
	examples []string // for editors
}

// Parts of patterns.
const (
	numberPattern = `[0-9]+(\.[0-9]+)?([eE]\+?[0-9]+)?`
	bytesPattern  = numberPattern + ` *([kKmMgG][iI]?[bB]?|[bB]|bytes?)?`
	timePattern   = `(([0-9]+(\.[0-9]*)?|\.[0-9]+) *(ns|us|µs|ms|msec|s|secs?|seconds?|m|mins?|minutes?|h|hr|hours?|d|days?) *)+`
)

// The types that are treated in a way of their own, too.
var (
	rateType     = reflect.TypeFor[Rate]()
	sizeType     = reflect.TypeFor[Size]()
	sizesType    = reflect.TypeFor[Sizes]()
	headersType  = reflect.TypeFor[Headers]()
	durationType = reflect.TypeFor[time.Duration]() // which has no Set
)

func notations() []notation {
	return []notation{
		{of: rateType, name: "a rate", also: "number", examples: []string{"3000/s", "100/3s", "max"},
			pattern: `^([mM][aA][xX]|` + numberPattern + ` *[kKMG]?( *(msgs?|messages?)? */ *[0-9.]* *(ns|us|µs|ms|s|sec|second|min|minute|m|h|hour|d|day|[0-9hmsuµn.]+))?)$`},
		{of: sizeType, name: "a size", also: "integer", examples: []string{"256B", "1KiB"}, pattern: `^` + bytesPattern + `$`},
		{of: sizesType, name: "a size", also: "integer", short: true, pattern: `^(` + bytesPattern + `(:[0-9.]+%)?(,.+)?|lognormal:.+)$`,
			examples: []string{"256B", "1KiB", "256B:90%,64KiB:10%", "lognormal:median=1KiB,sigma=1,max=64KiB"}},
		{of: reflect.TypeFor[Payload](), name: "a payload", short: true, pattern: `^(random|zeros|compress:[0-9.]+%|(file|corpus):.+)$`,
			examples: []string{"random", "zeros", "compress:50%", "file:PATH", "corpus:DIR"}},
		{of: reflect.TypeFor[Keys](), name: "keys", short: true, pattern: `^(none|fixed|unique|zipf:[0-9.]+@[0-9.eE+]+[kKMG]?)$`,
			examples: []string{"none", "fixed", "unique", "zipf:1.1@10000"}},
		{of: headersType, name: "headers", short: true, pattern: `^(none|[0-9]+x` + bytesPattern + `|[A-Za-z0-9._-]+:.+)$`,
			examples: []string{"none", "4x32B", "tenant:blue,trace:4bf92f"}},
		{of: reflect.TypeFor[Objective](), name: "an objective", examples: []string{"p99 < 5ms", "delivery.response p99.9 < 5ms", "lost == 0", "rate >= 99.9%"},
			pattern: `^\s*([a-z_.]+(\s+(p\(?[0-9.]+\)?|max))?|p\(?[0-9.]+\)?)\s*(<=|<|==?|>=|>|≤|≥)\s*[0-9].*$`},
		{of: reflect.TypeFor[Until](), name: "the width of an interval", examples: []string{"delivery.response p99 ±5%", "publish.response p99.9 +-50us"},
			pattern: `^\s*([a-z_.]+\s+)?p\(?[0-9.]+\)?\s*(±|\+-|\+/-)\s*[0-9.]+\s*(%|ns|us|µs|ms|s|m|h).*$`},
		{of: reflect.TypeFor[Begin](), name: "a time", examples: []string{"filled", "30s"}, pattern: `^(filled|` + timePattern + `)$`},
		{of: reflect.TypeFor[Pause](), name: "a pause", examples: []string{"5s@20s"}, pattern: `^` + timePattern + `@\s*(0|` + timePattern + `)$`},
		{of: durationType, name: "a duration", also: "integer", examples: []string{"250ms", "1m30s"}, pattern: `^(0|` + timePattern + `)$`},
	}
}

// notationOf returns the notation of a type; false: it has none.
func notationOf(t reflect.Type) (notation, bool) {
	for _, n := range notations() {
		if n.of == t {
			return n, true
		}
	}
	return notation{}, false
}

func hasNotation(t reflect.Type) bool {
	_, ok := notationOf(t)
	return ok
}

// set reads a value from its text, for a type's Set.
func set[T any](to *T, text string, parse func(string) (T, error)) error {
	v, err := parse(text)
	if err == nil {
		*to = v
	}
	return err
}
