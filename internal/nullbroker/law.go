package nullbroker

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Law is a distribution of delays. The zero value is no delay. Laws are
// comparable values; their methods are safe for concurrent use.
type Law struct {
	kind   string        // "" for none
	a, b   time.Duration // lognormal: the median; bimodal: both; rare: b alone
	sigma  float64       // lognormal: of the logarithm
	share  float64       // of b: bimodal, rare
	source string        // as it was written
}

// LongestDelay is the most that a law may ask for. A lognormal law is cut off
// there.
const LongestDelay = 10 * time.Second

// LawNotation says how laws are written.
const LawNotation = "none, lognormal(median=200us,sigma=0.5), bimodal(a=100us,b=5ms,share=5%) or rare(delay=200ms,every=100000)"

// ErrLaw says that a text is no law.
var ErrLaw = errors.New("no law of delays")

// ParseLaw reads a law. Every parameter must be there, once; durations are of
// 1 ns to [LongestDelay], a lognormal's sigma is above 0 and at most 4, a share
// strictly between 0 and 1 (or 0 % and 100 %), and every is 2 to 1e9. The error
// wraps [ErrLaw] and says what is wanted.
func ParseLaw(text string) (Law, error) {
	l, err := parseLaw(strings.TrimSpace(text))
	if err != nil {
		return Law{}, fmt.Errorf("%w: %q: %w; want %s", ErrLaw, text, err, LawNotation)
	}
	return l, nil
}

// parameters of each law, in the order in which they are written.
func lawParameters(kind string) ([]string, bool) {
	p, ok := map[string][]string{
		"none": nil, "lognormal": {"median", "sigma"}, "bimodal": {"a", "b", "share"}, "rare": {"delay", "every"},
	}[kind]
	return p, ok
}

func parseLaw(text string) (Law, error) {
	kind, rest, open := strings.Cut(text, "(")
	kind = strings.TrimSpace(kind)
	names, ok := lawParameters(kind)
	if !ok {
		return Law{}, fmt.Errorf("there is no law %q", kind)
	}
	if kind == "none" {
		if open {
			return Law{}, errors.New("none has no parameters")
		}
		return Law{}, nil
	}
	body, closed := strings.CutSuffix(rest, ")")
	if !open || !closed {
		return Law{}, errors.New("its parameters stand in brackets")
	}
	given := map[string]string{}
	for part := range strings.SplitSeq(body, ",") {
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		if !ok || !slices.Contains(names, name) {
			return Law{}, fmt.Errorf("%q is no parameter of %s", strings.TrimSpace(part), kind)
		}
		if _, twice := given[name]; twice {
			return Law{}, fmt.Errorf("%s is given twice", name)
		}
		given[name] = strings.TrimSpace(value)
	}
	for _, name := range names {
		if _, ok := given[name]; !ok {
			return Law{}, fmt.Errorf("%s is missing", name)
		}
	}
	l := Law{kind: kind}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := l.set(name, given[name]); err != nil {
			return Law{}, fmt.Errorf("%s=%s: %w", name, given[name], err)
		}
	}
	if kind == "bimodal" && l.a >= l.b {
		return Law{}, errors.New("a must be less than b")
	}
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = name + "=" + given[name]
	}
	l.source = kind + "(" + strings.Join(parts, ",") + ")"
	return l, nil
}

// set sets a parameter.
func (l *Law) set(name, value string) (err error) {
	switch name {
	case "median", "a":
		l.a, err = delayOf(value)
	case "b", "delay":
		l.b, err = delayOf(value)
	case "sigma":
		if l.sigma, err = strconv.ParseFloat(value, 64); err != nil || !(l.sigma > 0 && l.sigma <= 4) {
			err = errors.New("want a number above 0, at most 4")
		}
	case "share":
		number, percent := strings.CutSuffix(value, "%")
		if l.share, err = strconv.ParseFloat(strings.TrimSpace(number), 64); percent {
			l.share /= 100
		}
		if err != nil || !(l.share > 0 && l.share < 1) {
			err = errors.New("want a share between 0 and 1, such as 5% or 0.05")
		}
	case "every":
		n, fault := strconv.ParseInt(value, 10, 64)
		if fault != nil || n < 2 || n > 1e9 {
			return errors.New("want a whole number from 2 to 1000000000")
		}
		l.share = 1 / float64(n)
	}
	return err
}

func delayOf(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > LongestDelay {
		return 0, fmt.Errorf("want a duration such as 200us, above 0, at most %v", LongestDelay)
	}
	return d, nil
}

// None reports whether the law delays nothing.
func (l Law) None() bool { return l.kind == "" }

// String returns the law as [ParseLaw] reads it.
func (l Law) String() string {
	if l.None() {
		return "none"
	}
	return l.source
}

// Quantile returns the least delay d with CDF(d) ≥ p, to the nearest nanosecond,
// for p between 0 and 1.
func (l Law) Quantile(p float64) time.Duration {
	switch l.kind {
	case "lognormal":
		// Φ⁻¹(p) = −√2·erfc⁻¹(2p)
		d := float64(l.a) * math.Exp(-l.sigma*math.Sqrt2*math.Erfcinv(2*min(max(p, 0), 1)))
		return time.Duration(math.Round(min(d, float64(LongestDelay))))
	case "bimodal", "rare":
		if p > 1-l.share {
			return l.b
		}
		return l.a
	}
	return 0
}

// CDF returns the share of delays that are d at most.
func (l Law) CDF(d time.Duration) float64 {
	switch {
	case d < 0:
		return 0
	case l.None() || d >= LongestDelay:
		return 1
	case l.kind == "lognormal":
		return math.Erfc(-math.Log(float64(d)/float64(l.a))/(l.sigma*math.Sqrt2)) / 2
	case d < l.a:
		return 0
	case d < l.b:
		return 1 - l.share
	}
	return 1
}

// Delay returns the delay of one message: the quantile at a place that depends
// on all four arguments as if by chance, so that the delays of different
// messages are independent, and the same again when everything is repeated.
func (l Law) Delay(seed uint64, stream uint32, kind uint8, sequence uint64) time.Duration {
	if l.None() {
		return 0
	}
	h := mix(seed)
	h = mix(h ^ uint64(kind)<<32 ^ uint64(stream))
	h = mix(h ^ sequence)
	// The middle of one of 2⁵³ equal parts: never 0 nor 1.
	return l.Quantile((float64(h>>11) + 0.5) / (1 << 53))
}

// mix is the output function of SplitMix64 (Steele, Lea, Flood: Fast splittable
// pseudorandom number generators, OOPSLA 2014), after its increment.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
