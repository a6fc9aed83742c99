package report

import (
	"strings"
	"unicode"

	"sixnines/internal/spell"
	"sixnines/result"
)

// The spelling of numbers is [spell]'s; these are its names here.
func duration(ns int64) string                       { return spell.Duration(ns) }
func durationFloat(ns float64) string                { return spell.Nanoseconds(ns) }
func count[T ~int | ~int64](n T) string              { return spell.Count(n) }
func grouped(digits string) string                   { return spell.Grouped(digits) }
func rate(perSecond float64) string                  { return spell.Rate(perSecond) }
func size(n int64) string                            { return spell.Size(n) }
func share(f float64) string                         { return spell.Share(f) }
func exactShare(f float64) string                    { return spell.ExactShare(f) }
func plural[T ~int | ~int64](n T, one string) string { return spell.Plural(n, one) }

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
	case result.ConnectionConnect:
		return "connection made"
	case result.ConnectionLogin:
		return "logged in"
	case result.ConnectionSubscribe:
		return "subscribed"
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
