// Package actioncost puts side by side what the same actions cost in several runs.
//
// A run is one sample: figures of runs are never merged, and messages of different runs are never
// counted together. What is known of a figure only from – to stays so: least, median and most
// over runs have two ends as well, and a recovery that a run did not see is a lower bound.
package actioncost
