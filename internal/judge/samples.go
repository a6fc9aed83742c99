package judge

import (
	"math/bits"

	"sixnines/result"
)

// Samples returns the number of messages behind a metric, which decides which
// percentiles are supported: a message delivered to a thousand consumers is one
// sample, because what delays it delays all copies.
//
// Deliveries are divided by the mean number of delivery groups per message,
// Expected ÷ Sent. Every other metric has one value per message.
func Samples(m result.Metric, x *result.Merged, c result.Counters) int64 {
	n := total(x)
	if !perGroup(m) || c.Expected <= c.Sent || c.Sent <= 0 || n <= 0 {
		return n
	}
	return min(max(scale(n, c.Sent, c.Expected, c.Expected/2), 1), n)
}

// perGroup reports whether a message has a value of m for each delivery group.
func perGroup(m result.Metric) bool {
	return m == result.DeliveryResponse || m == result.DeliveryService
}

// scale returns (a·num + add) / den, rounded down, without overflow in between, for
// non-negative a, num and add. If the result exceeds int64, or den is not positive, it is
// the largest int64.
func scale(a, num, den, add int64) int64 {
	const most = 1<<63 - 1
	hi, lo := bits.Mul64(uint64(a), uint64(num))
	lo, carry := bits.Add64(lo, uint64(add), 0)
	hi += carry
	if den <= 0 || hi >= uint64(den) {
		return most
	}
	q, _ := bits.Div64(hi, lo, uint64(den))
	return int64(min(q, most))
}

// count returns how many resolved values a metric has; total adds the censored and the
// refused. All are 0 for nil.
func count(x *result.Merged) int64 {
	if x == nil {
		return 0
	}
	return x.Hist.Count()
}

func censored(x *result.Merged) int64 {
	if x == nil {
		return 0
	}
	return x.Censored.Count()
}

func refused(x *result.Merged) int64 {
	if x == nil {
		return 0
	}
	return x.Refused
}

func total(x *result.Merged) int64 { return count(x) + censored(x) + refused(x) }
