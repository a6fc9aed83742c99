// Package sweep is the mathematics of many runs of one load: which cells a sweep
// has ([ParseAxis], [NewGrid]), where a rate–latency curve bends ([FindKnee]), how
// throughput scales with concurrency ([FitUSL]), and which rate is the highest that
// holds its objectives ([Search]).
//
// It is opinionated as package stats is: an estimate comes with an interval, and
// where the data are insufficient, the answer says so. It runs nothing and
// reads no clock; its callers run the trials and pass it their outcomes. All functions are
// pure, but that [Search] calls whom it is given.
package sweep
