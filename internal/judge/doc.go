// Package judge computes what a run publishes: its figures and its verdict. It
// reads only a result's records, so that the same code summarises a run and
// verifies it from its file.
//
// [Summarise] makes the whole summary, and its verdict by a table of
// gates, [Distribution] the figures of one metric. [Verify] and [VerifyRaw]
// compute them again and name every difference.
//
// A verdict is about the measurement, not about the broker: a broker that is
// slow, loses or duplicates gives a valid result that says so.
package judge
