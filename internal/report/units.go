package report

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"sixnines/internal/spell"
	"sixnines/result"
)

// duration writes nanoseconds with three significant digits in the unit that
// leaves one to three digits before the point: "81.2 µs", "1.00 ms", "12.3 s".
// It stays in seconds beyond 999.
func duration(ns int64) string { return durationFloat(float64(ns)) }

func durationFloat(ns float64) string {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	if ns < 999.5 {
		return sign + strconv.FormatFloat(ns, 'f', 0, 64) + " ns"
	}
	for _, u := range []struct {
		scale float64
		name  string
	}{{1e3, " µs"}, {1e6, " ms"}, {1e9, " s"}} {
		if v := ns / u.scale; v < 999.5 {
			return sign + three(v) + u.name
		}
	}
	return sign + grouped(strconv.FormatFloat(ns/1e9, 'f', 0, 64)) + " s"
}

// three writes v, 1 ≤ v < 999.5, with three significant digits.
func three(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// count writes an integer with its thousands apart: "3,688,879".
func count(n int64) string { return grouped(strconv.FormatInt(n, 10)) }

func grouped(digits string) string { return spell.Grouped(digits) }

// rate writes messages a second, with decimals only where they tell something:
// "20,000/s", "19,998.4/s", "0.25/s".
func rate(perSecond float64) string {
	switch {
	case math.IsNaN(perSecond) || math.IsInf(perSecond, 0):
		return "n/a"
	case perSecond == math.Trunc(perSecond) || math.Abs(perSecond) >= 1e5:
		return grouped(strconv.FormatFloat(perSecond, 'f', 0, 64)) + "/s"
	case math.Abs(perSecond) >= 100:
		whole, frac, _ := strings.Cut(strconv.FormatFloat(perSecond, 'f', 1, 64), ".")
		return grouped(whole) + "." + frac + "/s"
	}
	return strconv.FormatFloat(perSecond, 'g', 3, 64) + "/s"
}

// size writes bytes in the largest binary unit that divides them, else with
// three significant digits: "256 B", "1 KiB", "1.46 GiB".
func size(n int64) string {
	units := []string{" B", " KiB", " MiB", " GiB", " TiB"}
	v, i := float64(n), 0
	for ; math.Abs(v) >= 1024 && i < len(units)-1; i++ {
		v /= 1024
	}
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64) + units[i]
	}
	return strconv.FormatFloat(v, 'g', max(3, len(strconv.Itoa(int(math.Abs(v))))), 64) + units[i]
}

// share writes a fraction as a percentage; small ones keep a digit.
func share(f float64) string {
	switch p := f * 100; {
	case math.IsNaN(p):
		return "n/a"
	case p == 0:
		return "0 %"
	case p > 0 && p < 0.1:
		return "<0.1 %"
	case math.Abs(p) < 9.95:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	}
}

// exactShare writes a fraction near 1 without rounding it up to 1: 0.99996 is
// "99.99 %", for a rate that was missed by little was missed.
func exactShare(f float64) string {
	if f >= 1 || math.IsNaN(f) || f < 0.9 {
		return share(f)
	}
	return strconv.FormatFloat(math.Floor(f*1e4)/100, 'f', 2, 64) + " %"
}

// plural is "1 event", "3 events".
func plural(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + one + "s"
}

// plain makes one line of text from a result file harmless for a terminal and
// for one-line formats: control characters, line ends and bidirectional
// overrides become spaces, and runs of spaces one.
func plain(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// metricName is a metric as people read it.
func metricName(m result.Metric) string {
	switch m {
	case result.DeliveryResponse:
		return "delivery response"
	case result.DeliveryService:
		return "delivery service"
	case result.DeliveryLast:
		return "last delivery"
	case result.RoundTripResponse:
		return "round-trip response"
	case result.RoundTripService:
		return "round-trip service"
	case result.PublishResponse:
		return "publish response"
	case result.PublishService:
		return "publish service"
	case result.ProbeService:
		return "probe service"
	case result.LagOwn:
		return "own lag"
	case result.LagBlocked:
		return "blocked lag"
	case result.LagReceive:
		return "receive lag"
	case result.LagReceiveAck:
		return "receive lag of acknowledgements"
	case result.StageClient:
		return "stage to the socket"
	case result.StageBroker:
		return "stage to the arrival"
	case result.StageReceive:
		return "stage to the read"
	case result.StageCallback:
		return "stage to the callback"
	}
	if base, is := strings.CutSuffix(string(m), string(succeededOf(""))); is {
		return metricName(result.Metric(base)) + " of those that succeeded"
	}
	if base, is := strings.CutSuffix(string(m), correctedSuffix); is {
		return metricName(result.Metric(base)) + ", corrected as others do"
	}
	return plain(string(m))
}
