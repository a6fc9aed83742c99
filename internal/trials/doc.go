// Package trials makes series of runs: cells, each of them one load, in rounds, in
// random order, with a result file for each trial and a manifest that says what is
// planned, what was made when, and by which broker.
//
// A series has a directory of its own, in which one process works at a time. It can be
// resumed after any interruption: [Resume] keeps the trials that were made, makes the
// interrupted one again, and refuses cells that differ from those of the manifest,
// because results of two different loads must never be in one cell.
//
// The package knows neither brokers nor scenarios: [Series.Run] calls [Options].Make for
// each trial, and a [Keeper] holds the broker from one trial to the next.
package trials
