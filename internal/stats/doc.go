// Package stats is the arithmetic behind what a result may claim: which
// percentiles a sample supports, how wide their intervals are, whether a
// proportion is below a limit, whether something grows. It takes and returns
// plain numbers and knows nothing of histograms, messages or brokers.
//
// It is opinionated. Latency has no distribution worth naming, so no interval
// here assumes one: intervals of quantiles and medians are order statistics and
// exact binomial probabilities, never a normal approximation and never a
// bootstrap of a handful of runs. Both tails are kept below half the error, so
// that each end also stands alone as a one-sided bound; a shorter interval with
// lopsided tails is not offered. Where the sample does not suffice, the answer
// is that it does not, not a number. Nothing averages percentiles.
//
// Quantiles are p in (0, 1), as in statistics; the percentiles that people
// write, 99.9, are called percent, and [Fraction] turns one into the other
// without an error in the last digit. All functions are pure and safe for
// concurrent use.
package stats
