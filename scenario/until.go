package scenario

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sixnines/internal/spell"
)

// Until is the precision of a percentile at which a run may end. Its text is a metric, a
// percentile and a width:
//
//	delivery.response p99 ±5%      both ends of the confidence interval are within 5 %
//	                               of the figure
//	publish.response p99.9 ±50us   both ends are within 50 µs of it
//
// +- and +/- are read as ±.
type Until struct {
	Metric  string        // as results name it; empty: the pattern's response time
	Percent float64       // the percentile, in (0, 100)
	Share   float64       // half-width as a share of the figure, in [0.01, 1]; 0: Width is set
	Width   time.Duration // half-width, above 0; 0: Share is set
}

const (
	untilForm = `it is such as "delivery.response p99 ±5%" or "delivery.response p99 +-50us"`
	// leastShare is the smallest Share: with three digits a figure is exact to 0.1 %,
	// and an interval that accounts for dependence to 0.4 %.
	leastShare = 0.01
	// leastShareOfTwo is the smallest Share with two digits.
	leastShareOfTwo = 0.03
)

// untilMetrics returns the metrics that Until may name: those of the system under test.
// The generator's own lag is not one of them: it has no steady state to converge to.
func untilMetrics() []string {
	return slices.DeleteFunc(objectiveMetrics(), func(m string) bool { return strings.HasPrefix(m, "lag.") })
}

// IsZero reports whether no precision is asked for.
func (u Until) IsZero() bool { return u == Until{} }

// ParseUntil reads how exactly a percentile must be known. Its errors are of type
// [*Error], without a position.
func ParseUntil(s string) (Until, error) {
	what, width, ok := "", "", false
	for _, sign := range []string{"±", "+/-", "+-"} {
		if what, width, ok = strings.Cut(s, sign); ok {
			break
		}
	}
	if !ok {
		return Until{}, wrong(quote(s)+" does not say how narrow the interval must be", untilForm)
	}
	words := strings.Fields(what)
	switch {
	case len(words) == 0:
		return Until{}, wrong(quote(s)+" does not say of which percentile", untilForm)
	case isFigure(strings.Join(words, "")):
		words = []string{"", strings.Join(words, "")}
	case !slices.Contains(untilMetrics(), words[0]):
		return Until{}, wrong("no interval of "+quote(words[0])+" can be waited for", "there are "+strings.Join(untilMetrics(), ", ")+spell.Meant(words[0], untilMetrics()...))
	case len(words) == 1:
		return Until{}, wrong(quote(s)+" does not say which percentile of "+words[0], "write "+words[0]+" p99 ±"+strings.TrimSpace(width))
	case len(words) > 2:
		return Until{}, wrong(quote(s)+": "+quote(words[2])+" after "+quote(words[1])+" says nothing", untilForm)
	}
	u := Until{Metric: words[0]}
	if u.Percent, ok = parsePercentile(words[1]); !ok {
		return Until{}, wrong(quote(words[1])+" is no percentile with an interval", "write p50, p99.9 or another above p0 and below p100")
	}
	width = strings.TrimSpace(width)
	if digits, is := strings.CutSuffix(width, "%"); is {
		v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || !(v >= 100*leastShare && v <= 100) {
			return Until{}, wrong(quote(width)+" is no width", "write 1% to 100%, or a time such as 50us")
		}
		// The decimal that is meant, to a ten-thousandth of a percent.
		u.Share = math.Round(v*1e4) / 1e6
		return u, nil
	}
	d, err := spell.ParseDuration(width)
	if err != nil || d <= 0 {
		return Until{}, wrong(quote(width)+" is no width", "write a time above 0 with its unit, such as 50us, or 1% to 100%")
	}
	u.Width = d
	return u, nil
}

// Percentile returns the percentile as results name it: "99.9".
func (u Until) Percentile() string { return percentileName(u.Percent)[1:] }

// Limit returns how far, in ns, an end of the interval may be from the figure v, in ns.
func (u Until) Limit(v int64) float64 {
	if u.Share > 0 {
		return u.Share * float64(v)
	}
	return float64(u.Width)
}

// String returns the text that ParseUntil reads as u; the empty string for the zero value.
func (u Until) String() string {
	if u.IsZero() {
		return ""
	}
	return strings.TrimSpace(u.Metric+" "+percentileName(u.Percent)) + " ±" + u.HalfWidth()
}

// HalfWidth returns the half-width as ParseUntil reads it: "5%" or "50µs".
func (u Until) HalfWidth() string {
	if u.Share > 0 {
		return strconv.FormatFloat(math.Round(u.Share*1e6)/1e4, 'f', -1, 64) + "%"
	}
	return u.Width.String()
}

// Longest returns the greatest length of the window: AtMost with Until, else Duration.
func (p Phases) Longest() time.Duration {
	if p.Until.IsZero() {
		return p.Duration
	}
	return p.AtMost
}
