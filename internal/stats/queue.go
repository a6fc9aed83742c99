package stats

import "math"

// MM1Sojourn returns the quantile p of the time that a customer is in an M/M/1
// queue, waiting and service together, in mean service times, at a load of rho:
// it is exponential with the rate 1−ρ (Kleinrock, Queueing Systems, volume 1,
// section 5.13), hence
//
//	−ln(1−p)/(1−ρ).
//
// NaN where rho or p lies outside (0, 1).
func MM1Sojourn(rho, p float64) float64 {
	if !(rho > 0 && rho < 1 && p > 0 && p < 1) {
		return math.NaN()
	}
	return -math.Log1p(-p) / (1 - rho)
}

// MD1Sojourn is [MM1Sojourn] of an M/D/1 queue, whose service times are all the
// same. With x = k·D − u of the waiting time, 0 < u ≤ D, and Q_m the probability
// that at most m customers wait,
//
//	P(W ≤ x) = Σ_{j<k} Q_{k−1−j} · e^(−λu)·(λu)^j/j!
//
// (Franx, A simple solution for the M/D/c waiting time distribution, Operations
// Research Letters 29, 2001): of those who waited or came in the u before, at most
// k−1 are ahead. All terms are positive, unlike those of Erlang's and Crommelin's
// formula, which cancel to nothing from a dozen service times on.
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
	beyond []float64 // P(more than j customers come in a service time)
	states []float64 // P(i customers are in the system)
	most   []float64 // P(at most i customers are in the system)
}

func newMD1(rho float64) *md1 {
	q := &md1{rho: rho, states: []float64{1 - rho}, most: []float64{1 - rho}}
	// The tails of the Poisson distribution, summed up from their ends: none is the
	// difference of large numbers.
	const last = 40 // beyond it is nothing that a float64 has beside 1e-45
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
// A being those who come in a service time and a_0 = P(A = 0). What departures
// leave behind is what is there at any time.
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

// QueueDelay is how many times as long what is in a queue waits where its server, busy for
// a share of the time, waits for another share of it before it may serve: a queue empties in
// the time that is left over, and the waiting times of single-server queues have the factor
// 1/(1−ρ); hence (1−busy)/(1−busy−waited). From 1 to 100: no share is known so well that more
// could be given.
func QueueDelay(busy, waited float64) float64 {
	free := max(0, 1-busy)
	return max(1, free/max(free-waited, 0.01))
}

// SojournDelay is how many times as long what comes to such a server is there, until it is
// served: a service takes busy+waited for each busy, and what is in the queue before it waits
// longer by [QueueDelay], as the mean sojourn of M/M/1, S/(1−ρ), has it. From 1 to 100.
func SojournDelay(busy, waited float64) float64 {
	if busy <= 0 {
		return QueueDelay(busy, waited)
	}
	return min(100, (1+max(0, waited)/busy)*QueueDelay(busy, waited))
}
