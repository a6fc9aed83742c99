package schedule

// kind is how a flow or cursor computes its instants.
type kind uint8

const (
	ended   kind = iota // no messages
	pieced              // constant rates: linear
	ramped              // ramp
	swung               // sine
	bundled             // burst
	listed              // trace
	poisson             // random, at one rate
	scaled              // random, through the inverse of a flow
)

// flow is a numbered schedule: messages first ≤ n < last of the whole load.
// It is immutable.
type flow struct {
	kind        kind
	first, last int64
	linear      linear
	ramp        *ramp
	sine        *sine
	count       int64 // bundled: messages at once
	period      int64 // bundled: from one bundle to the next
	trace       []int64
}

// at returns the instant of message n.
func (f *flow) at(n int64) int64 {
	switch f.kind {
	case pieced:
		return f.linear.at(n)
	case ramped:
		return f.ramp.at(n)
	case swung:
		return f.sine.at(n)
	case bundled:
		return floorDiv(n, f.count) * f.period
	default:
		return f.trace[n]
	}
}

// inverse returns Λ⁻¹(whole+part), rounded down, of the kinds that can be
// random.
func (f *flow) inverse(whole int64, part float64) int64 {
	switch f.kind {
	case ramped:
		return f.ramp.inverse(whole, part)
	case swung:
		return f.sine.inverse(whole, part)
	default:
		return f.linear.inverse(whole, part)
	}
}

// firstOf returns the lowest n ≥ f.first that is congruent to residue modulo
// stride.
func (f *flow) firstOf(residue, stride int64) int64 {
	return f.first + floorMod(residue-f.first, stride)
}

// countOf returns how many of f's messages are congruent to residue modulo
// stride.
func (f *flow) countOf(residue, stride int64) uint64 {
	n := f.firstOf(residue, stride)
	if n >= f.last {
		return 0
	}
	return uint64((f.last-1-n)/stride) + 1
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}
