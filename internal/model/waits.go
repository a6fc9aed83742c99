package model

// waits are the periods in which a connection's client was blocked: long sends, and waits for a
// place in flight. Shorter sends are not recorded and count as the generator's own lag.
type waits []wait

// wait is one such period, or several joined; blocked is their sum, ns.
type wait struct{ from, to, blocked int64 }

// keptApart is how many waits are stored separately; waits at most joined apart, ns, become one.
const (
	keptApart = 1024
	joined    = 1000
)

// add notes a wait.
func (w *waits) add(from, to int64) {
	all := *w
	switch n := len(all); {
	case n > 0 && from-all[n-1].to <= joined:
		last := &all[n-1]
		last.blocked += to - last.to
		last.to = to
		return
	case n == keptApart:
		for i := range n / 2 {
			x, y := all[2*i], all[2*i+1]
			all[i] = wait{x.from, y.to, x.blocked + y.blocked}
		}
		all = all[:n/2]
	}
	*w = append(all, wait{from, to, to - from})
}

// since returns how much of the time from an instant on was waited, ns, and drops earlier
// waits: later calls must not have an earlier instant.
func (w *waits) since(at int64) (sum int64) {
	all := *w
	for len(all) > 0 && all[0].to <= at {
		all = all[1:]
	}
	for _, x := range all {
		switch {
		case at <= x.from:
			sum += x.blocked
		case x.blocked == x.to-x.from:
			sum += x.to - at
		default:
			sum += int64(float64(x.blocked) * float64(x.to-at) / float64(x.to-x.from))
		}
	}
	*w = all
	return sum
}
