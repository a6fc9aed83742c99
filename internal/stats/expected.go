package stats

// Expected calls add for the values that HdrHistogram's correction for an expected interval
// adds to a value v: v − interval, v − 2·interval and so on, down to the last that is not
// below interval (Histogram.recordValueWithExpectedInterval of HdrHistogram). A client that
// sends once an interval and waits for each answer would have measured these values if it
// had not waited. Nothing is added if interval is not above 0, or is above v/2.
//
// floor(x) is the least value of x's bucket, at most x. Values of one bucket are added in
// one call, as n times the largest of them, so the cost is bounded by the number of buckets
// below v, and not by v/interval.
func Expected(v, interval int64, floor func(x int64) int64, add func(x, n int64)) {
	if interval <= 0 {
		return
	}
	for x := v - interval; x >= interval; {
		n := (x-max(floor(x), interval))/interval + 1
		add(x, n)
		x -= n * interval
	}
}
