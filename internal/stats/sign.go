package stats

// SignTest returns the p-value of the exact one-sided sign test: the probability that k or
// more of n pairs favour one given side, if either side is equally likely in each. n does
// not count ties. The result is 1 if k is not above 0.
func SignTest(k, n int) float64 {
	return binomial{int64(n), 0.5, 0.5}.above(int64(k))
}
