// Package schedule turns a workload into instants: for every producer the
// times at which its messages are due, in nanoseconds from the start of the
// measured window.
//
// A schedule is pure. It reads no clock and depends only on the workload, the
// window's length and the seed, so the same three give the same instants on
// every broker, machine and processor architecture: floating-point products
// whose rounding could differ are rounded explicitly, and the logarithm and the
// sine are this package's own.
//
// # Numbered schedules
//
// The even kinds (constant, step, ramp, sine, burst, trace) number the messages
// of the whole load n = 0, 1, 2, …; with Λ(t) the messages due before t,
// message n is due when Λ reaches n, rounded down to a whole nanosecond:
//
//	t_n = ⌊Λ⁻¹(n)⌋,   0 ≤ Λ⁻¹(n) − t_n < 1 ns for every n
//
// in integer arithmetic, so no error accumulates over hours or days. (A sine is
// computed in floating point: its instants are less than 1 ns from Λ⁻¹(n), on
// either side.) A burst's messages are all due at the same instant, k periods from
// the start; a trace's at the instants of its file. Message n belongs to producer
// n mod N. So every message has one producer, and the producers' phases are
// staggered: two producers are due together only if the load has two messages at
// one instant.
//
//	n         0     1     2     3     4     5     6     7
//	          |-----|-----|-----|-----|-----|-----|-----|---> t
//	producer  0     1     2     0     1     2     0     1       N = 3
//
// # Random schedules
//
// Poisson arrivals, and step, ramp and sine with Random set, are divided by
// producer: each has a stream of its own, seeded by (seed, producer), with 1/N
// of the rate; the superposition of independent Poisson processes is again one.
// Changing rates are made by time-rescaling: a unit-rate process mapped through
// Λ⁻¹ (Çınlar, Introduction to Stochastic Processes, 1975, section 4.7). Sums of
// gaps are kept as whole nanoseconds and a fraction, so that their resolution is
// the same after days as in the first second.
package schedule
