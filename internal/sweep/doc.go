// Package sweep is the mathematics of many runs of one load: which cells a sweep
// has ([ParseAxis], [NewGrid]). It runs nothing and reads no clock; whoever runs
// trials gives it what they showed. All functions are pure.
package sweep
