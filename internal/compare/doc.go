// Package compare compares two sets of runs: a baseline A and a set B.
//
// It is opinionated. A run is one sample: messages of one run share its connections, its
// memory layout and its minute, so ten thousand of them are not ten thousand samples, and
// no test here uses single messages. Runs are compared in pairs, percentile by percentile,
// by [stats.ShiftFunction]: exact sign flips of the logarithms of the ratios, with p-values
// and intervals that hold for all judged percentiles at once. Percentiles of runs are never
// merged into one of all messages: each is an observation of its run. The figure printed
// beside a change is the geometric mean of these observations, and the change is the ratio
// of two such means, so that both are one estimate. Range and spread show how much runs
// differ.
//
// Changes are ratios, because latencies spread in proportion to their size: a run that is
// 3 % slow is so at p50 and at p99.9, where 3 % are a hundred times as many nanoseconds.
// So percentiles of different size can be tested together, and B against A is the mirror
// image of A against B. Nanoseconds are the ratio applied to A's mean.
//
// Differences between the sets are listed before any figure ([Difference]), and those that
// make a ranking meaningless refuse it: a system that promises less is expected to be
// faster. At least six pairs are needed to show anything at 95 % (p is at least 2/2ⁿ); with
// fewer there is no verdict, whatever the figures are.
//
// A gate passes only what is shown not to be worse: [Gate].
//
// One metric is judged unless more are asked for, because all judged metrics share the 5 %
// of error. The others are shown as information. The maximum is shown and never judged,
// because it is not a quantile.
package compare
