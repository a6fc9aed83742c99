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

// Law is a distribution of delays or of service times, which may change in time.
// The zero value is no delay. Its methods are safe for concurrent use; those that
// are of a distribution are of the one at the beginning.
type Law struct {
	kind   string        // "" for none, or a constant
	a, b   time.Duration // lognormal: the median; exponential: the mean; bimodal: both; rare: b alone
	sigma  float64       // lognormal: of the logarithm
	share  float64       // of b: bimodal, rare
	shift  time.Duration // is added
	source string        // as it was written
	later  []change      // in order of time
}

// change is from when on another law holds.
type change struct {
	from time.Duration
	text string // from, as it was written
	law  Law
}

// The limits of a law.
const (
	// longestDelay is the most that a law may ask for. Laws without an end are cut
	// off there.
	longestDelay = 10 * time.Second
	// lawMost is how many bytes a law may have as it is written.
	lawMost = 1000
	// latestChange is until when a law may change.
	latestChange = 1000 * time.Hour
)

// lawNotation says how laws are written.
const lawNotation = "none, 1ms, exponential(mean=200us), lognormal(median=200us,sigma=0.5), bimodal(a=100us,b=5ms,share=5%) or rare(delay=200ms,every=100000), 1ms+exponential(mean=200us) for a sum, 1ms,3ms@30s for a change 30 s after a run's first message"

// errLaw says that a text is no law.
var errLaw = errors.New("no law of delays")

// ParseLaw reads a law. Every parameter must be there, once; durations are of
// 1 ns to [longestDelay], a lognormal's sigma is above 0 and at most 4, a share
// strictly between 0 and 1 (or 0 % and 100 %), and every is 2 to 1e9. A duration
// and a plus may stand before any law but none. Further laws, behind commas, say
// with @ from when on they hold, each later than the one before. The error wraps
// [errLaw] and says what is wanted.
func ParseLaw(text string) (Law, error) {
	l, err := parseCourse(strings.TrimSpace(text))
	if err != nil {
		return Law{}, fmt.Errorf("%w: %q: %w; want %s", errLaw, text, err, lawNotation)
	}
	return l, nil
}

// parseCourse reads a law and its changes.
func parseCourse(text string) (Law, error) {
	if len(text) > lawMost {
		return Law{}, fmt.Errorf("it has more than %d bytes", lawMost)
	}
	parts := splitLaws(text)
	l, err := parseShifted(strings.TrimSpace(parts[0]))
	if err != nil {
		return Law{}, err
	}
	last := time.Duration(0)
	for _, part := range parts[1:] {
		what, when, ok := strings.Cut(part, "@")
		when = strings.TrimSpace(when)
		from, fault := time.ParseDuration(when)
		if !ok || fault != nil || from <= last || from > latestChange {
			return Law{}, fmt.Errorf("%q does not say from when on it holds: want LAW@DURATION, later than %v, at most %v", strings.TrimSpace(part), last, latestChange)
		}
		next, err := parseShifted(strings.TrimSpace(what))
		if err != nil {
			return Law{}, err
		}
		l.later = append(l.later, change{from, when, next})
		last = from
	}
	return l, nil
}

// splitLaws splits a text at the commas that are in no brackets.
func splitLaws(text string) (parts []string) {
	depth, from := 0, 0
	for i, c := range []byte(text) {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth <= 0:
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}
	return append(parts, text[from:])
}

// parseShifted reads a duration, a law, or both with a plus between them.
func parseShifted(text string) (Law, error) {
	head, _, _ := strings.Cut(text, "(")
	first, rest, both := strings.Cut(head, "+")
	if !both {
		if _, err := time.ParseDuration(head); err == nil && head == text {
			d, err := delayOf(head)
			if err != nil {
				return Law{}, fmt.Errorf("%s: %w", head, err)
			}
			return Law{shift: d, source: text}, nil
		}
		return parseLaw(text)
	}
	first = strings.TrimSpace(first)
	shift, err := delayOf(first)
	if err != nil {
		return Law{}, fmt.Errorf("%s: %w", first, err)
	}
	l, err := parseLaw(strings.TrimSpace(rest + text[len(head):]))
	if err != nil {
		return Law{}, err
	}
	if l.None() {
		return Law{}, fmt.Errorf("there is nothing to add to %s", first)
	}
	l.shift, l.source = shift, first+"+"+l.source
	return l, nil
}

