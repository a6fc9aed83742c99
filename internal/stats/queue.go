package stats

import "math"

// MM1Sojourn returns the quantile p of the sojourn time in an M/M/1 queue (waiting and
// service together), in mean service times, at a load of rho. The sojourn time is
// exponential with the rate 1−ρ (Kleinrock, Queueing Systems, volume 1, section 5.13),
// hence
//
//	−ln(1−p)/(1−ρ).
//
// The result is NaN if rho or p lies outside (0, 1).
func MM1Sojourn(rho, p float64) float64 {
	if !(rho > 0 && rho < 1 && p > 0 && p < 1) {
		return math.NaN()
	}
	return -math.Log1p(-p) / (1 - rho)
}

// MD1Sojourn is [MM1Sojourn] for an M/D/1 queue, whose service times are all D. With a
// waiting time of x = k·D − u, 0 < u ≤ D, and Q_m the probability that at most m
// customers wait,
//
//	P(W ≤ x) = Σ_{j<k} Q_{k−1−j} · e^(−λu)·(λu)^j/j!
//
// (Franx, A simple solution for the M/D/c waiting time distribution, Operations
// Research Letters 29, 2001): of the customers who waited, or arrived within u before,
// at most k−1 are ahead. All terms are positive. Those of Erlang's and Crommelin's
// formula alternate, and cancellation leaves no digits from a dozen service times on.
func MD1Sojourn(rho, p float64) float64 {
	if !(rho > 0 && rho < 1 && p > 0 && p < 1) {
		return math.NaN()
	}
	q := newMD1(rho)
	if p <= q.waits(0) {
		return 1 // it did not wait
	}
	low, high := 0.0, 1.0
	for q.waits(high) < p {
		low, high = high, 2*high
	}
	for range 60 {
		if mid := (low + high) / 2; q.waits(mid) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return 1 + high
}

// md1 is an M/D/1 queue with a service time of 1.
type md1 struct {
	rho    float64
	beyond []float64 // P(more than j customers arrive in a service time)
	states []float64 // P(i customers are in the system)
	most   []float64 // P(at most i customers are in the system)
}

func newMD1(rho float64) *md1 {
	q := &md1{rho: rho, states: []float64{1 - rho}, most: []float64{1 - rho}}
	// The tails of the Poisson distribution are summed from their far ends, so that no
	// term is a difference of large numbers.
	const last = 40 // the tail beyond it is below 1e-45
	q.beyond = make([]float64, last)
	term, sum := math.Exp(-rho), 0.0
	terms := make([]float64, last+1)
	for j := range terms {
		terms[j] = term
		term *= rho / float64(j+1)
	}
	for j := last - 1; j >= 0; j-- {
		sum += terms[j+1]
		q.beyond[j] = sum
	}
	return q
}

// atMost returns P(at most n customers are in the system). As often as customers
// leave n+1 behind and then n, others leave at most n and then more:
//
//	p_{n+1}·a_0 = p_0·P(A > n) + Σ_{i=1..n} p_i·P(A > n+1−i),
//
// A being the arrivals in a service time and a_0 = P(A = 0). The number of customers
// left behind by departures has the same distribution as the number at any time.
func (q *md1) atMost(n int) float64 {
	for len(q.states) <= n {
		next := len(q.states) // n+1 above
		sum := 0.0
		for i, p := range q.states {
			if j := next - max(i, 1); j < len(q.beyond) {
				sum += p * q.beyond[j]
			}
		}
		q.states = append(q.states, sum*math.Exp(q.rho))
		q.most = append(q.most, q.most[next-1]+q.states[next])
	}
	return q.most[n]
}

// waits returns the probability of a waiting time of at most x service times.
func (q *md1) waits(x float64) float64 {
	k := int(math.Floor(x)) + 1
	u := float64(k) - x
	sum, term := 0.0, math.Exp(-q.rho*u)
	for j := 0; j < k; j++ {
		sum += q.atMost(k-j) * term // at most k−1−j wait, and one is served
		if term *= q.rho * u / float64(j+1); term == 0 {
			break
		}
	}
	return min(sum, 1)
}

// QueueDelay returns the factor, 1 to 100, by which waiting times in a queue grow if its
// server, which is busy for a share of the time, 0 to 1, also waits for another share before
// it may serve. A queue empties in the remaining time, and the waiting times of single-server
// queues have the factor 1/(1−ρ); hence (1−busy)/(1−busy−waited). The shares are not known
// exactly enough for a larger factor.
func QueueDelay(busy, waited float64) float64 {
	free := max(0, 1-busy)
	return max(1, free/max(free-waited, 0.01))
}

// SojournDelay returns the factor, 1 to 100, by which the sojourn time (waiting and service)
// grows at such a server: a service takes (busy+waited)/busy times as long, and the queue
// before it waits longer by [QueueDelay], as in the mean sojourn time of M/M/1, S/(1−ρ).
func SojournDelay(busy, waited float64) float64 {
	if busy <= 0 {
		return QueueDelay(busy, waited)
	}
	return min(100, (1+max(0, waited)/busy)*QueueDelay(busy, waited))
}
