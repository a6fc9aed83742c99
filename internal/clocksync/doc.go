// Package clocksync estimates how far another machine's clock is from this
// one's, with a bound on the error that is proved and not assumed.
//
// An [Exchange] is a question and an answer, stamped four times: t1 and t4 when
// it left and came back, here; t2 and t3 when it arrived and was answered,
// there. Let o be the other clock less this one. Nothing arrives before it was
// sent, so
//
//	t3 − t4  ≤  o  ≤  t2 − t1
//
// whatever the two ways took and however they differ: the middle of that
// interval is NTP's θ = ((t2−t1)+(t3−t4))/2, and its width the delay
// δ = (t4−t1)−(t3−t2) (RFC 5905, section 8). Queueing only ever widens it.
//
// An [Estimator] keeps the exchange of least delay of every ten seconds (the
// lower envelope of the delays) and fits offset and drift to them. Its bound at
// an instant is the furthest that any straight line through all the kept
// intervals gets from the fit there: at an exchange that is at most half its
// delay and its residual, and away from them it grows with what the drift may
// still be. (That extreme is a linear program in two unknowns, so two of the
// constraints decide it: the pairs are tried. The idea of bounding lines by the
// envelope of delays is that of Moon, Skelly and Towsley, "Estimation and
// removal of clock skew from network delay measurements", INFOCOM 1999.) Clocks
// do not run quite straight: Config.Wander bounds how fast the drift may change,
// and every pair is widened by what that allows.
//
// An exchange that contradicts the line by more than that cannot be explained by
// queueing: a clock stepped or was slewed. The estimate then starts again, and
// earlier instants are refused. One case is not covered by the proof: a step
// smaller than the intervals around it is hidden by them, and until an exchange
// shows it the true offset may be outside the bound by the size of the step.
//
// The estimator is pure: instants in, estimates out. [Prober] and [Respond] carry exchanges over a connection, [Ask], [Answer] and
// [Take] over messages. A [Socket] does so over UDP, with the kernels' time stamps, of which much smaller intervals
// follow, and [Joined] makes one exchange of two with a third clock.
package clocksync
