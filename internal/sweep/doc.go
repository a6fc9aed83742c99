// Package sweep is the mathematics of many runs of one load: which cells a sweep has
// ([ParseAxis], [NewGrid]), where a rate–latency curve bends ([findKnee]), how
// throughput scales with concurrency ([FitUSL]), and which is the highest rate at which
// the objectives hold ([Search]).
//
// Like package stats it is opinionated: an estimate comes with an interval, and if the
// data are insufficient, the result says so. It runs nothing and reads no clock; its
// callers run the trials and pass it the outcomes. All functions are pure, except that
// [Search] calls the function that it is given.
package sweep
