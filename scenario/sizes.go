package scenario

import (
	"math"
	"strconv"
	"strings"

	"sixnines/internal/spell"
)

// Sizes says how large payloads are. Its text is one of
//
//	256B                                        all alike
//	256B:90%,64KiB:10%                          a weighted list; in YAML also {256B: 90%, 64KiB: 10%}
//	lognormal:median=1KiB,sigma=1,max=64KiB     lognormal, clamped to max above and to the
//	                                            envelope's 32 bytes below
//
// The zero value is not given.
type Sizes struct {
	fixed  Size
	spread string // the canonical text of sizes that are not fixed; empty: fixed is set
}

// FixedSize returns the sizes of payloads that are all s bytes long.
func FixedSize(s Size) Sizes { return Sizes{fixed: s} }

// sizeShare is an entry of a weighted list.
type sizeShare struct {
	size  Size
	share float64 // of all messages
}

// sizeLaw is the distribution that a text of sizes describes.
type sizeLaw struct {
	list        []sizeShare
	median, max Size // lognormal
	sigma       float64
}

const (
	// leastSize is the smallest payload: the envelope.
	leastSize = 32 * Byte
	// mostSize is the largest payload.
	mostSize = GiB
	// leastSizeShare is the smallest share of a size in a weighted list, because sizes
	// are drawn from a table of limited length.
	leastSizeShare = 0.0001
	// mostSigma is the widest lognormal distribution.
	mostSigma = 4

	sizesForm     = "write such as 256B, 256B:90%,64KiB:10% or lognormal:median=1KiB,sigma=1,max=64KiB"
	lognormalForm = "write such as lognormal:median=1KiB,sigma=1,max=64KiB"
)

// ParseSizes reads sizes. Its errors are of type [*Error], without a position.
func ParseSizes(s string) (Sizes, error) {
	if !strings.Contains(s, ":") {
		v, err := ParseSize(s)
		return Sizes{fixed: v}, err
	}
	law, err := parseSizeLaw(s)
	if err != nil {
		return Sizes{}, err
	}
	return Sizes{spread: law.String()}, nil
}

func parseSizeLaw(s string) (sizeLaw, error) {
	if parameters, ok := strings.CutPrefix(s, "lognormal:"); ok {
		return parseLognormal(s, parameters)
	}
	var law sizeLaw
	total := 0.0
	for part := range strings.SplitSeq(s, ",") {
		var x sizeShare
		text, share, ok := strings.Cut(part, ":")
		if !ok {
			return law, wrong("the sizes "+quote(s)+": "+quote(part)+" has no share", sizesForm)
		}
		var err error
		if x.size, err = ParseSize(strings.TrimSpace(text)); err != nil {
			return law, err
		}
		if err := inRange(x.size); err != nil {
			return law, err
		}
		if x.share, err = spell.ParsePercent(strings.TrimSpace(share)); err != nil {
			return law, wrong("the sizes "+quote(s)+": "+quote(share)+" is not a percentage", sizesForm)
		}
		if x.share < leastSizeShare {
			return law, wrong("the sizes "+quote(s)+": a share of "+share+" is too small", "a share is at least "+spell.PercentText(leastSizeShare))
		}
		for _, other := range law.list {
			if other.size == x.size {
				return law, wrong("the sizes "+quote(s)+" hold "+x.size.String()+" twice", "write it once")
			}
		}
		law.list = append(law.list, x)
		total += x.share
	}
	if math.Abs(total-1) > 1e-9 {
		return law, wrong("the shares of the sizes "+quote(s)+" add up to "+strconv.FormatFloat(100*total, 'g', 6, 64)+"%", "they are 100% together")
	}
	return law, nil
}

