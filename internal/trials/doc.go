// Package trials makes series of runs: cells, each of them one load, in rounds,
// in random order, a result file for each trial, and a manifest that
// says what is planned, what was made when, and by which broker.
//
// A series lives in a directory of its own, which one process works in at a time.
// It can be gone on with after its end, whatever ended it: [Resume] keeps the
// trials that were made, makes again the one that was under way, and refuses
// cells that are not those of the manifest, since results of two different loads
// must never come to stand in one cell.
//
// The package knows neither brokers nor scenarios: [Series.Run] calls who makes a
// trial, and a [Keeper] holds the broker from one trial to the next.
package trials
