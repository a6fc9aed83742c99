package scenario

import (
	"strconv"
	"strings"

	"sixnines/internal/spell"
)

// KeyKind names how messages' keys are chosen.
type KeyKind string

// The kinds of keys.
const (
	NoKeys     KeyKind = ""       // messages have no keys; its text is "none"
	FixedKeys  KeyKind = "fixed"  // the same key in all messages of a producer to a topic
	UniqueKeys KeyKind = "unique" // a different key in each message
	ZipfKeys   KeyKind = "zipf"   // drawn from Keys.Space keys, the first ones most often
)

// Keys says which keys messages have, for brokers with a notion of a message's key,
// such as Kafka, which chooses its partition by it. Its text is one of
//
//	none              no keys
//	fixed             the same key in all messages of a producer to a topic
//	unique            a key that no other message has
//	zipf:1.1@10000    one of 10,000, the same for all producers: that of rank r with a
//	                  probability proportional to r^-1.1
//
// Zipf's exponent is above 1, since it is drawn by rejection-inversion for such
// exponents (Hörmann and Derflinger, "Rejection-inversion to generate variates from
// monotone discrete distributions", 1996; Go's math/rand/v2.Zipf). Which key a message
// has follows from the seed, its producer and its number in the window. In YAML zipf
// may be a mapping, too: {zipf: 1.1@10000}. The zero value is no keys.
type Keys struct {
	Kind  KeyKind
	Skew  float64 // zipf: the exponent, above 1
	Space uint64  // zipf: how many keys there are
}

const (
	keysForm = "write none, fixed, unique or zipf:1.1@10000"
	// mostSkew is the largest exponent: with it one key has all the messages.
	mostSkew = 100
	// mostSpace is the largest number of keys that zipf draws from.
	mostSpace = 1_000_000_000
	// leastUniqueKey is the shortest key that holds the number of every message.
	leastUniqueKey = 12 * Byte
)

// ParseKeys reads which keys messages have. Its errors are of type [*Error], without
// a position.
func ParseKeys(s string) (Keys, error) {
	word, rest, has := strings.Cut(s, ":")
	k := Keys{Kind: KeyKind(word)}
	switch {
	case word == "none" || k.Kind == FixedKeys || k.Kind == UniqueKeys:
		if has {
			return Keys{}, wrong("the keys "+quote(s)+" take no parameters", "write "+word)
		}
		if word == "none" {
			k.Kind = NoKeys
		}
	case k.Kind == ZipfKeys:
		skew, space, _ := strings.Cut(strings.TrimSpace(rest), "@")
		var err error
		if k.Skew, err = strconv.ParseFloat(skew, 64); err != nil {
			return Keys{}, wrong("the keys "+quote(s)+" lack their exponent or how many there are", "write such as zipf:1.1@10000")
		}
		if !(k.Skew > 1 && k.Skew <= mostSkew) {
			return Keys{}, wrong("the keys "+quote(s)+": the exponent is "+skew, "zipf's exponent is above 1 and at most "+strconv.Itoa(mostSkew)+", such as 1.01")
		}
		if k.Space, err = spell.Whole(space); err != nil || k.Space < 2 || k.Space > mostSpace {
			return Keys{}, wrong("the keys "+quote(s)+" do not say how many there are", "write such as zipf:1.1@10000, with 2 to "+strconv.Itoa(mostSpace)+" keys")
		}
	default:
		return Keys{}, wrong("no keys are called "+quote(word), keysForm+spell.Meant(word, "none", "fixed", "unique", "zipf"))
	}
	return k, nil
}

// IsZero reports whether messages have no keys.
func (k Keys) IsZero() bool { return k == Keys{} }

// String returns the keys as [ParseKeys] reads them back.
func (k Keys) String() string {
	switch k.Kind {
	case NoKeys:
		return "none"
	case ZipfKeys:
		return "zipf:" + strconv.FormatFloat(k.Skew, 'g', -1, 64) + "@" + strconv.FormatUint(k.Space, 10)
	}
	return string(k.Kind)
}

// MarshalText implements [encoding.TextMarshaler], for YAML and JSON alike.
func (k Keys) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (k *Keys) UnmarshalText(text []byte) error { return set(k, text, ParseKeys) }
