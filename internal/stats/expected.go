package stats

// Expected calls add for what HdrHistogram's correction for an expected interval
// between values adds to a value v: v − interval, v − 2·interval and so on, down to
// the last that is not below interval. (Histogram.recordValueWithExpectedInterval of
// HdrHistogram; one who sends every interval and waits for each answer would have had
// these values, had it not waited.) It adds nothing where interval is not above 0, or
// above v/2.
//
// floor(x) is the least value of x's bucket, at most x. Values of one bucket are added
// together, the first of them n times: the cost is bounded by the number of buckets
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
