// Package sweep is the mathematics of many runs of one load: which cells a sweep
// has ([ParseAxis], [NewGrid]), where a rate–latency curve bends ([FindKnee]), how
// throughput scales with concurrency ([FitUSL]), and which rate is the highest that
// holds its objectives ([Search]).
//
// It is opinionated as package stats is: an estimate comes with an interval, and
// where the data do not tell, the answer is that they do not. It runs nothing and
// reads no clock; whoever runs trials gives it what they showed. All functions are
// pure, but that [Search] calls whom it is given.
package sweep
