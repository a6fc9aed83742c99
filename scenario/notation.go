package scenario

import (
	"reflect"
	"time"
)

// notation describes the text form of a type whose values are neither numbers, words nor
// mappings: parse reads it, and the type's String writes it.
type notation struct {
	of       reflect.Type
	parse    func(text string) (any, error)
	name     string   // what such a value is called
	also     string   // another JSON type that is read as the text; empty: no other
	short    bool     // a mapping is allowed too: from the words before the colons to those after them
	pattern  string   // for editors; parse knows more exactly
	examples []string // for editors
}

// Parts of patterns.
const (
	numberPattern = `[0-9]+(\.[0-9]+)?([eE]\+?[0-9]+)?`
	bytesPattern  = numberPattern + ` *([kKmMgG][iI]?[bB]?|[bB]|bytes?)?`
	timePattern   = `(([0-9]+(\.[0-9]*)?|\.[0-9]+) *(ns|us|µs|ms|msec|s|secs?|seconds?|m|mins?|minutes?|h|hr|hours?|d|days?) *)+`
)

// Types that the decoder and the encoder treat specially.
var (
	rateType     = reflect.TypeFor[Rate]()
	sizeType     = reflect.TypeFor[Size]()
	sizesType    = reflect.TypeFor[Sizes]()
	headersType  = reflect.TypeFor[Headers]()
	durationType = reflect.TypeFor[time.Duration]()
)

func notations() []notation {
	return []notation{
		{of: rateType, parse: by(ParseRate), name: "a rate", also: "number", examples: []string{"3000/s", "100/3s", "max"},
			pattern: `^([mM][aA][xX]|` + numberPattern + ` *[kKMG]?( *(msgs?|messages?)? */ *[0-9.]* *(ns|us|µs|ms|s|sec|second|min|minute|m|h|hour|d|day|[0-9hmsuµn.]+))?)$`},
		{of: sizeType, parse: by(ParseSize), name: "a size", also: "integer", examples: []string{"256B", "1KiB"}, pattern: `^` + bytesPattern + `$`},
		{of: sizesType, parse: by(ParseSizes), name: "a size", also: "integer", short: true, pattern: `^(` + bytesPattern + `(:[0-9.]+%)?(,.+)?|lognormal:.+)$`,
			examples: []string{"256B", "1KiB", "256B:90%,64KiB:10%", "lognormal:median=1KiB,sigma=1,max=64KiB"}},
		{of: reflect.TypeFor[Payload](), parse: by(ParsePayload), name: "a payload", short: true, pattern: `^(random|zeros|compress:[0-9.]+%|(file|corpus):.+)$`,
			examples: []string{"random", "zeros", "compress:50%", "file:PATH", "corpus:DIR"}},
		{of: reflect.TypeFor[Keys](), parse: by(ParseKeys), name: "keys", short: true, pattern: `^(none|fixed|unique|zipf:[0-9.]+@[0-9.eE+]+[kKMG]?)$`,
			examples: []string{"none", "fixed", "unique", "zipf:1.1@10000"}},
		{of: headersType, parse: by(ParseHeaders), name: "headers", short: true, pattern: `^(none|[0-9]+x` + bytesPattern + `|[A-Za-z0-9._-]+:.+)$`,
			examples: []string{"none", "4x32B", "tenant:blue,trace:4bf92f"}},
		{of: reflect.TypeFor[Objective](), parse: by(ParseObjective), name: "an objective", examples: []string{"p99 < 5ms", "delivery.response p99.9 < 5ms", "lost == 0", "rate >= 99.9%", "p99 < 20ms outside actions", "unavailable < 5s"},
			pattern: `^\s*([a-z_.]+(\s+(p\(?[0-9.]+\)?|max))?|p\(?[0-9.]+\)?)\s*(<=|<|==?|>=|>|≤|≥)\s*[0-9].*$`},
		{of: reflect.TypeFor[Until](), parse: by(ParseUntil), name: "the width of an interval", examples: []string{"delivery.response p99 ±5%", "publish.response p99.9 +-50us"},
			pattern: `^\s*([a-z_.]+\s+)?p\(?[0-9.]+\)?\s*(±|\+-|\+/-)\s*[0-9.]+\s*(%|ns|us|µs|ms|s|m|h).*$`},
		{of: reflect.TypeFor[Begin](), parse: by(ParseBegin), name: "a time", examples: []string{"filled", "30s"}, pattern: `^(filled|` + timePattern + `)$`},
		{of: reflect.TypeFor[Pause](), parse: by(ParsePause), name: "a pause", examples: []string{"5s@20s"}, pattern: `^` + timePattern + `@\s*(0|` + timePattern + `)$`},
		{of: reflect.TypeFor[Moment](), parse: by(ParseMoment), name: "a time", examples: []string{"30s", "filled"}, pattern: `^(filled|0|` + timePattern + `)$`},
		{of: reflect.TypeFor[End](), parse: by(ParseEnd), name: "an end of the broker's network", also: "integer", examples: []string{"0", "leader", "clients"},
			pattern: `^([0-9]{1,3}|leader|followers|random|all|clients)$`},
		{of: reflect.TypeFor[Share](), parse: by(ParseShare), name: "a share", examples: []string{"0.1%", "1%"}, pattern: `^[0-9]+(\.[0-9]+)? *%$`},
		{of: reflect.TypeFor[BitRate](), parse: by(ParseBitRate), name: "a rate of a network", examples: []string{"100mbit", "1gbit"}, pattern: `^[0-9]+(\.[0-9]+)? *[kmgKMG]?[bB][iI][tT](/s)?$`},
		{of: reflect.TypeFor[Agents](), parse: by(ParseAgents), name: "a choice of agents", also: "integer", examples: []string{"3", "zone=b", "m1,m2"},
			pattern: `^([0-9]{1,5}|[A-Za-z0-9][A-Za-z0-9./_-]{0,62}=.*|` + namePart + `(, *` + namePart + `)*)$`},
		{of: durationType, parse: by(parseDuration), name: "a duration", also: "integer", examples: []string{"250ms", "1m30s"}, pattern: `^(0|` + timePattern + `)$`},
	}
}

// notationOf returns the notation of a type; false: it has no notation.
func notationOf(t reflect.Type) (notation, bool) {
	for _, n := range notations() {
		if n.of == t {
			return n, true
		}
	}
	return notation{}, false
}

// Types without a notation that decoder and encoder treat specially.
var (
	arrivalsType  = reflect.TypeFor[Arrivals]()  // a mapping, or a text
	workloadsType = reflect.TypeFor[Workloads]() // a list, but written as a mapping
	restartType   = reflect.TypeFor[*Restart]()  // a mapping, or a text
	endsType      = reflect.TypeFor[Ends]()      // a list, or its one item
	commandType   = reflect.TypeFor[Command]()   // a list, or a text of its words
)

func hasNotation(t reflect.Type) bool {
	_, ok := notationOf(t)
	return ok
}

// by adapts a parser of type T to return any.
func by[T any](parse func(string) (T, error)) func(string) (any, error) {
	return func(text string) (any, error) { return parse(text) }
}

// set reads a value from its text, for a type's UnmarshalText.
func set[T any](to *T, text []byte, parse func(string) (T, error)) error {
	v, err := parse(string(text))
	if err == nil {
		*to = v
	}
	return err
}
