package stats

// LookConfidence returns the confidence level of the intervals of a comparison that is evaluated after some numbers of
// pairs, looks, in ascending order, and ends at the first evaluation that decides it: of the evaluation after this many
// pairs. conf is that of the whole; with one look it is that of the look.
//
// Several looks share the error probability 1 − conf: half of it is the last look's, and the others have equal shares of
// the rest. By Boole's inequality all intervals of all looks hold at once with conf, whatever ends the comparison
// (repeated confidence intervals: Jennison and Turnbull, Interim analyses: the repeated confidence interval approach,
// Journal of the Royal Statistical Society B 51, 1989).
//
// A comparison that ends between two looks has the level of the next one, at which it was not evaluated.
func LookConfidence(looks []int, pairs int, conf float64) float64 {
	n := len(looks)
	if n < 2 {
		return conf
	}
	share := (1 - conf) / 2
	if pairs <= looks[n-2] {
		share /= float64(n - 1)
	}
	return 1 - share
}
