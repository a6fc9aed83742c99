package stats

// SignTest returns the probability that, of n pairs, k or more speak for one side if
// either side is as likely in each: the exact one-sided sign test. Pairs that speak for
// neither are not in n. It is 1 where k is not above 0.
func SignTest(k, n int) float64 {
	return binomial{int64(n), 0.5, 0.5}.above(int64(k))
}
