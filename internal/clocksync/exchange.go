package clocksync

// Exchange is one question and its answer: four instants in nanoseconds, on two
// clocks whose origins need not have anything in common.
type Exchange struct {
	T1 int64 // the question leaves; this clock
	T2 int64 // it arrives; the other clock
	T3 int64 // the answer leaves; the other clock
	T4 int64 // it is here; this clock
}

// farthest bounds the difference of two instants of an exchange, ns: some 73
// years. Sums of two differences then do not overflow.
const farthest = 1 << 61

// difference returns a − b; ok is false if it overflows or reaches farthest.
func difference(a, b int64) (d int64, ok bool) {
	d = a - b
	return d, (a >= b) == (d >= 0) && d < farthest && d > -farthest
}

// Offset returns θ = ((t2−t1)+(t3−t4))/2, ns, rounded down: the other clock minus
// this one. It is valid only for instants less than 73 years apart.
func (x Exchange) Offset() int64 { return floorHalf((x.T2 - x.T1) + (x.T3 - x.T4)) }

// Delay returns δ = (t4−t1)−(t3−t2), ns: the network's round-trip time. The error
// of Offset is at most half of it, plus the clocks' drift meanwhile.
func (x Exchange) Delay() int64 { return (x.T4 - x.T1) - (x.T3 - x.T2) }

// ByRaw returns the exchange by the raw clocks of both machines, widened by what their readings are wrong by at most: before and after
// were made here, around it, and there by the other side. ok is false if one is not known.
func (x Exchange) ByRaw(before, there, after Reading) (raw Exchange, ok bool) {
	if !before.Known() || !there.Known() || !after.Known() {
		return Exchange{}, false
	}
	wide := (there.Width + 1) / 2
	return Exchange{T1: x.T1 + before.Ahead - (before.Width+1)/2 - wide, T2: x.T2 + there.Ahead, T3: x.T3 + there.Ahead,
		T4: x.T4 + after.Ahead + (after.Width+1)/2 + wide}, true
}

// middle returns the instant on this clock to which the exchange's offset belongs.
func (x Exchange) middle() int64 { return x.T1 + (x.T4-x.T1)/2 }

// possible reports whether two clocks, neither running faster than the
// other by more than the share drift, can have stamped x.
func (x Exchange) possible(drift float64) bool {
	there, ok1 := difference(x.T2, x.T1)
	back, ok2 := difference(x.T4, x.T3)
	here, ok3 := difference(x.T4, x.T1)
	held, ok4 := difference(x.T3, x.T2)
	if !ok1 || !ok2 || !ok3 || !ok4 || here < 0 || held < 0 {
		return false
	}
	return float64(there+back)+drift*float64(here)+2 >= 0
}

// floorHalf halves and rounds down, for negative numbers too.
func floorHalf(v int64) int64 { return v >> 1 }