func parseLognormal(s, parameters string) (sizeLaw, error) {
	var law sizeLaw
	for part := range strings.SplitSeq(parameters, ",") {
		name, value, _ := strings.Cut(part, "=")
		var err error
		switch name {
		case "median":
			law.median, err = ParseSize(value)
		case "max":
			law.max, err = ParseSize(value)
		case "sigma":
			if law.sigma, err = strconv.ParseFloat(value, 64); err != nil || !(law.sigma > 0 && law.sigma <= mostSigma) {
				err = wrong("the sizes "+quote(s)+": sigma is "+quote(value), "sigma is a number above 0 and at most "+strconv.Itoa(mostSigma)+": the standard deviation of the natural logarithm")
			}
		default:
			err = wrong("the sizes "+quote(s)+": "+quote(part)+" is not understood", lognormalForm)
		}
		if err != nil {
			return law, err
		}
	}
	if law.median == 0 || law.max == 0 || law.sigma == 0 {
		return law, wrong("the sizes "+quote(s)+" lack median, sigma or max", lognormalForm)
	}
	for _, v := range []Size{law.median, law.max} {
		if err := inRange(v); err != nil {
			return law, err
		}
	}
	if law.max < law.median {
		return law, wrong("the sizes "+quote(s)+": max is below the median", lognormalForm)
	}
	return law, nil
}

func inRange(s Size) error {
	if s < leastSize || s > mostSize {
		return wrong("the size "+s.String()+" is out of range", "a payload has "+leastSize.String()+" to "+mostSize.String())
	}
	return nil
}

// String returns the canonical text.
func (l sizeLaw) String() string {
	if l.median > 0 {
		return "lognormal:median=" + l.median.String() + ",sigma=" + strconv.FormatFloat(l.sigma, 'g', -1, 64) + ",max=" + l.max.String()
	}
	var parts []string
	for _, x := range l.list {
		parts = append(parts, x.size.String()+":"+spell.PercentText(x.share))
	}
	return strings.Join(parts, ",")
}

// law returns the distribution of the sizes; a fixed size is a list of one.
func (s Sizes) law() sizeLaw {
	if s.spread == "" {
		return sizeLaw{list: []sizeShare{{s.fixed, 1}}}
	}
	law, err := parseSizeLaw(s.spread)
	if err != nil {
		panic("scenario: sizes that were read are not: " + err.Error())
	}
	return law
}

// IsZero reports whether no sizes are given.
func (s Sizes) IsZero() bool { return s == Sizes{} }

// Fixed returns the size of payloads that are all alike; ok false: they are not.
func (s Sizes) Fixed() (size Size, ok bool) { return s.fixed, s.spread == "" }

// Largest returns the largest size.
func (s Sizes) Largest() Size {
	law := s.law()
	largest := law.max
	for _, x := range law.list {
		largest = max(largest, x.size)
	}
	return largest
}

// Quantiles returns the sizes at the middle of each of n equal shares of payloads.
func (s Sizes) Quantiles(n int) []Size {
	law, all := s.law(), make([]Size, n)
	for i := range all {
		all[i] = law.quantile((float64(i) + 0.5) / float64(n))
	}
	return all
}

// quantile returns the quantile p, in (0, 1), of the sizes. A weighted list keeps its own
// order: it is not sorted by size.
func (law sizeLaw) quantile(p float64) Size {
	if law.median > 0 {
		z := math.Sqrt2 * math.Erfinv(2*p-1)
		v := math.Round(float64(law.median) * math.Exp(law.sigma*z))
		return Size(min(max(v, float64(leastSize)), float64(law.max)))
	}
	for _, x := range law.list {
		if p -= x.share; p < 0 {
			return x.size
		}
	}
	return law.list[len(law.list)-1].size
}

// String returns the sizes as [ParseSizes] reads them back.
func (s Sizes) String() string {
	if s.spread != "" {
		return s.spread
	}
	return s.fixed.String()
}

// MarshalText implements [encoding.TextMarshaler], for YAML and JSON alike.
func (s Sizes) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Sizes) UnmarshalText(text []byte) error { return set(s, text, ParseSizes) }
