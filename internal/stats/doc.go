// Package stats is the arithmetic behind the claims of a result: which percentiles a
// sample supports, how wide their intervals are, whether a proportion is below a limit,
// whether a series grows. It takes and returns plain numbers and knows nothing of
// histograms, messages or brokers.
//
// It is opinionated. Latencies follow no standard distribution, so no interval here
// assumes one: intervals of quantiles and medians are order statistics with exact
// binomial probabilities, never a normal approximation and never the percentiles of a
// bootstrap of a few runs. Each tail is at most half of the error, so that each end is
// also a one-sided bound; a shorter interval with unequal tails is not offered. If the
// sample is too small, the functions say so and return no number. Nothing averages
// percentiles.
//
// Quantiles are p in (0, 1), as in statistics; percentiles such as 99.9 are called
// percent, and [Fraction] converts one to the other without an error in the last digit.
// All functions are pure and safe for concurrent use.
package stats
