// Package compare says what two sets of runs, a baseline A and a B, allow to be
// said about each other.
//
// It is opinionated. The run is the unit: messages of one run share its
// connections, its memory layout and its minute, so ten thousand of them are no
// ten thousand samples, and no test here ever sees one. Runs are compared in
// pairs, percentile by percentile, by [stats.ShiftFunction]: exact sign flips of
// the logarithms of the ratios, with p-values and intervals that hold for all
// judged percentiles at once. Percentiles of runs are never merged into one of all
// messages: each is an observation of its run. What stands beside a change is the
// geometric mean of these observations, of which the change is the ratio, so that
// both are one estimate; their range and spread tell how far runs lie apart.
//
// Ratios, because latencies spread in proportion to their size: a run that is
// 3 % slow is so at p50 and at p99.9, where that is a hundred times as many
// nanoseconds. So one family holds percentiles of unlike size, and B against A
// is the mirror image of A against B. Nanoseconds are the ratio applied to A's
// mean.
//
// What is unlike is said before any figure ([Difference]), and what makes a
// ranking meaningless refuses it: who promises less is faster by right. Six
// pairs are the fewest that can show anything at 95 % (p is at least 2/2ⁿ), and
// below that there is no verdict, whatever the figures look like.
//
// A gate passes what is shown not to be worse, and nothing else: [Gate].
//
// One metric is judged unless more are asked for: each metric more takes
// attention, of which there is 5 %. The others stand beside it as information.
// The maximum is shown and never judged: it is no quantile of anything.
package compare