// parameters of each law, in the order in which they are written.
func lawParameters(kind string) ([]string, bool) {
	p, ok := map[string][]string{
		"none": nil, "exponential": {"mean"}, "lognormal": {"median", "sigma"}, "bimodal": {"a", "b", "share"}, "rare": {"delay", "every"},
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
	case "median", "mean", "a":
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
	if err != nil || d <= 0 || d > longestDelay {
		return 0, fmt.Errorf("want a duration such as 200us, above 0, at most %v", longestDelay)
	}
	return d, nil
}

// None reports whether the law delays nothing, ever.
func (l Law) None() bool {
	return l.kind == "" && l.shift == 0 && !slices.ContainsFunc(l.later, func(c change) bool { return !c.law.None() })
}

// Changes reports whether the law changes in time.
func (l Law) Changes() bool { return len(l.later) > 0 }

// Overtakes reports whether what is delayed by the law can be overtaken by what
// came later.
func (l Law) Overtakes() bool {
	if l.kind != "" {
		return true
	}
	before := l.shift
	for _, c := range l.later {
		if c.law.kind != "" || c.law.shift < before {
			return true
		}
		before = c.law.shift
	}
	return false
}

// at returns the law that holds so long after the beginning.
func (l *Law) at(since time.Duration) *Law {
	for i := len(l.later) - 1; i >= 0; i-- {
		if since >= l.later[i].from {
			return &l.later[i].law
		}
	}
	return l
}

// String returns the law as [ParseLaw] reads it.
func (l Law) String() string {
	text := l.source
	if text == "" {
		text = "none"
	}
	for _, c := range l.later {
		text += "," + c.law.String() + "@" + c.text
	}
	return text
}

// Quantile returns the least delay d with CDF(d) ≥ p, to the nearest nanosecond,
// for p between 0 and 1.
func (l Law) Quantile(p float64) time.Duration { return l.quantile(p) }

func (l *Law) quantile(p float64) time.Duration {
	d := 0.0
	switch l.kind {
	case "exponential":
		d = -float64(l.a) * math.Log1p(-min(max(p, 0), 1))
	case "lognormal":
		// Φ⁻¹(p) = −√2·erfc⁻¹(2p)
		d = float64(l.a) * math.Exp(-l.sigma*math.Sqrt2*math.Erfcinv(2*min(max(p, 0), 1)))
	case "bimodal", "rare":
		d = float64(l.a)
		if p > 1-l.share {
			d = float64(l.b)
		}
	}
	return time.Duration(math.Round(min(d+float64(l.shift), float64(longestDelay))))
}

// CDF returns the share of delays that are d at most.
func (l Law) CDF(d time.Duration) float64 {
	beyond := d - l.shift
	switch {
	case beyond < 0:
		return 0
	case l.kind == "" || d >= longestDelay:
		return 1
	case l.kind == "exponential":
		return -math.Expm1(-float64(beyond) / float64(l.a))
	case l.kind == "lognormal":
		return math.Erfc(-math.Log(float64(beyond)/float64(l.a))/(l.sigma*math.Sqrt2)) / 2
	case beyond < l.a:
		return 0
	case beyond < l.b:
		return 1 - l.share
	}
	return 1
}

// Delay returns the delay of one message: the quantile at a place that depends
// on all four arguments as if by chance, so that the delays of different
// messages are independent, and the same again when everything is repeated.
func (l Law) Delay(seed uint64, stream uint32, kind uint8, sequence uint64) time.Duration {
	return l.draw(seed, stream, kind, sequence)
}

func (l *Law) draw(seed uint64, stream uint32, kind uint8, sequence uint64) time.Duration {
	if l.kind == "" {
		return l.shift
	}
	h := mix(seed)
	h = mix(h ^ uint64(kind)<<32 ^ uint64(stream))
	h = mix(h ^ sequence)
	// The middle of one of 2⁵³ equal parts: never 0 nor 1.
	return l.quantile((float64(h>>11) + 0.5) / (1 << 53))
}

// mix is the output function of SplitMix64 (Steele, Lea, Flood: Fast splittable
// pseudorandom number generators, OOPSLA 2014), after its increment.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
